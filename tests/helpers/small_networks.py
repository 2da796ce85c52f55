"""Small networks with known properties."""

import torch
from torch import nn


class Selects(nn.Module):
    """Features are one-hot by construction, the largest input's place, and the head is the identity."""

    def __init__(self, classes=4, size=8.0):
        super().__init__()
        self.size = size
        self.head = nn.Linear(classes, classes, bias=False)
        with torch.no_grad():
            self.head.weight.copy_(torch.eye(classes))

    def forward(self, x):
        largest = nn.functional.one_hot(x.argmax(dim=1), x.shape[1]).to(x)
        return self.head(self.size * (largest + x - x.detach()))  # the slope is that of x itself


class Shares(nn.Module):
    """Features are the inputs above zero; the rows of cat and dog share a feature, car has one of its own."""

    names = ("cat", "car", "dog")

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3, bias=False)
        with torch.no_grad():
            self.head.weight.copy_(torch.tensor([[6.0, 6, 0, 0], [0, 0, 0, 8], [6, 0, 6, 0]]))

    def forward(self, x):
        return self.head(torch.relu(x))


class Collapsed(nn.Module):
    """Features of every input point the same way; only their length tells classes apart."""

    def __init__(self, classes=3, size=6):
        super().__init__()
        self.direction = nn.Parameter(torch.ones(size), requires_grad=False)
        self.head = nn.Linear(size, classes)
        with torch.no_grad():
            # Logits c·s − c²/2: class c wins where the length s is near c, so three classes lie on one ray.
            steepness = 12.0
            codes = torch.arange(classes, dtype=torch.float32)
            self.head.weight.copy_(steepness * codes[:, None].expand(-1, size) / size + 1e-4 * torch.eye(classes, size))
            self.head.bias.copy_(-steepness * codes**2 / 2)

    def forward(self, x):
        return self.head(nn.functional.softplus(x.sum(dim=1, keepdim=True)) * self.direction)


def mlp(inputs=6, hidden=32, classes=4, seed=0, dtype=torch.float32):
    """With weights three times as large as fresh ones, so that walks arrive in a dozen steps or two."""
    torch.manual_seed(seed)
    network = nn.Sequential(
        nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, classes)
    )
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(3)
    return network.to(dtype)


def convolutional(classes=5, seed=0, dtype=torch.float32):
    """With batch normalisation whose statistics are not those of the batch, and dropout."""
    torch.manual_seed(seed)
    network = nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        nn.Dropout(0.3), nn.Linear(32, classes),
    )  # fmt: skip
    with torch.no_grad():
        for layer in network:
            if isinstance(layer, nn.BatchNorm2d):
                layer.running_mean.normal_(0, 0.3)
                layer.running_var.uniform_(0.5, 2.0)
        network[-1].weight.mul_(4)
    return network.to(dtype)


class Reader(nn.Module):
    """A classifier of token sequences that takes embeddings by keyword, as Hugging Face's do."""

    def __init__(self, tokens=20, width=6, classes=3, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.embedding = nn.Embedding(tokens, width)
        self.mix = nn.Linear(width, 12)
        self.head = nn.Linear(12, classes)

    def forward(self, input_ids=None, inputs_embeds=None):
        rows = self.embedding(input_ids) if inputs_embeds is None else inputs_embeds
        return {"logits": self.head(torch.relu(self.mix(rows)).mean(dim=1))}


class Watched(nn.Module):
    """A network that shows every batch to `look` before it answers."""

    def __init__(self, inner, look=lambda x: None):
        super().__init__()
        self.inner, self.look = inner, look

    def forward(self, x):
        self.look(x)
        return self.inner(x)
