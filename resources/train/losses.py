"""Cross-entropy and distillation losses in chunks, so that no (tokens, V) tensor is ever whole.

Both are autograd functions that compute their gradient in the forward pass. N is tokens.
"""

from __future__ import annotations

import torch
from torch import Tensor

CHUNK = 512


def _target_chunk(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Summed cross-entropy, its gradient in bf16, and log-probabilities, for (n, V) logits."""
    logp = torch.log_softmax(logits.float(), -1)
    picked = logp.gather(1, labels[:, None])
    columns = torch.arange(logp.shape[1])[None]
    grad = logp.exp() - (columns == labels[:, None]).float()
    return -picked.sum(), grad.bfloat16(), logp.bfloat16()


def _draft_chunk(
    logits: Tensor, teacher: Tensor, labels: Tensor, hard: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Summed KL(teacher | draft), mixed gradient in bf16, and how many argmaxes agree."""
    logp = torch.log_softmax(logits.float(), -1)
    wanted = teacher.float()
    p_teacher = wanted.exp()
    kl = (p_teacher * (wanted - logp)).sum()
    columns = torch.arange(logp.shape[1])[None]
    onehot = (columns == labels[:, None]).float()
    grad = logp.exp() - (1 - hard) * p_teacher - hard * onehot
    agree = (logp.argmax(1) == wanted.argmax(1)).sum()
    return kl, grad.bfloat16(), agree


def _argmax_draft_chunk(
    logits: Tensor, teacher: Tensor, _labels: Tensor, hard: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Like :func:`_draft_chunk`, with the teacher's argmax as the hard goal."""
    return _draft_chunk(logits, teacher, teacher.argmax(1), hard)


class PairLoss(torch.autograd.Function):
    """Target cross-entropy plus draft distillation from the target's own (detached) logits.

    ``forward(h_t, e_t, h_d, e_d, labels, hard, functions)`` takes hidden states (N, D) and head
    matrices (V, D) of target and draft, labels (N,), and the weight of the true token in the
    draft's goal. Returns the mean target loss (which carries both gradients), the mean KL and
    the share of equal argmaxes. With ``e_t.requires_grad`` false the target gets no gradient.
    """

    @staticmethod
    def forward(ctx, h_t, e_t, h_d, e_d, labels, hard, functions):
        target_chunk, draft_chunk = functions
        tokens = labels.shape[0]
        train_target = ctx.needs_input_grad[0]
        g_ht = torch.empty_like(h_t) if train_target else None
        g_et = torch.zeros(e_t.shape) if train_target else None
        g_hd, g_ed = torch.empty_like(h_d), torch.zeros(e_d.shape)
        loss, kl, agree = torch.zeros(()), torch.zeros(()), torch.zeros(())
        for at in range(0, tokens, CHUNK):
            part = slice(at, at + CHUNK)
            ce, grad, teacher = target_chunk(h_t[part] @ e_t.T, labels[part])
            loss += ce
            if g_ht is not None and g_et is not None:
                torch.mm(grad, e_t, out=g_ht[part])
                g_et += grad.T @ h_t[part]
            divergence, grad, same = draft_chunk(h_d[part] @ e_d.T, teacher, labels[part], hard)
            kl += divergence
            agree += same
            torch.mm(grad, e_d, out=g_hd[part])
            g_ed += grad.T @ h_d[part]
        ctx.parts = (g_ht, g_et, g_hd, g_ed, tokens)
        ctx.mark_non_differentiable(kl, agree)
        return loss / tokens, kl / tokens, agree / tokens

    @staticmethod
    def backward(ctx, upstream, _kl, _agree):
        g_ht, g_et, g_hd, g_ed, tokens = ctx.parts
        scale = upstream / tokens
        first = (None, None) if g_ht is None else (g_ht * scale, (g_et * scale).bfloat16())
        return (*first, g_hd * scale, (g_ed * scale).bfloat16(), None, None, None)


def loss_functions(compiled: bool = True, argmax_goal: bool = False) -> tuple[object, object]:
    """The two chunk functions, compiled where asked for.

    With ``argmax_goal`` the hard share of the draft's goal is the target's most likely token
    instead of the true next one: what greedy acceptance counts.
    """
    draft = _argmax_draft_chunk if argmax_goal else _draft_chunk
    if not compiled:
        return _target_chunk, draft
    return torch.compile(_target_chunk, dynamic=False), torch.compile(draft, dynamic=False)
