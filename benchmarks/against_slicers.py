"""`slices` against sliceline and DivExplorer: seconds, the rank of two planted slices, and what each makes of noise.

20,000 rows in 8 columns of numbers and 2 of categories; a tenth of the rows are wrong, 30 % in two planted slices of
4 % of the rows each: x0 and x1 in a fifth of their range each, and x2 in a fifth with a category of five. sliceline and
DivExplorer need categories, so numbers are cut at their quintiles for them, which is counted; the planted edges lie on
those cuts, which suits them best, and then, second table, between them. Slices of up to two columns and .5 % of the
rows. sliceline ranks by its score (alpha .95: with its default of .6 it finds nothing here), DivExplorer by the t value
of its divergence. A planted slice is found by the first slice of the list with at least 80 % of its rows inside;
`holds` is the share of the planted rows that it has.
Goals: both planted slices on top, a discovery in at most 5 % of runs on noise, faster than both.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import timing
from scipy.stats import binom

from classay.data.model.error_slices import slices

RATE, PLANTED_RATE, PURE, LEAST, TOP = 0.1, 0.3, 0.8, 0.005, 10
Found = list[np.ndarray]


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/against_slicers.py --seeds 5 --noise 100")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=5, help="tables with planted slices")
    parser.add_argument("--tables", type=int, default=200, help="tables with planted slices for slices alone")
    parser.add_argument("--noise", type=int, default=200, help="tables of noise for slices")
    parser.add_argument("--noise-others", type=int, default=20, help="tables of noise for the others")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.seeds, options.tables, options.noise, options.noise_others = 4_000, 1, 3, 3, 1
    print(timing.machine())
    ways: dict[str, Callable] = {"classay": by_classay, "sliceline": by_sliceline, "DivExplorer": by_divexplorer}
    table, wrong, _ = made(1_000, 0, 0.0)
    for name in list(ways):
        try:
            ways[name](table, wrong)  # imports
        except ImportError:
            print(f"{name} is left out: it is not installed.")
            del ways[name]
    for title, shift in (("on the cuts of the others", 0.0), ("between the cuts of the others", 0.1)):
        planted(title, shift, ways, options)
    alone(options)
    noise(ways, options)


def made(rows: int, seed: int, shift: float, noisy: bool = False) -> tuple[pd.DataFrame, np.ndarray, Found]:
    """A table, which rows are wrong, and the rows of the planted slices."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({f"x{place}": rng.standard_normal(rows) for place in range(8)})
    table["job"], table["plan"] = rng.choice(list("abcde"), rows), rng.choice(["free", "paid", "team"], rows)
    first = within(table["x0"], 0.2 + shift) & within(table["x1"], 0.6 + shift)
    second = within(table["x2"], 0.4 + shift) & (table["job"] == "c").to_numpy()
    chance = np.where((first | second) & (not noisy), PLANTED_RATE, RATE)
    return table, rng.random(rows) < chance, [first, second]


def within(values: pd.Series, low: float) -> np.ndarray:
    start, end = values.quantile([low, low + 0.2])
    return values.between(start, end).to_numpy()


def by_classay(table: pd.DataFrame, wrong: np.ndarray) -> tuple[Found, bool]:
    """Rows of the slices found, best first, and whether any was said to be significant."""
    found = slices(table, wrong, top=TOP)
    return [found.rows(place) for place in range(len(found.slices))], len(found.slices) > 0


def by_sliceline(table: pd.DataFrame, wrong: np.ndarray) -> tuple[Found, bool]:
    from sliceline.slicefinder import Slicefinder

    cut = binned(table)
    finder = Slicefinder(alpha=0.95, k=TOP, max_l=2, min_sup=LEAST, verbose=False)
    finder.fit(cut.to_numpy(), wrong.astype(float))
    found = [matching(cut, dict(zip(cut.columns, each))) for each in finder.top_slices_]
    # It has no test of significance; a naive reader's one of its first slice, by the binomial.
    naive = bool(found) and float(binom.sf(wrong[found[0]].sum() - 1, found[0].sum(), wrong.mean())) < 0.05
    return found, naive


def by_divexplorer(table: pd.DataFrame, wrong: np.ndarray) -> tuple[Found, bool]:
    from divexplorer import DivergenceExplorer

    cut = binned(table)
    explorer = DivergenceExplorer(cut.assign(wrong=wrong.astype(int)))
    frame = explorer.get_pattern_divergence(min_support=LEAST, boolean_outcomes=["wrong"])
    frame = frame[(frame["length"].between(1, 2)) & (frame["wrong_div"] > 0)]
    frame = frame.sort_values("wrong_t", ascending=False)
    items = [[item.split("=", 1) for item in each] for each in frame["itemset"].head(TOP)]
    found = [matching(cut, dict(each)) for each in items]
    return found, bool(len(frame)) and float(frame["wrong_t"].iloc[0]) > 1.96


