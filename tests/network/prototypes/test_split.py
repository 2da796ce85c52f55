"""Finding the head of a network, and which shape of input it takes, where nobody says."""

from __future__ import annotations

import types

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn
from torch.nn import functional as F

from classay.expect import InputError
from classay.network.prototypes.split import split, split_by_likely_shape
from classay.network.prototypes.trace import frozen


def body(out=6):
    return nn.Sequential(nn.Conv2d(3, 5, 3, padding=1), nn.BatchNorm2d(5), nn.ReLU(), nn.Conv2d(5, out, 3), nn.ReLU())


class Net(nn.Module):
    """A body, a head, and what is done with them."""

    def __init__(self, head=None, after=lambda x: x, pool=lambda x: x.mean((2, 3))):
        super().__init__()
        self.body, self.head = body(), nn.Linear(6, 4) if head is None else head
        self.after, self.pool = after, pool

    def forward(self, x):
        return self.after(self.head(self.pool(self.body(x))))


def check(found, network, classes=4, size=6):
    """Features and logits are those of the network, whatever mode it is in."""
    assert (found.classes, found.feature_size) == (classes, size)
    assert found.weight.shape == (classes, size)
    x = found.inputs(5, 1)
    with frozen(network), torch.no_grad():
        features, logits = found.both(x)
        torch.testing.assert_close(found.features(x), features)
        torch.testing.assert_close(found.logits(x), logits)
    assert features.shape == (5, size)
    by_hand = features.numpy() @ found.weight.T + (0 if found.bias is None else found.bias)
    np.testing.assert_allclose(logits.numpy(), by_hand, rtol=1e-4, atol=1e-5)
    return features, logits


@pytest.mark.parametrize(
    ("after", "output"),
    [
        (lambda x: x, "unknown"),
        (lambda x: x.softmax(1), "softmax"),
        (lambda x: F.log_softmax(x, 1), "softmax"),
        (torch.sigmoid, "sigmoid"),
        (F.logsigmoid, "sigmoid"),
        (lambda x: x[:, :, None, None], "unknown"),
        (lambda x: {"logits": x, "hidden": torch.ones(3, 7)}, "unknown"),
        (lambda x: (x.softmax(1), torch.ones(3, 7)), "softmax"),
        (nn.Sequential(nn.Dropout(), nn.LogSoftmax(1)), "softmax"),
        (nn.Sigmoid(), "sigmoid"),
    ],
)
def test_what_follows_the_head_is_told(after, output):
    network = Net(after=after)
    found = split(network, (3, 8, 8))
    assert (found.name, found.kind, found.output) == ("head", "linear", output)
    check(found, network)


def test_convolutions_as_heads():
    over_one = Net(nn.Conv2d(6, 4, 1), lambda x: x.flatten(1), lambda x: x.mean((2, 3), keepdim=True))
    found = split(over_one, (3, 8, 8))
    assert found.kind == "convolution"
    check(found, over_one)
    # A 1×1 convolution and then the mean over positions is the mean and then a linear layer.
    averaged = Net(nn.Conv2d(6, 4, 1), lambda x: F.adaptive_avg_pool2d(x, 1).flatten(1), lambda x: x)
    features, _ = check(split(averaged, (3, 8, 8)), averaged)
    with torch.no_grad(), frozen(averaged):
        expected = averaged.body(split(averaged, (3, 8, 8)).inputs(5, 1)).mean((2, 3))
    torch.testing.assert_close(features, expected)
    # A kernel as large as the map.
    covering = Net(nn.Conv2d(6, 4, 6), lambda x: x.flatten(1), lambda x: x)
    check(split(covering, (3, 8, 8)), covering, size=6 * 36)


def test_positions_are_pooled():
    for after in (lambda x: x.mean(1), lambda x: x[:, 0], lambda x: x[:, -1]):
        network = Net(after=after, pool=lambda x: x.flatten(2).transpose(1, 2))
        check(split(network, (3, 8, 8)), network)


