"""Walks through input space to a class: x ← x − step · ∇L/‖∇L‖ until the cross-entropy L is at most delta.

Every row walks alone: its gradient is its own and is scaled to length one by itself, so how rows are batched makes no
difference. A row that has arrived retires and the next in the queue takes its place, so that the batch stays full and
memory does not grow with the number of walks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..expect import InputError
from .trace import at_rest

if TYPE_CHECKING:
    from torch import Tensor

    from .split import Split

BATCH = 128
MAX_STEPS = 300
NO_SLOPE = (
    "No slope of the loss reaches the inputs: the network computes under `torch.no_grad()`, or detaches what it has, "
    "or this runs under `torch.inference_mode()`. Walks need the gradient."
)
OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "cannot allocate memory", "not enough memory")


@dataclass(frozen=True, eq=False)
class Walks:
    """How m walks went. Rows that never came to an end (`finished` False: time was up, or Ctrl-C) hold zeros.

    `features` (m, d) where each walk ended; `steps` taken; `length` of the path and straight `distance` from start to
    end; `loss` at the end; `converged`: the loss reached delta. `ends` (m, ...) are the inputs themselves, if kept.
    `batch` is how many rows were walked at once in the end, `passes` how often a row went through the network in all.
    """

    features: NDArray[np.float32]
    steps: NDArray[np.int64]
    length: NDArray[np.float64]
    distance: NDArray[np.float64]
    loss: NDArray[np.float64]
    converged: NDArray[np.bool_]
    finished: NDArray[np.bool_]
    ends: Tensor | None
    batch: int
    interrupted: bool
    passes: int

    def rows(self) -> dict[str, NDArray[Any]]:
        """The arrays, by name."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: array for name, array in named.items() if isinstance(array, np.ndarray)}


def walk(
    split: Split,
    starts: Tensor,
    targets: NDArray[np.integer],
    origin: NDArray[np.integer] | None = None,
    *,
    step: float,
    delta: float = 0.01,
    max_steps: int = MAX_STEPS,
    box: tuple[Tensor, Tensor] | None = None,
    batch: int = BATCH,
    deadline: float | None = None,
    keep: bool = False,
    tick: Callable[[int], None] | None = None,
) -> Walks:
    """Walk from `starts[origin[i]]` to class `targets[i]`, for every i.

    Parameters
    ----------
    split : the network, taken apart; it is in evaluation mode and frozen meanwhile, and as before afterwards
    starts : (s, ...) inputs; walks that share a start share its memory
    targets : (m,) the class that each walk is to reach
    origin : (m,) which start each walk leaves from; None: one start a walk, in order
    step : length of one step
    delta : cross-entropy at which a walk has arrived
    max_steps : a walk that has not arrived by then ends where it is, `converged` False
    box : least and greatest value of an input, as tensors that broadcast to one input
    batch : rows walked at once; halved while memory does not suffice
    deadline : a moment of `time.monotonic()` at which to stop
    keep : whether to keep where the walks ended
    tick : called after every step with the number of walks that ended

    """
    import torch
    from torch.nn.functional import cross_entropy

    origin = np.arange(len(targets)) if origin is None else np.asarray(origin)
    goals = torch.as_tensor(np.asarray(targets, dtype=np.int64), device=starts.device)
    found = _Found(len(targets), split.feature_size, starts if keep else None)
    walkers = _Walkers(starts, origin)
    interrupted, passes = False, 0
    with at_rest(split.network), torch.enable_grad():
        try:
            while walkers.fill(batch):
                if deadline is not None and time.monotonic() > deadline:
                    break
                try:
                    x = walkers.x.detach().requires_grad_()
                    features, logits = split.both(x)
                    logits = logits.float() if logits.itemsize < 4 else logits
                    losses = cross_entropy(logits, goals[walkers.rows], reduction="none")
                    if not losses.requires_grad:
                        raise InputError(NO_SLOPE)
                    (slope,) = torch.autograd.grad(losses.sum(), x)
                except (RuntimeError, MemoryError) as error:
                    if not _out_of_memory(error) or len(walkers.rows) == 1:
                        raise
                    batch = len(walkers.rows) // 2
                    walkers.send_back(batch)
                    continue
                passes += len(walkers.rows)
                slope = slope.float() if slope.itemsize < 4 else slope  # small slopes are zero in half precision
                norms = slope.flatten(1).norm(dim=1)
                if not bool(torch.isfinite(losses).all() and torch.isfinite(norms).all()):
                    raise InputError(
                        "The network answers NaN or infinite values on the way to a prototype. Are the weights whole, "
                        "and `step` and the range of inputs not far too large?"
                    )
                arrived = losses.detach() <= delta
                # Where the slope is zero (every unit of a layer dead, say) a row can never move again.
                over = (arrived | (walkers.taken >= max_steps) | (norms == 0)).nonzero().ravel()
                if len(over):
                    found.put(walkers, over, features.detach(), losses.detach(), arrived)
                walkers.move(slope, norms, step, box)
                walkers.leave(over)
                if tick is not None:
                    tick(len(over))
        except KeyboardInterrupt:
            interrupted = True
    return found.walks(batch, interrupted, passes)