def binned(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers cut at their quintiles."""
    cut = {name: pd.qcut(table[name], 5, labels=list("12345")).astype(str) for name in table if name.startswith("x")}
    return table.assign(**cut)


def matching(cut: pd.DataFrame, conditions: dict[str, str | None]) -> np.ndarray:
    inside = np.ones(len(cut), dtype=bool)
    for name, value in conditions.items():
        if value is not None:
            inside &= (cut[name] == value).to_numpy()
    return inside


def planted(title: str, shift: float, ways: dict[str, Callable], options) -> None:
    tables = [made(options.rows, seed, shift) for seed in range(options.seeds)]
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    ranks: dict[str, list[list[float]]] = {name: [] for name in ways}
    holds: dict[str, list[float]] = {name: [] for name in ways}
    strange: dict[str, list[bool]] = {name: [] for name in ways}
    for table, wrong, truth in tables:
        runs = {name: partial(way, table, wrong) for name, way in ways.items()}
        turns = timing.Turns(runs, 1, clock=time.process_time)
        for name in ways:
            seconds[name] += turns.seconds[name]
            found, _ = turns.results[name][0]
            placed = [first_inside(found, each) for each in truth]
            ranks[name].append([place for place, _ in placed])
            holds[name] += [share for _, share in placed]
            strange[name] += by_chance(found, truth)
    rows = [
        {
            "way": name,
            "seconds": float(np.median(seconds[name])),
            "times classay's": float(np.median(seconds[name]) / np.median(seconds["classay"])),
            "both on top": f"{np.mean([sorted(each) == [1, 2] for each in ranks[name]]):.0%}",
            "ranks of the two": ", ".join(sorted({"/".join(f"{place:g}" for place in each) for each in ranks[name]})),
            "holds": float(np.nanmean(holds[name])) if np.isfinite(holds[name]).any() else float("nan"),
            "slices of chance": f"{sum(strange[name])} of {len(strange[name])}",
        }
        for name in ways
    ]
    timing.show(rows, f"{options.rows} x 10, planted edges {title}, {options.seeds} tables; processor seconds")


def by_chance(found: Found, truth: Found) -> list[bool]:
    """Which slices have hardly more of the planted rows than the table: an excess of errors there is chance."""
    either = np.logical_or.reduce(truth)
    return [bool(either[each].mean() <= 1.1 * either.mean()) for each in found]


def alone(options) -> None:
    """The false-discovery rate of `slices` beside true slices: the mean share by chance of what a table reports."""
    rows = []
    for title, shift in (("on the cuts", 0.0), ("between", 0.1)):
        top, shares, count = [], [], 0
        for seed in range(options.tables):
            table, wrong, truth = made(options.rows, 10_000 + seed, shift)
            found, _ = by_classay(table, wrong)
            top.append(sorted(first_inside(found, each)[0] for each in truth) == [1, 2])
            chance = by_chance(found, truth)
            shares.append(float(np.mean(chance)) if chance else 0.0)
            count += len(found)
        rows.append({"planted edges": title, "tables": options.tables, "both on top": f"{np.mean(top):.1%}"})
        error = np.std(shares) / np.sqrt(len(shares))
        rows[-1] |= {"slices a table": count / options.tables, "by chance": f"{np.mean(shares):.1%} ± {error:.1%}"}
        rows[-1]["goal"] = "≤ 5 %"
    timing.show(rows, "slices alone, on more tables")


def first_inside(found: Found, truth: np.ndarray) -> tuple[float, float]:
    """Rank of the first slice that lies in the planted one, and the share of it that the slice holds."""
    for place, each in enumerate(found):
        if each.any() and truth[each].mean() >= PURE:
            return place + 1, float((each & truth).sum() / truth.sum())
    return float("inf"), float("nan")


def noise(ways: dict[str, Callable], options) -> None:
    rows = []
    for name, way in ways.items():
        runs = options.noise if name == "classay" else options.noise_others
        told, rates = [], []
        for seed in range(runs):
            table, wrong, _ = made(options.rows, 1_000 + seed, 0.0, noisy=True)
            found, significant = way(table, wrong)
            told.append(significant)
            rates += [wrong[each].mean() / wrong.mean() for each in found[:1]]
        rows.append(
            {
                "way": name,
                "runs": runs,
                "a slice in": f"{len(rates) / runs:.1%}",
                "significant in": f"{np.mean(told):.1%}",
                "by": {"classay": "q < .05", "DivExplorer": "t > 1.96"}.get(name, "naive binomial p < .05"),
                "error rate of the first / of all": float(np.mean(rates)) if rates else float("nan"),
                "goal": "≤ 5 %" if name == "classay" else "",
            }
        )
    timing.show(rows, "Noise: every row is wrong with the same chance")


if __name__ == "__main__":
    main()
