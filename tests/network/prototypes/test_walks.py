import numpy as np
import pytest

torch = pytest.importorskip("torch")

from small_networks import convolutional, mlp
from torch import nn

from classay import InputError
from classay.network.prototypes.split import split
from classay.network.prototypes.walks import walk


def starts(n, shape, seed=0, dtype=torch.float32):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal((n, *shape))).to(dtype)


def every_pair(k):
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    return np.array([i for i, _ in pairs]), np.array([j for _, j in pairs])


@pytest.mark.parametrize(
    "network",
    [mlp(dtype=torch.float64), mlp(), convolutional(classes=4, dtype=torch.float64), convolutional(classes=4)],
    ids=["mlp", "mlp, single", "cnn", "cnn, single"],
)
def test_batched_walks_equal_walks_one_at_a_time(network):
    shape = (6,) if isinstance(network[0], nn.Linear) else (1, 8, 8)
    found = split(network, shape)
    x = starts(found.classes, shape, dtype=network[0].weight.dtype)
    origin, target = every_pair(found.classes)
    together = walk(found, x, target, origin, step=0.8, batch=7, keep=True, max_steps=60)
    assert len(set(together.steps)) > 3  # rows do retire at different times
    for row in range(len(target)):
        alone = walk(found, x[origin[row], None], target[[row]], step=0.8, keep=True, max_steps=60)
        assert alone.steps[0] == together.steps[row]
        np.testing.assert_allclose(alone.ends[0], together.ends[row], atol=1e-5)
        np.testing.assert_allclose(alone.features[0], together.features[row], rtol=1e-5, atol=1e-5)
        assert alone.distance[0] == pytest.approx(together.distance[row], abs=1e-5)


def test_the_papers_loop_by_hand():
    network = mlp(dtype=torch.float64)
    found = split(network, (6,))
    x = starts(1, (6,), dtype=torch.float64)
    w = walk(found, x, np.array([2]), step=0.3, keep=True)
    at, steps = x.clone(), 0
    for _ in range(300):
        at = at.detach().requires_grad_()
        loss = nn.functional.cross_entropy(network(at), torch.tensor([2]))
        if loss.item() <= 0.01:
            break
        (slope,) = torch.autograd.grad(loss, at)
        at, steps = at - 0.3 * slope / slope.norm(), steps + 1
    assert steps == w.steps[0] > 3
    np.testing.assert_allclose(w.ends, at.detach(), atol=1e-10)
    assert w.loss[0] == pytest.approx(loss.item())
    assert w.length[0] == pytest.approx(0.3 * steps)
    assert w.distance[0] == pytest.approx(float((at - x).detach().norm()))
    np.testing.assert_allclose(w.features[0], found.features(at)[0].detach(), atol=1e-6)


def test_a_walk_that_has_arrived_already_stays():
    network = nn.Sequential(nn.Linear(2, 2))
    with torch.no_grad():
        network[0].weight.copy_(torch.eye(2) * 10)
        network[0].bias.zero_()
    w = walk(split(network, (2,)), torch.tensor([[5.0, 0.0]]), np.array([0]), step=1.0)
    assert w.converged[0]
    assert (w.steps[0], w.length[0], w.distance[0]) == (0, 0, 0)


def test_walks_that_do_not_arrive_are_said_not_dropped():
    found = split(mlp(), (6,))
    w = walk(found, starts(4, (6,)), np.arange(4), step=1e-4, max_steps=5)
    assert not w.converged.any()
    assert w.finished.all()
    assert (w.steps == 5).all()
    assert (w.loss > 0.01).all()


def test_half_precision_can_count_all_steps():
    """A network on another device may be in bfloat16, in which 256 + 1 is 256."""
    network = mlp()
    with torch.no_grad():
        network[-1].weight.mul_(1e-6)
    found = split(network, (6,))
    network.bfloat16()
    w = walk(found, starts(2, (6,), dtype=torch.bfloat16), np.arange(2), step=0.01, max_steps=260)
    assert (w.steps == 260).all()
    assert w.length == pytest.approx(2.6, rel=1e-4)
    assert w.ends is None
    assert (w.distance > 0).all()


class Detached(nn.Module):
    """What comes before the head is computed without a gradient."""

    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        with torch.no_grad():
            features = torch.relu(self.body(x))
        return self.head(features)


def test_a_network_without_gradient_is_refused():
    with pytest.raises(InputError, match="No gradient of the loss reaches the inputs"):
        walk(split(Detached(), (4,)), starts(2, (4,)), np.arange(2), step=0.1)


