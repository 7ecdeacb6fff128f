from engine.benchmark.claim_checks import FAILS, HOLDS, NOT_MEASURED, Measured, check_claims

H100 = "NVIDIA H100 80GB HBM3"


def test_nothing_measured_says_why() -> None:
    claims = check_claims(Measured(device="", why="there is no CUDA device here"))
    assert len(claims) == 6
    assert {claim.verdict for claim in claims} == {NOT_MEASURED}
    assert {claim.why for claim in claims} == {"there is no CUDA device here."}
    assert {claim.measured for claim in claims} == {""}


def test_everything_measured() -> None:
    claims = check_claims(
        Measured(
            device=H100,
            draft_tensor_pct=3.0,
            verify_tensor_pct=9.5,
            verify_bytes_per_s=2.6e12,
            read_bytes_per_s=3.1e12,
            draft_gap_share=0.45,
            draft_gap_share_with_graphs=0.01,
        )
    )
    assert [claim.verdict for claim in claims] == [HOLDS, FAILS, HOLDS, FAILS, HOLDS, HOLDS]
    figures = ["3.0 %", "9.5 %", "2.60 TB/s", "45.0 %", "1.0 %", "45.2 ms"]
    assert [claim.measured for claim in claims] == figures
    assert all(claim.why.endswith(".") for claim in claims)
    assert not any("which is not the H100" in claim.why for claim in claims)


def test_another_device_is_named() -> None:
    claims = check_claims(Measured(device="NVIDIA A100", read_bytes_per_s=1.5e12))
    assert claims[-1].verdict == FAILS
    assert "NVIDIA A100, which is not the H100 of the claim" in claims[-1].why


def test_each_missing_measurement_has_its_reason() -> None:
    claims = check_claims(Measured(device=H100, missing=("tensor_active_pct: no permission",)))
    assert claims[0].why == "tensor_active_pct: no permission."
    assert claims[4].why == "no draft was captured."
