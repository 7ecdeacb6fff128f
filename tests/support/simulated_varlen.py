"""Torch's operator of attention over sequences of any length, without its device."""

import torch


def varlen(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    cum_seq_q: torch.Tensor,
    cum_seq_k: torch.Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    return_debug_mask: bool,
    *,
    scale: float,
    window_size_left: int,
    window_size_right: int,
    seqused_k: torch.Tensor,
    block_table: torch.Tensor | None = None,
) -> tuple[torch.Tensor, ...]:
    """What FlashAttention does, row by row: causal from the bottom right. Only the output."""
    assert (dropout_p, return_debug_mask) == (0.0, False)
    assert window_size_right == (0 if is_causal else -1)
    rows = []
    for row, n_used in enumerate(seqused_k.tolist()):
        first, last = cum_seq_q[row : row + 2].tolist()
        if block_table is not None:
            keys, values = (pool[block_table[row].long()].flatten(0, 1) for pool in (key, value))
        else:
            assert cum_seq_k is not None
            start = int(cum_seq_k[row])
            keys, values = key[start:], value[start:]
        n_groups = query.shape[1] // keys.shape[1]
        keys, values = (
            each[:n_used].repeat_interleave(n_groups, 1).transpose(0, 1) for each in (keys, values)
        )
        scores = query[first:last].transpose(0, 1) @ keys.transpose(1, 2) * scale
        places = torch.arange(n_used)
        newest = torch.arange(n_used - (last - first), n_used)[:, None]
        hidden = (places > newest) & is_causal
        if window_size_left >= 0:
            hidden |= places < newest - window_size_left
        weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        rows.append((weights @ values).transpose(0, 1))
    return (torch.cat(rows),)
