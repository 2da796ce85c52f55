"""What the classes room claims, measured: withheld fits, one distribution, bounds of several, series, and mixtures.

Each section is a function that gives rows of figures. `-o results/classes.json` replaces the rows of the sections that
were run, with date, commit and command. Run it with the `src` of another checkout to compare: PYTHONPATH says which.

mixtures: three sources of easy, medium and hard classes, made after the rule for the interval was fixed; `ordinary` the
six sources of tests/helpers/class_worlds.py whose classes are independent and of one kind. Coverage of the 95 %
interval, RMSE and mean error of `extrapolate`; the truth is an average over many draws, or an integral.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import timing
from scipy.special import log_ndtr
from threadpoolctl import threadpool_limits

import classay
from classay.classes.extrapolate.extrapolate import forecast
from classay.classes.ranks.ranks import Ranks

sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))
import class_worlds

Rows = list[dict[str, Any]]
Rng = np.random.Generator
ORDINARY = {
    name: source
    for name, source in (class_worlds.TUNED | class_worlds.KEPT_ASIDE).items()
    if name not in ("twins", "easy and hard")
}


# Item 1: implied information is withheld where its model is wrong, and seldom where it is right.


def all_or_nothing(
    seed: int, points: int = 1000, n: int = 100, rows: int = 3, noise: float = 0.7
) -> classay.results.Curve:
    """The answer is the stimulus, or any other of the points."""
    rng = np.random.default_rng(seed)
    stimuli, y = rng.choice(points, n, replace=False), np.repeat(np.arange(n), rows)
    answers = np.where(rng.random(y.size) < noise, (stimuli[y] + rng.integers(1, points, y.size)) % points, stimuli[y])
    return classay.accuracy_curve((answers[:, None] == stimuli) * 1.0, y, marginal=True)


def fits(draws: int) -> Rows:
    """How often implied information is withheld, its intervals hold, and the guaranteed bound."""
    truth = math.log(1000) + 0.3 * math.log(0.3) + 0.7 * math.log(0.7 / 999)
    cases: dict[str, tuple[float, Callable[[int], classay.results.Curve]]] = {"all or nothing": (truth, all_or_nothing)}
    for n, rows, lead in ((20, 5, 2.0), (40, 3, 1.0), (100, 3, 2.0), (100, 3, 3.0), (400, 1, 2.0)):
        cases[f"normal scores, lead {lead:g}, {n} classes x {rows}"] = (
            lead**2 / 2,
            lambda seed, n=n, rows=rows, lead=lead: classay.accuracy_curve(  # type: ignore[misc]
                *class_worlds.led_scores(n, rows, lead, seed)
            ),
        )
    noise = 1 / math.sqrt(math.expm1(2 * 2.0 / 100))
    cases["Gaussian, 100 dimensions, 2 nats, 100 classes x 3"] = (
        2.0,
        lambda seed: classay.accuracy_curve(
            *class_worlds.gaussian_scores(100, 3, 100, noise, np.random.default_rng(seed))
        ),
    )
    table = []
    for name, (nats, made) in cases.items():
        runs = draws if name == "all or nothing" else 10 * draws
        found = [classay.information(made(seed)).nats for seed in range(runs)]
        withheld = np.array([each["implied"].kind.startswith("not supported") for each in found])
        held = np.array([each["implied"].low <= nats <= each["implied"].high for each in found])
        table.append(
            {
                "case": name,
                "draws": runs,
                "withheld": int(withheld.sum()),
                "interval printed and wrong": int((~held & ~withheld).sum()),
                "bound above the truth": sum(each["bound"].low > nats for each in found),
            }
        )
    return table


# Item 2: one distribution, one interval, and no end rises with k.


def one_distribution(draws: int) -> Rows:
    """The largest difference between `u_distribution` and `extrapolate`, and the largest rise of any end with k."""
    table = []
    for name, source in (ORDINARY | MIXTURES).items():
        apart = rise = 0.0
        for draw in range(max(draws // 20, 2)):
            for n in (20, 80):
                rng = np.random.default_rng([21, n, draw])
                curve = classay.accuracy_curve(class_worlds.class_ranks(source, n, rng))
                sizes = sorted({int(k) for k in np.geomspace(n, 1000 * n, 12)})
                u = curve.u_distribution()
                ends = np.array([[e.value, e.low, e.high] for e in (u.accuracy(k) for k in sizes)])
                other = np.array([[e.value, e.low, e.high] for e in (classay.extrapolate(curve, k) for k in sizes)])
                apart = max(apart, float(np.nanmax(np.abs(ends - other))))
                rise = max(rise, float(np.nanmax(np.diff(ends, axis=0))))
        table.append({"world": name, "largest difference": apart, "largest rise with k": rise})
    return table


# Item 3: the bound of several classifiers on the same classes.


def several(draws: int) -> Rows:
    """The guaranteed bound by how many classifiers were tried, beside the thesis' (Lemma 2.5.1 and after it).

    The thesis: half of α for the rows, divided by the number tried, and half for the classes, not divided.
    """
    from classay.classes.information.bayes import lower_bound

    table = []
    for n, rows, accuracy in ((50, 10, 0.635), (100, 50, 0.611)):
        for tried in (1, 7, 100):
            of_rows = math.sqrt(math.log(4 * tried / 0.05) / (2 * n * rows))
            thesis, divided = (accuracy - of_rows - math.sqrt(each / (0.1 * n)) for each in (1, tried))
            try:
                bound = lower_bound(accuracy, math.log(0.05), n, np.full(n, rows), tried)
            except TypeError:  # before: every classifier paid for the classes again
                bound = lower_bound(accuracy, math.log(0.05 / tried), n, np.full(n, rows))
            about = {"classes": n, "rows of each": rows, "accuracy": accuracy, "tried": tried, "bound": bound}
            table.append(about | {"thesis": max(thesis, 1 / n), "thesis, classes divided": max(divided, 1 / n)})
    return table


# Item 4: series, and rows that are not.


def walks(n: int, p: int, q: int, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(n, p)).cumsum(axis=0), rng.normal(size=(n, q)).cumsum(axis=0)


def persistent(n: int, p: int, q: int, rng: Rng, share: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
    """Two unrelated series that forget a tenth with each row."""
    tables = [rng.normal(size=(n, columns)) for columns in (p, q)]
    for table in tables:
        for row in range(1, n):
            table[row] = share * table[row - 1] + math.sqrt(1 - share**2) * table[row]
    return tables[0], tables[1]


def hidden(n: int, p: int, q: int, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """One column of each is a walk, the others are noise."""
    x, y = rng.normal(size=(n, p)), rng.normal(size=(n, q))
    x[:, 0], y[:, 0] = (rng.normal(size=n).cumsum() for _ in range(2))
    return x, y


def independent(n: int, p: int, q: int, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(n, p)), rng.normal(size=(n, q))


def related(n: int, p: int, q: int, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    x = rng.standard_t(2, size=(n, p))
    return x, x @ rng.normal(size=(p, q)) + rng.normal(size=(n, q))


def series(draws: int) -> Rows:
    """How often bounds are refused, and how often a bound above 0 is given."""
    table = []
    kinds = (
        (walks, 200, 1, 1), (walks, 200, 3, 3), (walks, 300, 10, 20), (walks, 500, 2, 2), (persistent, 300, 3, 3),
        (persistent, 300, 10, 20), (hidden, 300, 8, 8), (hidden, 300, 20, 20), (independent, 100, 3, 3),
        (independent, 300, 10, 20), (independent, 40, 2, 60), (related, 60, 4, 4), (related, 300, 4, 30),
    )  # fmt: skip
    for made, n, p, q in kinds:
        refused = above = 0
        runs = 10 * draws if made in (independent, related) else draws
        for seed in range(runs):
            found = classay.identify(*made(n, p, q, np.random.default_rng([41, n, p, q, seed])), random_state=seed)
            refused += found.information.bound.kind.startswith("none")
            above += found.information.bound.low > 0 or found.information.fano.low > 0
        table.append(
            {
                "rows": f"{made.__name__}, {n} x {p} to {q}",
                "draws": runs,
                "bounds refused": refused,
                "a bound above 0": above,
                "related": made is related,
            }
        )
    return table


# Item 5: mixtures of easy, medium and hard classes, and ordinary sources.


def by_noise(n: int, rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Directions in 24 dimensions: 35 % with little noise, 30 % with some, 35 % with much."""
    means = rng.normal(size=(n, 24))
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return means, rng.choice([0.08, 0.2, 0.38], n, p=[0.35, 0.3, 0.35]), np.full(n, 4)