class _Walkers:
    """The rows that walk now: which walks they are, where they stand, and how far they have come."""

    def __init__(self, starts: Tensor, origin: NDArray[np.integer]) -> None:
        import torch

        self.starts, self.origin = starts, origin
        self.waiting = list(range(len(origin)))[::-1]  # the next is the last
        self.rows: list[int] = []
        self.x = starts[:0]
        # Not in the precision of the inputs: bfloat16 cannot count beyond 256.
        self.taken = starts.new_zeros(0, dtype=torch.int64)
        self.length = starts.new_zeros(0, dtype=torch.float64 if starts.dtype == torch.float64 else torch.float32)

    def fill(self, batch: int) -> int:
        """Let walks in from the queue until the batch is full; how many there are now."""
        import torch

        coming = self._next(batch - len(self.rows))
        if coming:
            self.rows += coming
            self.x = torch.cat([self.x, self.begin(coming)])
            self.taken, self.length = (
                torch.cat([each, each.new_zeros(len(coming))]) for each in (self.taken, self.length)
            )
        return len(self.rows)

    def begin(self, rows: list[int]) -> Tensor:
        """Where these walks leave from."""
        return self.starts[self.origin[rows]]

    def send_back(self, batch: int) -> None:
        """Keep so many; the others begin again later, which gives the same walks."""
        self.waiting += self.rows[batch:][::-1]
        self.rows = self.rows[:batch]
        self.x, self.taken, self.length = self.x[:batch].clone(), self.taken[:batch], self.length[:batch]

    def move(self, slope: Tensor, norms: Tensor, step: float, box: tuple[Tensor, Tensor] | None) -> None:
        """One step down the slope, every row by the same length."""
        stride = step / norms.clamp_min(1e-30)
        moved = (self.x - slope * stride.view(-1, *[1] * (slope.dim() - 1))).to(self.x.dtype)
        if box is None:
            self.length = self.length + step
        else:
            moved = moved.clamp(*box)
            self.length = self.length + (moved - self.x).flatten(1).norm(dim=1)
        self.x, self.taken = moved, self.taken + 1

    def leave(self, over: Tensor) -> None:
        """Walks that are over give their places to others; where nobody waits the batch shrinks."""
        coming = self._next(len(over))
        filled, empty = over[: len(coming)], over[len(coming) :]
        if coming:
            self.x[filled] = self.begin(coming)
            self.taken[filled] = self.length[filled] = 0
            for place, row in zip(filled.tolist(), coming):
                self.rows[place] = row
        if len(empty):
            stay = self.taken.new_ones(len(self.rows)).bool()
            stay[empty] = False
            self.x, self.taken, self.length = self.x[stay], self.taken[stay], self.length[stay]
            self.rows = [row for row, stays in zip(self.rows, stay.tolist()) if stays]

    def _next(self, most: int) -> list[int]:
        return [self.waiting.pop() for _ in range(min(max(most, 0), len(self.waiting)))]


class _Found:
    """What the walks that are over found, row by row."""

    def __init__(self, m: int, size: int, like: Tensor | None) -> None:
        self.features = np.zeros((m, size), dtype=np.float32)
        self.steps = np.zeros(m, dtype=np.int64)
        self.length, self.distance, self.loss = np.zeros(m), np.zeros(m), np.zeros(m)
        self.converged, self.finished = np.zeros(m, dtype=bool), np.zeros(m, dtype=bool)
        self.ends = None if like is None else like.new_zeros((m, *like.shape[1:]))

    def put(self, walkers: _Walkers, over: Tensor, features: Tensor, losses: Tensor, arrived: Tensor) -> None:
        rows = [walkers.rows[place] for place in over.tolist()]
        ends = walkers.x[over]
        self.features[rows] = features[over].float().cpu().numpy()
        self.steps[rows] = walkers.taken[over].cpu().numpy()
        self.length[rows] = walkers.length[over].cpu().numpy()
        self.distance[rows] = (ends - walkers.begin(rows)).double().flatten(1).norm(dim=1).cpu().numpy()
        self.loss[rows] = losses[over].cpu().numpy()
        self.converged[rows] = arrived[over].cpu().numpy()
        self.finished[rows] = True
        if self.ends is not None:
            self.ends[rows] = ends

    def walks(self, batch: int, interrupted: bool, passes: int) -> Walks:
        return Walks(
            self.features, self.steps, self.length, self.distance, self.loss, self.converged, self.finished, self.ends,
            batch, interrupted, passes,
        )  # fmt: skip


def _out_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or any(words in str(error).lower() for words in OUT_OF_MEMORY)
