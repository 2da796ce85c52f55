"""Walks through input space to a class: x ← x − step · ∇L/‖∇L‖ until the cross-entropy L is at most delta.

Every row walks alone: its gradient is its own and is scaled to length one by itself, so batching makes no difference. A
row that has arrived leaves and the next in the queue takes its place, so that the batch stays full and memory does not
grow with the number of walks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ... import seeds
from ...expect import InputError
from ..cosines import array_of
from .trace import frozen

if TYPE_CHECKING:
    from torch import Tensor, nn

    from .split import Split

BATCH = 128
MAX_STEPS = 300
NO_SLOPE = (
    "No gradient of the loss reaches the inputs: the network computes under `torch.no_grad()`, or detaches its values, "
    "or this runs under `torch.inference_mode()`. Walks need the gradient."
)
NOT_FINITE = (
    "The network outputs NaN or infinite values on the way to a prototype. Are the weights intact, and `step` and the "
    "range of inputs not far too large?"
)
OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "cannot allocate memory", "not enough memory")
WALK_ARRAYS = ("features", "steps", "length", "distance", "loss", "converged", "finished")

Scale = tuple[tuple[float, ...], tuple[float, ...]]
"""Mean and spread by channel that scaled inputs of 0..1 for the network: (x − mean) / std."""


@contextmanager
def fixed_threads(threads: int) -> Iterator[None]:
    """As many threads of torch and of linear algebra as given, and afterwards as many as before.

    Sums over threads round differently, and walks amplify that: with as many threads as a machine has cores, the same
    seed would give other figures on another machine. More threads than free cores also make small networks slower.
    """
    import torch

    before = torch.get_num_threads()
    with threadpool_limits(limits=threads):
        try:
            torch.set_num_threads(threads)
            yield
        finally:
            torch.set_num_threads(before)


@dataclass(eq=False)
class Walks:
    """How m walks went. Rows that are not `finished`, because of Ctrl-C, contain zeros.

    `features` (m, d) where each walk ended; `steps` taken; `length` of the path and straight `distance` from start to
    end; `loss` at the end; `converged`: the loss reached delta. `ends` (m, ...) are the inputs themselves, if stored.
    """

    features: NDArray[np.float32]
    steps: NDArray[np.int64]
    length: NDArray[np.float64]
    distance: NDArray[np.float64]
    loss: NDArray[np.float64]
    converged: NDArray[np.bool_]
    finished: NDArray[np.bool_]
    ends: Tensor | None
    interrupted: bool = False

    @classmethod
    def unfinished(cls, m: int, size: int, like: Tensor | None) -> Walks:
        """Before any of m walks is finished; their ends are stored if `like` is such an input."""
        features, steps = np.zeros((m, size), dtype=np.float32), np.zeros(m, dtype=np.int64)
        length, distance, loss = np.zeros((3, m))
        converged, finished = np.zeros((2, m), dtype=bool)
        ends = None if like is None else like.new_zeros((m, *like.shape[1:]))
        return cls(features, steps, length, distance, loss, converged, finished, ends)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays, by name."""
        return {name: getattr(self, name) for name in WALK_ARRAYS}

    def to_store(self) -> dict[str, NDArray[Any]]:
        """The arrays and the ends, which NumPy may need in single precision, as it lacks bfloat16."""
        return self.arrays() | ({} if self.ends is None else {"ends": array_of(self.ends)})

    def put(self, active: _ActiveWalks, over: Tensor, features: Tensor, losses: Tensor, arrived: Tensor) -> None:
        """Finish the walks at the places `over` of the batch."""
        rows = [active.rows[place] for place in over.tolist()]
        ends = active.x[over]
        self.features[rows] = features[over].float().cpu().numpy()
        self.steps[rows] = active.taken[over].cpu().numpy()
        self.length[rows] = active.length[over].cpu().numpy()
        self.distance[rows] = (ends - active.begin(rows)).double().flatten(1).norm(dim=1).cpu().numpy()
        self.loss[rows] = losses[over].cpu().numpy()
        self.converged[rows] = arrived[over].cpu().numpy()
        self.finished[rows] = True
        if self.ends is not None:
            self.ends[rows] = ends


