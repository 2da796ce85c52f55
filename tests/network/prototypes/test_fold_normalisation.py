import pytest

torch = pytest.importorskip("torch")

from small_networks import convolutional, mlp
from torch import nn

from classay.network.prototypes.runner import fold_normalisation
from classay.network.prototypes.split import split
from classay.network.prototypes.trace import frozen


def norms(network):
    return sum(isinstance(layer, nn.BatchNorm2d) for layer in network.modules())


def same_answers(one, other):
    x = one.inputs(4, 5)
    with frozen(one.network), frozen(other.network), torch.no_grad():
        torch.testing.assert_close(one.logits(x), other.logits(x), rtol=1e-4, atol=1e-4)


def test_normalisation_goes_and_answers_stay():
    network = convolutional().train()
    found = split(network, (1, 8, 8))
    made = fold_normalisation(found)
    assert norms(made.network) == 0
    assert norms(network) == 2
    assert network.training
    same_answers(found, made)


class Twice(nn.Module):
    """What the convolution gives is used by the normalisation and beside it."""

    def __init__(self, shared):
        super().__init__()
        self.one, self.norm, self.two = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3, padding=1)
        self.norm.running_mean.normal_()
        self.norm.running_var.uniform_(0.3, 3)
        self.shared, self.head = shared, nn.Linear(4, 3)

    def forward(self, x):
        x = self.one(x)
        if self.shared == "output":
            x = self.norm(x) + x
        elif self.shared == "norm":
            x = self.norm(self.two(torch.relu(self.norm(x))))
        return self.head(torch.relu(x).mean((2, 3)))


@pytest.mark.parametrize("shared", ["output", "norm"])
def test_what_is_used_twice_is_not_folded(shared):
    torch.manual_seed(0)
    found = split(Twice(shared), (1, 8, 8))
    made = fold_normalisation(found)
    assert norms(made.network) == 1
    same_answers(found, made)


def test_what_cannot_be_copied_is_taken_as_it_is():
    class Stubborn(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = convolutional()

        def __deepcopy__(self, memo):
            raise TypeError("no")

        def forward(self, x):
            return self.inner(x)

    found = split(Stubborn(), (1, 8, 8))
    assert fold_normalisation(found) is found


def test_without_convolutions_nothing_is_done():
    found = split(mlp(), (6,))
    assert fold_normalisation(found) is found
