"""Masks of one sequence's wide forwards, cut from strips that are made once."""

import torch

_FIRST_COLUMNS = 1024  # of the context; a strip doubles as contexts grow
_MOST_CELLS = 1 << 24  # of one strip: the mask of a long prompt is not worth keeping


class CausalSteps:
    """The mask of ``width`` tokens behind ``start`` others is the end of a strip: its rows are
    True as far as the context reaches, one token further in every row."""

    def __init__(self, dtype: torch.dtype, device: torch.device) -> None:
        self._dtype = dtype
        self._device = device
        self._strips: dict[int, tuple[int, torch.Tensor, torch.Tensor | None]] = {}

    def of(self, start: int, width: int) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Mask [1, 1, width, start + width], True where a token may look, and on the CPU the same
        as numbers to add to the scores."""
        strip = self._strips.get(width)
        if strip is None or strip[0] < start:
            strip = self._make(start, width)
            if width * strip[0] <= _MOST_CELLS:
                self._strips[width] = strip
        n_columns, mask, bias = strip
        first, n_seen = n_columns - start, start + width
        return (
            mask.narrow(3, first, n_seen),
            None if bias is None else bias.narrow(3, first, n_seen),
        )

    def _make(self, start: int, width: int) -> tuple[int, torch.Tensor, torch.Tensor | None]:
        """A strip for up to ``n_columns`` tokens of context."""
        n_columns = _FIRST_COLUMNS
        while n_columns < start:
            n_columns *= 2
        columns = torch.arange(n_columns + width, device=self._device)
        mask = (columns <= n_columns + torch.arange(width, device=self._device)[:, None])[
            None, None
        ]
        bias = None
        if self._device.type == "cpu":
            bias = torch.zeros(mask.shape, dtype=self._dtype).masked_fill_(~mask, -torch.inf)
        return n_columns, mask, bias