@dataclass
class Walker:
    """How walks are made: everything except where from and where to.

    `step` is the length of one step, `delta` the cross-entropy at which a walk has arrived; one that has not after
    `max_steps` ends where it is, not `converged`. `batch` rows are walked at once; it is halved while memory is
    insufficient, and stays so. `box` has the least and greatest value of an input, as tensors that broadcast to one.
    The network is in evaluation mode and frozen meanwhile, and unchanged afterwards.
    """

    split: Split
    step: float
    delta: float = 0.01
    max_steps: int = MAX_STEPS
    batch: int = BATCH
    box: tuple[Tensor, Tensor] | None = None
    embeddings: Tensor | None = None
    seed: int = 0
    threads: int = 1

    def draw_starts(self, targets: NDArray[np.integer], start: int) -> Tensor:
        """(c, ...) one random input for each target class of start number `start`, addressed by its class.

        Normal with mean 0 and spread 1; uniform in the box if there is one; or embeddings of random tokens.
        """
        import torch

        like = self.split.inputs(1)[0]
        shape = tuple(like.shape)
        generators = [seeds.generator(self.seed, "start", start, int(target)) for target in targets]
        if self.embeddings is not None:
            tokens = [generator.integers(len(self.embeddings), size=shape[:-1]) for generator in generators]
            return self.embeddings[torch.as_tensor(np.stack(tokens))].to(like)
        if self.box is None:
            rows = [generator.standard_normal(shape, dtype=np.float32) for generator in generators]
            return torch.from_numpy(np.stack(rows)).to(like)
        rows = [generator.random(shape, dtype=np.float32) for generator in generators]
        least, most = self.box
        return least + torch.from_numpy(np.stack(rows)).to(like) * (most - least)

    def walk(
        self,
        starts: Tensor,
        targets: NDArray[np.integer],
        origin: NDArray[np.integer] | None = None,
        *,
        keep: bool = False,
        tick: Callable[[int], None] = lambda ended: None,
    ) -> Walks:
        """Walk from `starts[origin[i]]` to class `targets[i]`, for every i. On Ctrl-C, what is finished is kept.

        Parameters
        ----------
        starts : (s, ...) inputs; walks that share a start share its memory
        targets : (m,) the class that each walk is to reach
        origin : (m,) the start of each walk; None: one start per walk, in order
        keep : whether to store where the walks ended
        tick : called after every step with the number of walks that ended

        """
        import torch

        origin = np.arange(len(targets)) if origin is None else np.asarray(origin)
        goals = torch.as_tensor(np.asarray(targets, dtype=np.int64), device=starts.device)
        walks = Walks.unfinished(len(targets), self.split.feature_size, starts if keep else None)
        active = _ActiveWalks(starts, origin)
        with fixed_threads(self.threads), frozen(self.split.network), torch.enable_grad():
            try:
                while active.fill(self.batch):
                    try:
                        features, losses, slope = self._slopes(active.x, goals[active.rows])
                    except (RuntimeError, MemoryError) as error:
                        if not _out_of_memory(error) or len(active.rows) == 1:
                            raise
                        self.batch = len(active.rows) // 2
                        active.send_back(self.batch)
                        continue
                    norms = slope.flatten(1).norm(dim=1)
                    if not bool(torch.isfinite(losses).all() and torch.isfinite(norms).all()):
                        raise InputError(NOT_FINITE)
                    arrived = losses <= self.delta
                    # If the gradient is zero (every unit of a layer dead, say) a row can never move again.
                    over = (arrived | (active.taken >= self.max_steps) | (norms == 0)).nonzero().ravel()
                    if len(over):
                        walks.put(active, over, features, losses, arrived)
                    active.move(slope, norms, self.step, self.box)
                    active.leave(over)
                    tick(len(over))
            except KeyboardInterrupt:
                walks.interrupted = True
        return walks

    def _slopes(self, x: Tensor, goals: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Features, losses and gradients of the losses of some rows, the last two in single precision or better."""
        import torch
        from torch.nn.functional import cross_entropy

        x = x.detach().requires_grad_()
        features, logits = self.split.both(x)
        logits = logits.float() if logits.itemsize < 4 else logits
        losses = cross_entropy(logits, goals, reduction="none")
        if not losses.requires_grad:
            raise InputError(NO_SLOPE)
        (slope,) = torch.autograd.grad(losses.sum(), x)
        # Small gradients are zero in half precision.
        return features.detach(), losses.detach(), slope.float() if slope.itemsize < 4 else slope


class _ActiveWalks:
    """The rows that walk now: which walks they are, where they are, and how far they have come."""

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
        """Admit walks from the queue until the batch is full; return how many there are now."""
        import torch

        coming = self._next(batch - len(self.rows))
        if coming:
            self.rows += coming
            self.x = torch.cat([self.x, self.begin(coming)])
            self.taken = torch.cat([self.taken, self.taken.new_zeros(len(coming))])
            self.length = torch.cat([self.length, self.length.new_zeros(len(coming))])
        return len(self.rows)

    def begin(self, rows: list[int]) -> Tensor:
        """The starts of these walks."""
        return self.starts[self.origin[rows]]

    def send_back(self, batch: int) -> None:
        """Keep this many; the others begin again later, which gives the same walks."""
        self.waiting += self.rows[batch:][::-1]
        self.rows = self.rows[:batch]
        self.x, self.taken, self.length = self.x[:batch].clone(), self.taken[:batch], self.length[:batch]

    def move(self, slope: Tensor, norms: Tensor, step: float, box: tuple[Tensor, Tensor] | None) -> None:
        """One step down the gradient, every row by the same length."""
        stride = step / norms.clamp_min(1e-30)
        moved = (self.x - slope * stride.view(-1, *[1] * (slope.dim() - 1))).to(self.x.dtype)
        if box is None:
            self.length = self.length + step
        else:
            moved = moved.clamp(*box)
            self.length = self.length + (moved - self.x).flatten(1).norm(dim=1)
        self.x, self.taken = moved, self.taken + 1

    def leave(self, over: Tensor) -> None:
        """Finished walks give their places to others; if none waits, the batch shrinks."""
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


def _out_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or any(words in str(error).lower() for words in OUT_OF_MEMORY)


# Within what limits walks stay, and the embeddings at which they begin, as users give them.


def scale_of(normalize: Any, shape: tuple[int, ...]) -> Scale | None:
    """`normalize` as users pass it: None, or (mean, std), each a number or one per channel."""
    if normalize is None:
        return None
    try:
        mean, std = (tuple(np.atleast_1d(np.asarray(part, dtype=float)).ravel().tolist()) for part in normalize)
    except (TypeError, ValueError):
        raise InputError(
            f"`normalize` is {normalize!r}; expected a pair (mean, std), each a number or one per channel."
        ) from None
    for part in (mean, std):
        if len(part) not in (1, shape[0]):
            raise InputError(
                f"`normalize` has {len(part)} values for {shape[0]} channels (`input_shape` {shape}); expected 1, or "
                "one per channel."
            )
    if not np.isfinite([*mean, *std]).all() or min(std) <= 0:
        raise InputError(f"`normalize` is {normalize!r}; expected finite means and spreads above 0.")
    return mean, std


def box_of(split: Split, scale: Scale | None) -> tuple[Tensor, Tensor]:
    """The least and greatest input of images of 0..1, as the network takes them."""
    like = split.inputs(1)[0]
    mean, std = (
        like.new_tensor(part).view(-1, *[1] * (like.dim() - 1))
        for part in (((0.0,), (1.0,)) if scale is None else scale)
    )
    return (0.0 - mean) / std, (1.0 - mean) / std


def embeddings_of(network: nn.Module, embeddings: Any, shape: tuple[int, ...]) -> Tensor | None:
    """The table of embeddings to draw tokens from: a layer of the network by name, a layer, or an array."""
    import torch

    if embeddings is None:
        return None
    if isinstance(embeddings, str):
        layers = dict(network.named_modules())
        if embeddings not in layers:
            tables = [name for name, layer in layers.items() if isinstance(layer, torch.nn.Embedding)]
            raise InputError(
                f"The network has no layer {embeddings!r}; its embeddings are {', '.join(tables) or 'none'}."
            )
        embeddings = layers[embeddings]
    table = getattr(embeddings, "weight", embeddings)
    table = table.detach() if isinstance(table, torch.Tensor) else torch.as_tensor(np.asarray(table))
    if table.ndim != 2 or table.shape[1] != shape[-1]:
        raise InputError(
            f"`embeddings` has shape {tuple(table.shape)}; expected (tokens, {shape[-1]}), the last side of "
            f"`input_shape` {shape}."
        )
    return table
