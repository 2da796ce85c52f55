import numpy as np
import pytest

torch = pytest.importorskip("torch")

from small_networks import Watched, convolutional, mlp
from torch import nn

from classay import InputError
from classay.network.prototypes.split import split
from classay.network.prototypes.walks import Walker

FOUR = np.arange(4)


def starts(n, shape=(6,), dtype=torch.float32):
    return torch.from_numpy(np.random.default_rng(0).standard_normal((n, *shape))).to(dtype)


def walk(network, x, targets, origin=None, *, step=0.3, keep=False, **how):
    found = split(network, tuple(x.shape[1:])) if isinstance(network, nn.Module) else network
    return Walker(found, step, **how).walk(x, np.asarray(targets), origin, keep=keep)


def linear(weight):
    network = nn.Sequential(nn.Linear(2, 2))
    with torch.no_grad():
        network[0].weight.copy_(torch.as_tensor(weight))
        network[0].bias.zero_()
    return network


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(("make", "shape"), [(mlp, (6,)), (convolutional, (1, 8, 8))])
def test_batched_walks_equal_walks_one_at_a_time(make, shape, dtype):
    found = split(make(classes=4, dtype=dtype), shape)
    x = starts(4, shape, dtype)
    origin, target = (np.array(each) for each in zip(*((i, j) for i in range(4) for j in range(4) if i != j)))
    how = {"step": 0.8, "keep": True, "max_steps": 60}
    together = walk(found, x, target, origin, batch=7, **how)
    assert len(set(together.steps)) > 3  # rows do retire at different times
    for row in range(len(target)):
        alone = walk(found, x[origin[row], None], target[[row]], **how)
        assert alone.steps[0] == together.steps[row]
        np.testing.assert_allclose(alone.ends[0], together.ends[row], atol=1e-5)
        np.testing.assert_allclose(alone.features[0], together.features[row], rtol=1e-5, atol=1e-5)
        assert alone.distance[0] == pytest.approx(together.distance[row], abs=1e-5)


def test_the_papers_loop_by_hand():
    network = mlp(dtype=torch.float64)
    x = starts(1, dtype=torch.float64)
    w = walk(network, x, [2], keep=True)
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
    np.testing.assert_allclose(w.features[0], split(network, (6,)).features(at)[0].detach(), atol=1e-6)


def test_a_walk_that_has_arrived_already_stays():
    w = walk(linear(torch.eye(2) * 10), torch.tensor([[5.0, 0.0]]), [0], step=1.0)
    assert w.converged[0]
    assert (w.steps[0], w.length[0], w.distance[0]) == (0, 0, 0)


def test_walks_that_do_not_arrive_are_kept():
    w = walk(mlp(), starts(4), FOUR, step=1e-4, max_steps=5)
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
    w = walk(found, starts(2, dtype=torch.bfloat16), [0, 1], step=0.01, max_steps=260)
    assert (w.steps == 260).all()
    assert w.length == pytest.approx(2.6, rel=1e-4)
    assert w.ends is None
    assert (w.distance > 0).all()


def test_a_network_without_gradient_is_refused():
    class Detached(nn.Sequential):
        def forward(self, x):
            with torch.no_grad():
                features = torch.relu(self[0](x))
            return self[1](features)

    with pytest.raises(InputError, match="No gradient of the loss reaches the inputs"):
        walk(Detached(nn.Linear(4, 8), nn.Linear(8, 3)), starts(2, (4,)), [0, 1])


def test_a_row_without_slope_ends_at_once():
    network = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    with torch.no_grad():
        network[0].bias.fill_(-1e3)  # every unit is dead
    w = walk(network, starts(2, (3,)), [0, 1])
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
    walk(network, starts(3, (1, 8, 8)), [0, 1, 2], step=0.5, max_steps=20)
    assert [layer.training for layer in network.modules()] == modes
    assert [parameter.requires_grad for parameter in network.parameters()] == wants
    assert all(parameter.grad is None for parameter in network.parameters())
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert not any(layer._forward_pre_hooks for layer in network.modules())


def test_a_box_holds():
    box = (torch.tensor([-0.5]), torch.tensor([0.5]))
    w = walk(mlp(), starts(4).clamp(*box), FOUR, step=0.2, box=box, keep=True, max_steps=30)
    assert float(w.ends.abs().max()) <= 0.5
    assert (w.length <= 0.2 * w.steps + 1e-6).all()
    assert (w.length < 0.2 * w.steps - 1e-3).any()  # the box held some back


def test_out_of_memory_halves_the_batch_and_goes_on():
    def scarce(x):
        if len(x) > 3:
            raise RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory")

    inner, x, targets = mlp(dtype=torch.float64), starts(10, dtype=torch.float64), np.arange(10) % 4
    plain = walk(inner, x, targets)
    walker = Walker(split(Watched(inner, scarce), (6,)), 0.3, batch=10)
    halved = walker.walk(x, targets)
    assert walker.batch <= 3
    np.testing.assert_array_equal(halved.steps, plain.steps)
    np.testing.assert_allclose(halved.features, plain.features, atol=1e-6)


def test_another_error_is_not_taken_for_lack_of_memory():
    network = Watched(mlp())
    found = split(network, (6,))

    def broken(x):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    network.look = broken
    with pytest.raises(RuntimeError, match="mat1"):
        walk(found, starts(4), FOUR)


def test_ctrl_c_keeps_what_is_done():
    x, targets = starts(8, dtype=torch.float64), np.arange(8) % 4
    network, passes = Watched(mlp(dtype=torch.float64)), []
    found = split(network, (6,))
    plain = walk(found, x, targets)

    def press(x):
        passes.append(x)
        if len(passes) > np.median(plain.steps):
            raise KeyboardInterrupt

    network.look = press
    w = walk(found, x, targets)
    assert w.interrupted
    assert 0 < w.finished.sum() < 8
    np.testing.assert_allclose(w.features[w.finished], plain.features[w.finished], atol=1e-6)
    assert (w.features[~w.finished] == 0).all()


def test_infinite_outputs_are_refused():
    found = split(network := linear(torch.eye(2)), (2,))
    with torch.no_grad():
        network[0].weight.fill_(1e38)
    with pytest.raises(InputError, match="NaN or infinite"):
        walk(found, torch.full((1, 2), 1e5), [0])


def test_memory_is_that_of_the_batch():
    seen, ticks = [], []
    network = Watched(mlp())
    walker = Walker(split(network, (6,)), 0.3, batch=16)
    network.look = lambda x: seen.append(len(x))
    walker.walk(starts(4), np.arange(100) % 4, np.arange(100) % 4, tick=ticks.append)
    assert max(seen) == 16
    assert sum(ticks) == 100
    # The batch stays full while others wait.
    assert np.mean(np.array(seen[: len(seen) // 2]) == 16) == 1
