"""Attention in place: what it asks of torch, which modes are taken, and the fallback."""

from typing import Any

import pytest
import torch

import engine.kv.pool_attention as pool_attention
from engine.kv.pool_attention import GATHER, PAGED, RUNS, PoolModes, find_modes, forget_modes
from tests.support.simulated_varlen import varlen

CPU = torch.device("cpu")
HEADS = {"n_heads": 4, "n_kv_heads": 2, "head_dim": 8, "block_size": 16}


def without_tables(*args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
    if kwargs.pop("block_table", None) is not None:
        raise RuntimeError("Paged KV cache block size must be divisible by 256.")
    return varlen(*args, **kwargs)


def broken(*args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
    return (varlen(*args, **kwargs)[0] + 1.0,)


def broken_for_one(query: torch.Tensor, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
    is_one = args[4] == 1  # max_q
    return (varlen(query, *args, **kwargs)[0] + is_one,)


def without_window(*args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
    return varlen(*args, **{**kwargs, "window_size_left": -1})


def use(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_attention, "_operator", lambda: function)
    monkeypatch.setattr(pool_attention, "_activate_newer_kernels", lambda: False)


def find() -> PoolModes:
    forget_modes()
    return find_modes(CPU, torch.float32, **HEADS)


def test_block_tables_where_the_device_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    use(varlen, monkeypatch)
    modes = find()
    assert modes.sentence == "attention reads blocks of 16 in float32 by block tables"
    assert modes.choose(are_side_by_side=False) == PAGED


def test_side_by_side_where_there_are_no_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    use(without_tables, monkeypatch)
    modes = find()
    assert "divisible by 256" in modes.sentence
    assert modes.choose(are_side_by_side=True) == RUNS
    assert modes.choose(are_side_by_side=False) == GATHER


@pytest.mark.parametrize("function", [broken, broken_for_one, without_window])
def test_wrong_numbers_are_not_used(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    use(function, monkeypatch)
    modes = find()
    assert modes.sentence.startswith("attention gathers the context: its numbers are off by ")
    assert modes.choose(are_side_by_side=True) == GATHER


def test_a_cpu_gathers() -> None:
    assert find().choose(are_side_by_side=True) == GATHER


def test_newer_kernels_are_let_go_of_when_they_do_not_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(without_tables, monkeypatch)
    restored: list[bool] = []
    monkeypatch.setattr(pool_attention, "_activate_newer_kernels", lambda: True)
    monkeypatch.setattr(pool_attention, "_restore_kernels", lambda: restored.append(True))
    find()
    assert restored == [True]


@pytest.mark.parametrize("first", ["tables", "none"])
def test_kernels_that_an_answer_rests_on_are_kept(
    first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Newer ones read tables for heads of 8 and refuse heads of 4."""
    kernels = ["older"]

    def operator(query: torch.Tensor, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, ...]:
        if kernels[-1] == "older":
            return without_tables(query, *args, **kwargs)
        if query.shape[-1] == 4:
            raise RuntimeError("no such heads")
        return varlen(query, *args, **kwargs)

    use(operator, monkeypatch)
    monkeypatch.setattr(
        pool_attention, "_activate_newer_kernels", lambda: bool(kernels.append("newer") or kernels)
    )
    monkeypatch.setattr(pool_attention, "_restore_kernels", lambda: kernels.append("older"))
    small = {**HEADS, "head_dim": 4}
    order = [HEADS, small] if first == "tables" else [small, HEADS]
    forget_modes()
    modes = [find_modes(CPU, torch.float32, **heads) for heads in order]
    chosen = [each.choose(are_side_by_side=True) for each in modes]
    assert chosen == ([PAGED, GATHER] if first == "tables" else [RUNS, RUNS])
    assert kernels[-1] == ("newer" if first == "tables" else "older")


def test_the_operator_takes_what_it_is_given() -> None:
    """In every release: without a device it can still be asked for its arguments."""
    (schema,) = [
        each
        for each in torch._C._jit_get_schemas_for_operator("aten::_flash_attention_forward")
        if not each.overload_name
    ]
    names = [argument.name for argument in schema.arguments]
    assert names[:10] == [
        "query", "key", "value", "cum_seq_q", "cum_seq_k", "max_q", "max_k", "dropout_p",
        "is_causal", "return_debug_mask",
    ]  # fmt: skip
    assert {"scale", "window_size_left", "window_size_right", "seqused_k"} <= set(names[10:])