def test_a_head_without_bias_and_one_lying_on_its_side():
    network = Net(nn.Linear(6, 4, bias=False))
    assert split(network, (3, 8, 8)).bias is None
    check(split(network, (3, 8, 8)), network)

    class OnItsSide(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.bias = nn.Parameter(torch.randn(6, 4)), nn.Parameter(torch.randn(4))

        def forward(self, x):
            return x @ self.weight + self.bias

    network = Net(OnItsSide())
    found = split(network, (3, 8, 8))
    assert found.transposed
    check(found, network)


def test_a_wrapped_head_and_weight_norm():
    network = Net(nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 6), nn.GELU(), nn.Linear(6, 4)))
    assert split(network, (3, 8, 8)).name == "head.3"
    network = Net(torch.nn.utils.parametrizations.weight_norm(nn.Linear(6, 4)))
    check(split(network, (3, 8, 8)), network)


def test_a_network_that_is_one_layer():
    network = nn.Linear(6, 4)
    found = split(network, (6,))
    assert found.name == ""
    assert "the network itself" in str(found)
    check(found, network)


class Texts(nn.Module):
    """As Hugging Face's: token numbers, or their vectors by keyword; the answer is an object with `logits`."""

    def __init__(self):
        super().__init__()
        self.embedding, self.mix, self.head = nn.Embedding(20, 6), nn.Linear(6, 6), nn.Linear(6, 4)
        self.config = type("Config", (), {"problem_type": "multi_label_classification"})()

    def forward(self, input_ids=None, inputs_embeds=None):
        vectors = self.embedding(input_ids) if inputs_embeds is None else inputs_embeds
        return type("Answer", (), {"logits": self.head(self.mix(vectors).relu().mean(1))})()


def test_texts_walk_in_the_space_of_embeddings():
    network = Texts()
    found = split(network, (7, 6))
    assert (found.name, found.output) == ("head", "sigmoid")
    check(found, network)
    with pytest.raises(InputError, match="inputs_embeds"):
        split(network, (7,), call=lambda network, x: network(input_ids=x))


def test_how_to_feed_can_be_told():
    class Two(Net):
        def forward(self, picture, scale):
            return super().forward(picture * scale)

    network = Two()
    check(split(network, (3, 8, 8), call=lambda net, x: net(picture=x, scale=2.0)), network)
    with pytest.raises(InputError, match="missing 1 required positional argument: 'scale'"):
        split(network, (3, 8, 8))
    with pytest.raises(InputError, match="`call` is 3"):
        split(network, (3, 8, 8), call=3)


def test_the_network_is_left_as_it_was():
    network = Net()
    network.train()
    network.body[1].eval()
    network.head.weight.requires_grad_(False)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    state = torch.random.get_rng_state()

    def same():
        assert network.training
        assert network.head.training
        assert not network.body[1].training
        assert not network.head.weight.requires_grad
        assert network.head.bias.requires_grad
        assert network.body[0].weight.grad is None
        assert not any(layer._forward_hooks or layer._forward_pre_hooks for layer in network.modules())
        assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
        assert torch.equal(state, torch.random.get_rng_state())

    split(network, (3, 8, 8)).features(torch.zeros(1, 3, 8, 8))
    network.load_state_dict(before)  # batch normalisation counts what it sees in training mode
    same()
    with pytest.raises(InputError, match=r"\(4, 8, 8\)"):
        split(network, (4, 8, 8))
    same()
    with pytest.raises(ZeroDivisionError), frozen(network):
        1 / 0
    same()


def test_gradients_reach_the_inputs():
    network = Net()
    found = split(network, (3, 8, 8))
    with frozen(network):
        x = found.inputs(2).requires_grad_()
        found.logits(x)[:, 0].sum().backward()
    assert x.grad.abs().sum() > 0
    assert network.head.weight.grad is None


def test_double_precision():
    network = Net().double()
    found = split(network, (3, 8, 8))
    assert found.inputs(1).dtype == torch.float64
    assert found.weight.dtype == np.float32


