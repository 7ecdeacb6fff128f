"""Torch's attention over sequences of any length, as it is documented, without its device."""

import torch


def varlen(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    cu_seq_q: torch.Tensor,
    cu_seq_k: torch.Tensor | None,
    max_q: int,
    max_k: int,
    *,
    scale: float,
    window_size: tuple[int, int],
    enable_gqa: bool,
    seqused_k: torch.Tensor,
    block_table: torch.Tensor | None = None,
) -> torch.Tensor:
    """What torch's function is documented to do, row by row: causal from the bottom right."""
    rows = []
    for row, n_used in enumerate(seqused_k.tolist()):
        first, last = cu_seq_q[row : row + 2].tolist()
        if block_table is not None:
            keys, values = (pool[block_table[row].long()].flatten(0, 1) for pool in (key, value))
        else:
            assert cu_seq_k is not None
            start = int(cu_seq_k[row])
            keys, values = key[start:], value[start:]
        n_groups = query.shape[1] // keys.shape[1]
        assert enable_gqa == (n_groups > 1)
        keys, values = (
            each[:n_used].repeat_interleave(n_groups, 1).transpose(0, 1) for each in (keys, values)
        )
        scores = query[first:last].transpose(0, 1) @ keys.transpose(1, 2) * scale
        places = torch.arange(n_used)
        newest = torch.arange(n_used - (last - first), n_used)[:, None]
        hidden = places > newest
        if window_size[0] >= 0:
            hidden |= places < newest - window_size[0]
        weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        rows.append((weights @ values).transpose(0, 1))
    return torch.cat(rows)
