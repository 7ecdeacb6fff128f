"""Attention against the formula, query by query."""

import math

import pytest
import torch

from engine.models.attention import attend

HEADS, KV_HEADS, SIZE = 4, 2, 8


def by_formula(query, keys, values, *, visible, window=None, softcap=None, sinks=None):
    """[batch, width, n_heads, size]; ``visible`` [batch][width] is how many keys a query sees."""
    batch, n_heads, width, size = query.shape
    output = torch.zeros(batch, width, n_heads, size)
    for row in range(batch):
        for head in range(n_heads):
            kv_head = head * keys.shape[1] // n_heads
            for column in range(width):
                last = visible[row][column]
                first = 0 if window is None else max(0, last - window)
                seen = slice(first, last)
                scores = keys[row, kv_head, seen] @ query[row, head, column] / math.sqrt(size)
                if softcap is not None:
                    scores = softcap * torch.tanh(scores / softcap)
                if sinks is not None:
                    scores = torch.cat((scores, sinks[head : head + 1]))
                weights = scores.softmax(0)[: last - first]
                output[row, column, head] = weights @ values[row, kv_head, seen]
    return output


def tensors(batch, width, n_context):
    torch.manual_seed(0)
    query = torch.randn(batch, HEADS, width, SIZE)
    pool = torch.randn(2, n_context, KV_HEADS, SIZE)  # strided, as a cache hands it out
    keys, values = (one.transpose(0, 1)[None].expand(batch, -1, -1, -1) for one in pool)
    return query, keys, values


@pytest.fixture(params=[None, 3, 50], ids=["all", "window-3", "window-50"])
def window(request):
    return request.param


@pytest.fixture(params=["plain", "softcap", "sinks"])
def extras(request):
    torch.manual_seed(1)
    return {"plain": {}, "softcap": {"softcap": 0.7}, "sinks": {"sinks": torch.randn(HEADS)}}[
        request.param
    ]


def check(query, keys, values, mask, visible, window, extras):
    found = attend(query, keys, values, mask=mask, scaling=SIZE**-0.5, window=window, **extras)
    wanted = by_formula(query, keys, values, visible=visible, window=window, **extras)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_one_query_reads_all(window, extras):
    check(*tensors(1, 1, 9), None, [[9]], window, extras)


def test_a_prefill_is_a_triangle(window, extras):
    check(*tensors(1, 6, 6), None, [range(1, 7)], window, extras)


def test_a_verification_after_a_context(window, extras):
    mask = torch.arange(9) <= torch.arange(5, 9)[:, None]
    check(*tensors(1, 4, 9), mask[None, None], [range(6, 10)], window, extras)


def test_rows_of_different_lengths(window, extras):
    visible = [[1, 5, 6], [7, 8, 9]]
    mask = torch.arange(9) < torch.tensor(visible)[:, :, None]
    check(*tensors(2, 3, 9), mask[:, None], visible, window, extras)
