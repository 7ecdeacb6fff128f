"""RunConfig: the settings of a run, validated on construction with sentences a person can act
on."""

import math

import msgspec

MAX_GAMMA = 32
MAX_BATCH = 32
MAX_RECORDED_STEPS = 1000
"""The most steps whose kernels one command may ask for: each says thousands of kernels."""
BLOCK_SIZES = (16, 32)
MAX_BLOCKS = 2**22
"""Of one pool: more than a full batch needs at full context. Readers of a session size arrays by
it."""
DTYPES = ("auto", "float32", "bfloat16", "float16")
WEIGHTS = ("auto", "int8", "int4")
ALLOCATIONS = ("paged", "contiguous")
DRAFTERS_WITHOUT_MODEL = ("none", "ngram")


class ConfigError(ValueError):
    """A setting that cannot work; the message says which, why, and what to do."""


def check_gamma(gamma: int | str) -> None:
    """Raise ConfigError unless ``gamma`` is "auto" or a whole number in 0..MAX_GAMMA."""
    if gamma == "auto":
        return
    if isinstance(gamma, str | bool) or not 0 <= gamma <= MAX_GAMMA:
        raise ConfigError(
            f"gamma is {gamma!r}: give a whole number from 0 (plain decoding) to {MAX_GAMMA}, "
            "or auto."
        )


def check_sampling(temperature: float, top_k: int, top_p: float) -> None:
    """Raise ConfigError unless 0 <= temperature <= 10, top_k >= 0 and 0 < top_p <= 1."""
    if not math.isfinite(temperature) or not 0.0 <= temperature <= 10.0:
        raise ConfigError(f"temperature is {temperature}: give a number from 0 (greedy) to 10.")
    if top_k < 0:
        raise ConfigError(f"top-k is {top_k}: give 0 (off) or the number of tokens to keep.")
    if not math.isfinite(top_p) or not 0.0 < top_p <= 1.0:
        raise ConfigError(f"top-p is {top_p}: give a number above 0 and up to 1 (off).")


class RunConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What to run and how. ``target`` and ``draft`` are names of ``specscope models``, folders,
    ``.gguf`` files or hub ids; ``draft`` may also be "ngram", "composite" or "none".

    Raises:
        ConfigError: on construction, with a sentence, when a setting is out of range.
    """

    target: str = "bundled-target"
    draft: str = "bundled-draft"
    composite_draft: str = "bundled-draft"  # the model behind draft="composite"
    gamma: int | str = 4
    max_gamma: int = 8  # the most an adaptive gamma may choose
    ngram_max: int = 4  # longest suffix looked up
    ngram_min: int = 2  # shortest suffix looked up
    max_new_tokens: int = 128
    temperature: float = 0.0
    top_k: int = 0  # 0: off
    top_p: float = 1.0  # 1: off
    seed: int = 0
    stop_strings: tuple[str, ...] = ()
    ignore_eos: bool = False
    batch: int = 1  # sequences decoded together
    block_size: int = 16
    allocation: str = "paged"
    n_blocks: int | None = None  # per role; None: for the batch at full context, if it fits
    chat: bool = False
    device: str = "auto"
    dtype: str = "auto"  # bfloat16 on CUDA, float32 on the CPU
    weights: str = "auto"  # as dtype says, or in 8 or 4 bits through torchao
    packed: bool = True  # CPU: linear layers packed for narrow batches
    graphs: bool = True  # CUDA: draft loop and verification captured as graphs
    n_threads: int | None = None  # CPU threads; None: by the size of the model
    calibrate: bool = True
    telemetry: bool = True  # host and GPU samples
    kernels_every: int = 0  # record the kernels of every so many steps; 0: of none
    trust_remote_code: bool = False
    nsys_report: str = ""  # path of the Nsight Systems report being written of the run; "": none

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        check_sampling(self.temperature, self.top_k, self.top_p)
        if not self.target.strip():
            raise ConfigError("target is empty: name a model, see `specscope models`.")
        if not self.draft.strip():
            raise ConfigError("draft is empty: name a model, or ngram, composite or none.")
        if not 1 <= self.max_gamma <= MAX_GAMMA:
            raise ConfigError(f"max gamma is {self.max_gamma}: give 1 to {MAX_GAMMA}.")
        if not 1 <= self.ngram_min <= self.ngram_max:
            raise ConfigError(
                f"n-gram lengths are {self.ngram_min}..{self.ngram_max}: "
                "the shortest must be at least 1 and at most the longest."
            )
        if self.max_new_tokens < 1:
            raise ConfigError(f"max new tokens is {self.max_new_tokens}: give 1 or more.")
        if not 1 <= self.batch <= MAX_BATCH:
            raise ConfigError(f"batch is {self.batch}: give 1 to {MAX_BATCH} sequences.")
        if self.block_size not in BLOCK_SIZES:
            raise ConfigError(f"block size is {self.block_size}: give 16 or 32 slots.")
        if self.allocation not in ALLOCATIONS:
            raise ConfigError(f"allocation is {self.allocation!r}: give paged or contiguous.")
        if self.n_blocks is not None and not 1 <= self.n_blocks <= MAX_BLOCKS:
            raise ConfigError(
                f"the block pool has {self.n_blocks} blocks: give 1 to {MAX_BLOCKS:,}."
            )
        if self.dtype not in DTYPES:
            raise ConfigError(f"dtype is {self.dtype!r}: give one of {', '.join(DTYPES)}.")
        if self.weights not in WEIGHTS:
            raise ConfigError(f"weights is {self.weights!r}: give one of {', '.join(WEIGHTS)}.")
        if self.kernels_every < 0:
            raise ConfigError(
                f"kernels-every is {self.kernels_every}: give 0 (none) or a number of steps."
            )
        if self.n_threads is not None and self.n_threads < 1:
            raise ConfigError(f"threads is {self.n_threads}: give 1 or more.")
        if any(not stop for stop in self.stop_strings):
            raise ConfigError("a stop string is empty: leave it out or give it a character.")
        if not -(2**63) <= self.seed < 2**63:
            raise ConfigError(f"seed is {self.seed}: give a whole number of 64 bits.")

    @property
    def gamma_limit(self) -> int:
        """The most tokens a step may draft."""
        if self.draft == "none":
            return 0
        return self.max_gamma if self.gamma == "auto" else int(self.gamma)

    @property
    def draft_model(self) -> str | None:
        """The model that drafts, or None for drafters that need none."""
        if self.draft in DRAFTERS_WITHOUT_MODEL or self.gamma == 0:
            return None
        return self.composite_draft if self.draft == "composite" else self.draft