class Free(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.matrix = nn.Linear(5, 6), nn.Parameter(torch.randn(4, 6))

    def forward(self, x):
        return F.linear(self.body(x).relu(), self.matrix)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.body, self.head = nn.Embedding(4, 6), nn.Linear(5, 6), nn.Linear(6, 4, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x):
        return self.head(self.body(x))


class Cosine(nn.Linear):
    def forward(self, x):
        return F.linear(F.normalize(x), F.normalize(self.weight))


class Several(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.coarse, self.fine = nn.Linear(5, 6), nn.Linear(6, 3), nn.Linear(6, 4)

    def forward(self, x):
        hidden = self.body(x).relu()
        return self.coarse(hidden), self.fine(hidden)


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(5, 6), nn.Linear(6, 6)

    def forward(self, x):
        return self.head(self.head(self.body(x)).relu())


@pytest.mark.parametrize(
    ("network", "reason"),
    [
        (Free(), "outside of any layer"),
        (Tied(), "shares its weight with words.weight"),
        (nn.Sequential(nn.Linear(5, 6), nn.ReLU(), Cosine(6, 4)), "does not output x·Wᵀ"),
        (Several(), r"several heads \(coarse, fine\)"),
        (Twice(), "used more than once"),
        (nn.Sequential(nn.Linear(5, 6), nn.BatchNorm1d(6)).eval(), None),
        (nn.Sequential(nn.Linear(5, 6), nn.ReLU(inplace=True)), "is not that of a linear layer; the last one is '0'"),
        (nn.Sequential(nn.Linear(5, 6), nn.Unflatten(1, (2, 3))), r"it outputs \(3, 2, 3\)"),
        (nn.Sequential(nn.LayerNorm(5)), "no layer with a weight of two dimensions"),
    ],
)
def test_what_cannot_be_split_is_told_why(network, reason):
    if reason is None:
        with torch.no_grad():
            network[1].running_var.copy_(torch.arange(1.0, 7.0))  # every class is scaled by its own number
        reason = "is not that of a linear layer"
    with pytest.raises(InputError, match=reason) as told:
        split(network, (5,))
    assert "cannot be split" in str(told.value)
    assert "The last layers seen: " in str(told.value)


def test_the_head_can_be_named():
    network = Several()
    found = split(network, (5,), head="fine")
    assert found.notes == ()
    check(found, network)
    found = split(Tied(), (5,), head="head")
    assert "shares its weight with words.weight" in found.notes[0]
    found = split(nn.Sequential(nn.Linear(5, 6), nn.ReLU(inplace=True)), (5,), head="0")
    assert "not the output of the network" in str(found)
    found = split(Twice(), (5,), head="head")
    assert "used 2 times" in found.notes[0]
    with pytest.raises(InputError, match="Did you mean fine"):
        split(network, (5,), head="fin")
    with pytest.raises(InputError, match="has no weight of two dimensions or was not used"):
        split(nn.Sequential(nn.Linear(5, 6), nn.ReLU()), (5,), head="1")
    with pytest.raises(InputError, match="does not output x·Wᵀ"):
        split(nn.Sequential(nn.Linear(5, 6), Cosine(6, 4)), (5,), head="1")


def test_bad_input():
    with pytest.raises(InputError, match="build the network and load it"):
        split({"weight": torch.ones(2, 2)}, (5,))
    with pytest.raises(InputError, match="has no parameters"):
        split(nn.Flatten(), (5,))
    with pytest.raises(InputError, match="has one output"):
        split(nn.Sequential(nn.Linear(5, 3), nn.Linear(3, 1)), (5,))
    for shape in ("3x32x32", (), 5, (3, 0), (3, 2.5)):
        with pytest.raises(InputError, match="input_shape"):
            split(Net(), shape)
    with pytest.raises(InputError, match="Is `input_shape` right"):
        split(Net(), (3,))
    with pytest.raises(InputError, match=r"half precision \(float16\) on the CPU"):
        split(Net().half(), (3, 8, 8))
    broken = Net()
    with torch.no_grad():
        broken.body[3].weight[0, 0, 0, 0] = torch.nan
    with pytest.raises(InputError, match=r"'body.3.weight' of the network contains NaN"):
        split(broken, (3, 8, 8))
    with pytest.raises(InputError, match=r"'1.weight' of the network has no values \(lazy"):
        split(nn.Sequential(nn.Flatten(), nn.LazyLinear(5)), (2, 3))
    with pytest.raises(InputError, match=r"it outputs \(3, 4, 8, 8\)"):  # maps are not classes
        split(nn.Sequential(nn.Conv2d(3, 6, 1), nn.ReLU(), nn.Conv2d(6, 4, 1)), (3, 8, 8))
    with pytest.raises(InputError, match="device meta"):
        split(nn.Linear(3, 2, device="meta"), (3,))


class Tempered(nn.Module):
    """The head's output divided by a temperature, with constants added if wanted, and a link after it."""

    def __init__(self, temperature=2.5, link=None, shift=False):
        super().__init__()
        torch.manual_seed(0)
        self.body, self.head = nn.Sequential(nn.Linear(6, 16), nn.ReLU()), nn.Linear(16, 4)
        self.temperature, self.link = temperature, link
        self.shift = torch.tensor([0.5, -1.0, 0.0, 2.0]) if shift else None

    def forward(self, x):
        scores = self.head(self.body(x)) / self.temperature
        if self.shift is not None:
            scores = scores + self.shift
        return scores if self.link is None else self.link(scores)


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("link", [None, lambda x: x.softmax(1), torch.sigmoid, lambda x: x.log_softmax(1)])
@pytest.mark.parametrize("head", [None, "head"])
def test_a_temperature_is_part_of_the_head(link, shift, head):
    network = Tempered(link=link, shift=shift)
    found = split(network, (6,), head)
    assert found.name == "head"
    assert found.scale == pytest.approx(0.4, rel=1e-4)
    np.testing.assert_allclose(found.weight, 0.4 * network.head.weight.detach().numpy(), rtol=1e-4)
    x = found.inputs(5)
    plain = Tempered(shift=shift)(x)
    wanted, logits = (each - each.mean(1, keepdim=True) for each in (plain, found.logits(x)))
    torch.testing.assert_close(logits, wanted, rtol=1e-4, atol=1e-4)  # a softmax leaves their mean open
    assert ("adds constants" in str(found)) == shift
    features = found.features(x).detach().numpy()
    by_weight = features @ found.weight.T + found.bias
    np.testing.assert_allclose(by_weight, found.logits(x).detach().numpy(), rtol=1e-4, atol=1e-4)


def test_a_bent_output_is_still_refused():
    network = Tempered(link=lambda x: 3 * torch.tanh(x))
    with pytest.raises(InputError, match="not that of a linear layer"):
        split(network, (6,))
    with pytest.raises(InputError, match="not that of a linear layer"):
        split(Tempered(temperature=-1.0), (6,))


def images(side=None):
    """A network for images of one size, or of any."""
    pool = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)]
    fixed = [nn.Flatten(), nn.Linear(4 * (side or 1) ** 2, 3)]
    return nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), *(pool if side is None else fixed))


