"""Where a small model's numbers go in a large one that computes the same: layout, no weights read.

The small model's hidden vector x becomes m copies of it and zeros behind them; heads, layers,
intermediate and vocabulary entries are added. What is added can be anything wherever it meets a
zero, so it is random: the large model moves and multiplies all the bytes of its shape.

Root-mean-square norms see m |x|^2 over D instead of |x|^2 over d entries, so their weights are
multiplied by sqrt(m d / D) and their epsilon by m d / D. Copies are there for two reasons: m is
chosen so that this root is a power of two, which no rounding touches, and a factor that is none
(queries need sqrt(E / e), since attention divides by sqrt(E)) is stored as a sum over the copies,
each of which holds what the one before rounded away.
"""

import math
from dataclasses import dataclass

from engine.theory.shape import ModelShape
from engine.wire.config import ConfigError

_N_PARTS = 3
"""Copies over which a factor that is no power of two is spread: 24 bits in bfloat16."""


@dataclass(frozen=True, slots=True)
class Inflation:
    """``small`` laid into ``large``. Heads are numbered 0, 1, ...; a head's numbers lie together.

    Raises:
        ConfigError: on construction, where a dimension of the large shape is too small.
    """

    small: ModelShape
    large: ModelShape

    def __post_init__(self) -> None:
        for what, name in _DIMENSIONS.items():
            given, needed = getattr(self.large, name), getattr(self.small, name)
            if given < needed:
                raise ConfigError(
                    f"the shape has {given} {what} and the model needs {needed}: name a larger one."
                )
        if self.large.head_dim % 2 or self.small.head_dim % 2:
            raise ConfigError("heads of an odd size cannot be rotated: name another shape.")
        n_needed = self.small.n_kv_heads * self._n_hosts
        if n_needed > self.large.n_kv_heads:
            raise ConfigError(
                f"the shape has {self.large.n_kv_heads} KV heads of {self._large_group} query "
                f"heads each, and the model needs {n_needed} such: name another shape."
            )

    # --- the hidden vector ---------------------------------------------------------------------

    @property
    def n_copies(self) -> int:
        """m: of the smallest that leave an exact norm, as many as the queries' factor needs."""
        most = self.large.hidden_size // self.small.hidden_size
        exact = [m for m in range(1, most + 1) if _is_exact_root(self._norm_ratio(m))]
        wanted = 1 if _is_power_of_two(self.query_factor) else _N_PARTS
        enough = [m for m in exact if m >= wanted]
        return min(enough) if enough else max(exact, default=min(wanted, most))

    @property
    def n_parts(self) -> int:
        """Copies over which the queries' weights are spread."""
        return 1 if _is_power_of_two(self.query_factor) else min(_N_PARTS, self.n_copies)

    @property
    def norm_factor(self) -> float:
        """For the norms' weights; its square is for their epsilon."""
        return math.sqrt(self._norm_ratio(self.n_copies))

    @property
    def query_factor(self) -> float:
        return math.sqrt(self.large.head_dim / self.small.head_dim)

    # --- heads ---------------------------------------------------------------------------------

    @property
    def rotary_stride(self) -> int:
        """Pair i of a small head is pair i * stride of a large one: with the same base its
        frequency is the same to the last bit. 1 where the sizes do not divide each other."""
        large, small = self.large.head_dim, self.small.head_dim
        return 1 if large % small else large // small

    def rotary_base(self, base: float) -> float:
        """The large model's, given the small one's: frequencies are base^(-2 i / head size)."""
        if self.rotary_stride > 1 or self.large.head_dim == self.small.head_dim:
            return base
        return float(base ** (self.large.head_dim / self.small.head_dim))

    def rotary_rows(self) -> list[int]:
        """Where within a large head the numbers of a small one go: the halves of a head are
        rotated against each other."""
        half, large_half = self.small.head_dim // 2, self.large.head_dim // 2
        first = [index * self.rotary_stride for index in range(half)]
        return first + [large_half + row for row in first]

    def kv_head(self, large_head: int) -> int | None:
        """The small KV head that a large one repeats; None for one that was added."""
        small = large_head // self._n_hosts
        return small if small < self.small.n_kv_heads else None

    def query_head(self, large_head: int) -> int | None:
        """The small query head that a large one repeats; None for one that was added."""
        host, place = divmod(large_head, self._large_group)
        kv_head = self.kv_head(host)
        if kv_head is None:
            return None
        within = (host % self._n_hosts) * self._large_group + place
        return kv_head * self._small_group + within if within < self._small_group else None

    def is_of_added_kv_head(self, large_query_head: int) -> bool:
        """Whether a query head reads values that are all zero."""
        return self.kv_head(large_query_head // self._large_group) is None

    @property
    def _small_group(self) -> int:
        return self.small.n_heads // self.small.n_kv_heads

    @property
    def _large_group(self) -> int:
        return self.large.n_heads // self.large.n_kv_heads

    @property
    def _n_hosts(self) -> int:
        """Large KV heads that one small one needs for its query heads."""
        return -(-self._small_group // self._large_group)

    def _norm_ratio(self, n_copies: int) -> float:
        return n_copies * self.small.hidden_size / self.large.hidden_size


_DIMENSIONS = {
    "layers": "n_layers",
    "hidden entries": "hidden_size",
    "query heads": "n_heads",
    "entries a head": "head_dim",
    "intermediate entries": "intermediate_size",
    "tokens": "vocab_size",
}


def _is_power_of_two(value: float) -> bool:
    return math.frexp(value)[0] == 0.5


def _is_exact_root(ratio: float) -> bool:
    """Whether the square root of ``ratio`` is a power of two."""
    return _is_power_of_two(ratio) and math.frexp(ratio)[1] % 2 == 1  # 2^(2n) is 0.5 * 2^(2n + 1)