def test_a_row_without_slope_ends_at_once():
    network = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    with torch.no_grad():
        network[0].bias.fill_(-1e3)  # every unit is dead
    w = walk(split(network, (3,)), starts(2, (3,)), np.array([0, 1]), step=0.1)
    assert not w.converged.any()
    assert (w.steps == 0).all()


def test_the_network_is_left_as_it_was():
    network = convolutional()
    network.train()
    network[1].eval()
    network[0].weight.requires_grad_(False)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    modes = [layer.training for layer in network.modules()]
    wants = [parameter.requires_grad for parameter in network.parameters()]
    found = split(network, (1, 8, 8))
    walk(found, starts(3, (1, 8, 8)), np.arange(3), step=0.5, max_steps=20)
    assert [layer.training for layer in network.modules()] == modes
    assert [parameter.requires_grad for parameter in network.parameters()] == wants
    assert all(parameter.grad is None for parameter in network.parameters())
    for name, value in network.state_dict().items():
        assert torch.equal(value, before[name]), name
    assert not network[0]._forward_pre_hooks
    assert not network[-1]._forward_pre_hooks


def test_a_box_holds():
    found = split(mlp(), (6,))
    x = starts(4, (6,)).clamp(-0.5, 0.5)
    box = (torch.tensor([-0.5]), torch.tensor([0.5]))
    w = walk(found, x, np.arange(4), step=0.2, box=box, keep=True, max_steps=30)
    assert float(w.ends.abs().max()) <= 0.5
    assert (w.length <= 0.2 * w.steps + 1e-6).all()
    assert (w.length < 0.2 * w.steps - 1e-3).any()  # the box held some back


class Scarce(nn.Module):
    """Runs out of memory on more than three rows."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        if len(x) > 3:
            raise RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory")
        return self.inner(x)


def test_out_of_memory_halves_the_batch_and_goes_on():
    inner = mlp(dtype=torch.float64)
    x = starts(10, (6,), dtype=torch.float64)
    targets = np.arange(10) % 4
    plain = walk(split(inner, (6,)), x, targets, step=0.3)
    scarce = walk(split(Scarce(inner), (6,)), x, targets, step=0.3, batch=10)
    assert scarce.batch <= 3
    np.testing.assert_array_equal(scarce.steps, plain.steps)
    np.testing.assert_allclose(scarce.features, plain.features, atol=1e-6)


def test_another_error_is_not_taken_for_lack_of_memory():
    class Broken(nn.Module):
        def __init__(self):
            super().__init__()
            self.head, self.calls = nn.Linear(2, 2), 0

        def forward(self, x):
            self.calls += 1
            if self.calls > 2:
                raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")
            return self.head(x)

    found = split(Broken(), (2,))
    with pytest.raises(RuntimeError, match="mat1"):
        walk(found, starts(4, (2,)), np.array([0, 1, 0, 1]), step=1e-3)


class Interrupted(nn.Module):
    """The user presses Ctrl-C after some forward passes."""

    def __init__(self, inner, after):
        super().__init__()
        self.inner, self.left = inner, after

    def forward(self, x):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return self.inner(x)


def test_ctrl_c_keeps_what_is_done():
    inner = mlp(dtype=torch.float64)
    x = starts(8, (6,), dtype=torch.float64)
    targets = np.arange(8) % 4
    plain = walk(split(inner, (6,)), x, targets, step=0.3)
    network = Interrupted(inner, 10**9)
    found = split(network, (6,))
    network.left = int(np.median(plain.steps)) + 2
    w = walk(found, x, targets, step=0.3)
    assert w.interrupted
    assert 0 < w.finished.sum() < 8
    np.testing.assert_allclose(w.features[w.finished], plain.features[w.finished], atol=1e-6)
    assert (w.features[~w.finished] == 0).all()


def test_infinite_answers_are_refused():
    network = nn.Sequential(nn.Linear(2, 2))
    found = split(network, (2,))
    with torch.no_grad():
        network[0].weight.fill_(1e38)
    with pytest.raises(InputError, match="NaN or infinite"):
        walk(found, torch.full((1, 2), 1e5), np.array([0]), step=1.0)


def test_memory_is_that_of_the_batch():
    seen = []

    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = mlp()

        def forward(self, x):
            seen.append(len(x))
            return self.inner(x)

    found = split(Counts(), (6,))
    seen.clear()
    ticks = []
    walk(found, starts(4, (6,)), np.arange(100) % 4, np.arange(100) % 4, step=0.3, batch=16, tick=ticks.append)
    assert max(seen) == 16
    assert sum(ticks) == 100
    # The batch stays full while others wait.
    assert np.mean(np.array(seen[: len(seen) // 2]) == 16) == 1