def by_crowding(n: int, rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A fifth far apart, two fifths nearer, two fifths in a heap, with Laplace's tails in 5 dimensions."""
    scale = rng.choice([3.0, 1.2, 0.5], n, p=[0.2, 0.4, 0.4])
    return scale[:, None] * rng.laplace(size=(n, 5)) / math.sqrt(2), np.full(n, 0.3), np.full(n, 4)


LEADS, LEAD_SHARES = np.array([6.0, 2.5, 0.8]), np.array([0.2, 0.5, 0.3])
MIXTURES: dict[str, class_worlds.Source] = {"mixture by noise": by_noise, "mixture by crowding": by_crowding}


def led_ranks(n: int, rng: Rng) -> Ranks:
    """Normal scores; the true class leads by 6, 2.5 or .8, by its kind: U = Φ(lead + z) exactly."""
    lead, y = rng.choice(LEADS, n, p=LEAD_SHARES), np.repeat(np.arange(n), 4)
    scores = rng.normal(size=(y.size, n)).astype(np.float32)
    scores[np.arange(y.size), y] += lead[y]
    return Ranks.from_scores(scores, y, marginal=True)


def led_truth(sizes: list[int]) -> np.ndarray:
    z = np.linspace(-10, 10, 4001)
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    return np.array([
        sum(share * float(density @ np.exp((k - 1) * log_ndtr(z + lead))) for lead, share in zip(LEADS, LEAD_SHARES))
        for k in sizes
    ])  # fmt: skip


def coverage(
    world: str, made: Callable[[int, Rng], Ranks], truth: np.ndarray, n: int, k: list[int], draws: int
) -> Rows:
    """One row for each number of classes."""
    found = [
        forecast(classay.accuracy_curve(made(n, np.random.default_rng([51, n, draw]))), k, "combined", 0)
        for draw in range(draws)
    ]
    table = []
    for at, size in enumerate(k):
        cell = [each[at] for each in found]
        errors = np.array([each.value - truth[at] for each in cell])
        table.append(
            {
                "world": world,
                "from": n,
                "to": size,
                "truth": float(truth[at]),
                "draws": draws,
                "covered": float(np.mean([each.low <= truth[at] <= each.high for each in cell])),
                "width": float(np.mean([each.high - each.low for each in cell])),
                "RMSE": float(np.sqrt(np.nanmean(errors**2))),
                "bias": float(np.nanmean(errors)),
                "identified": float(np.isfinite(errors).mean()),
            }
        )
        print({name: round(v, 3) if isinstance(v, float) else v for name, v in table[-1].items()}, flush=True)
    return table


def sources_covered(sources: dict[str, class_worlds.Source], draws: int, firsts: tuple[int, ...], k: list[int]) -> Rows:
    table = []
    for name, source in sources.items():
        truth = class_worlds.true_accuracy(source, k, draws=16)
        for n in firsts:
            table += coverage(name, lambda n, rng, s=source: class_worlds.class_ranks(s, n, rng), truth, n, k, draws)
    return table


def mixtures(draws: int) -> Rows:
    sizes, table = [300, 900], []
    for n in (50, 150):
        table += coverage("mixture by lead", led_ranks, led_truth(sizes), n, sizes, 3 * draws)
    return table + sources_covered(MIXTURES, 3 * draws, (50, 150), sizes)


def ordinary(draws: int) -> Rows:
    return sources_covered(ORDINARY, draws, (50, 100), [1000])


SECTIONS: dict[str, Callable[[int], Rows]] = {
    made.__name__: made for made in (fits, one_distribution, several, series, mixtures, ordinary)
}


def save(path: Path, section: str, rows: Rows) -> None:
    """Replace the rows of a section, with where they come from."""
    here = Path(classay.__file__).parent
    commit = subprocess.run(["git", "-C", here, "describe", "--always", "--dirty"], capture_output=True, text=True)
    arguments = [Path(word).name if "/" in word else word for word in sys.argv[1:]]  # no folders of this machine
    about = {
        "command": " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *arguments]),
        "date": date.today().isoformat(),
        "commit": commit.stdout.strip(),
        "machine": "2 shared cores",
        "versions": timing.machine(),
    }
    stored = json.loads(path.read_text()) if path.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(stored | {section: about | {"rows": rows}}, indent=1) + "\n")


def main() -> None:
    parser = timing.parser(
        __doc__, "python benchmarks/class_claims.py --sections mixtures -o benchmarks/results/classes.json"
    )
    parser.add_argument("--draws", type=int, default=40, help="draws of each setting, or 3 or 10 times as many")
    parser.add_argument("--sections", nargs="+", default=list(SECTIONS), choices=list(SECTIONS))
    parser.add_argument("-o", "--output", type=Path, help="JSON file of results")
    options = parser.parse_args()
    threadpool_limits(1)
    print(timing.machine(), flush=True)
    for name in options.sections:
        rows = SECTIONS[name](2 if options.quick else options.draws)
        timing.show(rows, name)
        if options.output:
            save(options.output, name, rows)


if __name__ == "__main__":
    main()