def test_the_first_layer_tells():
    found, why = split_by_likely_shape(nn.Sequential(nn.Flatten(), nn.Linear(12, 6), nn.ReLU(), nn.Linear(6, 3)))
    assert found.input_shape == (12,)
    assert "12 was used, since its first layer takes this many numbers" in why
    for side in (28, 64):
        assert split_by_likely_shape(images(side))[0].input_shape == (1, side, side)
    found, why = split_by_likely_shape(images())
    assert found.input_shape == (1, 32, 32)
    assert "the side is a guess" in why


def test_what_it_says_of_itself_comes_first():
    network = images()
    network.input_size = [1, 9, 7]
    assert split_by_likely_shape(network)[0].input_shape == (1, 9, 7)
    timm = images()
    timm.pretrained_cfg = {"input_size": (1, 40, 40)}
    assert split_by_likely_shape(timm)[0].input_shape == (1, 40, 40)
    hugging = images()
    hugging.config = types.SimpleNamespace(num_channels=1, image_size=48)
    assert split_by_likely_shape(hugging)[0].input_shape == (1, 48, 48)
    for strange in ("3x32x32", 5, (1, -2), (1, None), []):
        network.input_size = strange
        assert split_by_likely_shape(network)[0].input_shape == (1, 32, 32)


def test_what_cannot_be_told():
    texts = nn.Sequential(nn.Embedding(20, 6), nn.Flatten(), nn.Linear(6, 3))
    sound = nn.Sequential(nn.Conv1d(1, 4, 3), nn.Flatten(), nn.Linear(4, 3))
    for network in (texts, sound, images(33)):
        with pytest.raises(InputError, match="--input is missing"):
            split_by_likely_shape(network)
    with pytest.raises(
        InputError, match=r"The first that was tried: The network cannot take inputs of shape \(1, 32, 32\)"
    ):
        split_by_likely_shape(images(33))
