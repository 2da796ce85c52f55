"""What can dataless figures say about accuracy? Cross-validation over data sets and factors of training.

Figures are chosen inside every fold, by forward selection on the other data sets only. Reported on data sets left out,
with 90 % intervals by drawing data sets anew: Spearman within one data set and architecture, within one data set across
architectures, and across data sets; the same where a factor of training is left out with the data set, so that nothing
of the kind was seen; how often pairs were ordered rightly, by the gap of their scores; how many labelled rows the
figures are worth. `--write` keeps it as JSON.
"""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

import network_fit as fitting
import network_measure as measuring
import numpy as np
import pandas as pd
import timing
from network_probes import PROBES
from network_zoo import FAMILIES
from scipy import optimize, special

from classay.network.quality.figures import FIGURES

IMAGES = ("shift_robustness", "response", "smoothness", "filter_smoothness")
LEFT = ("memory",)
"""Only networks with batch normalisation have it."""
REGION = (
    "row_spread", "row_rank", "row_simplex", "row_norm", "within", "within_spread", "between", "between_spread",
    "effort", "straightness", "alignment", "active", "certainty", "noise_robustness", "norm_growth", "structure",
)  # fmt: skip
"""Figures by which a network is compared with those of the calibration."""
DRAWS = 1000
CONVERGED = 0.9
EDGES = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
"""Gaps between scores at which orders are counted."""
APART = 0.02
"""Pairs whose accuracies differ by less are equal for all purposes, and are not counted."""
ROWS = (20, 50, 100)
TARGET = 0.9
LEVEL = 0.9


def main() -> None:
    parser = timing.parser(
        __doc__, "python benchmarks/network_calibration.py --networks runs/nets --cache runs/nets-figures"
    )
    parser.add_argument("--networks", type=Path, required=True, help="folder that network_suite.py wrote")
    parser.add_argument("--cache", type=Path, required=True, help="folder of what network_measure.py measured")
    parser.add_argument("--write", type=Path, help="file to write the calibration to")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    table = measuring.table(options.networks, options.cache, 2, 9, measured=True)
    table["family"] = table["architecture"].map(FAMILIES)
    print(table.groupby(["data", "architecture"]).size().unstack().fillna(0).astype(int))
    usable = table[table["converged"] >= CONVERGED].reset_index(drop=True)
    print(f"{len(table)} networks, {len(usable)} with at least {CONVERGED:.0%} of walks arrived")
    parts = {"images": usable[usable["data"] != "letter"].reset_index(drop=True), "any": usable}
    written: dict[str, Any] = {}
    for kind, rows in parts.items():
        names = [
            name for name in (*FIGURES, *PROBES)
            if name not in LEFT and (kind == "images" or name not in IMAGES) and rows[name].notna().all()
        ]  # fmt: skip
        written[kind] = study(kind, rows, names)
    if options.write is not None:
        options.write.write_text(json.dumps(_rounded(written), allow_nan=False) + "\n")


def _rounded(value: Any) -> Any:
    """Numbers to four digits; unknown ones as null."""
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else None
    return value


def study(kind: str, table: pd.DataFrame, names: list[str]) -> dict[str, Any]:
    """Every table for one set of figures, and the calibration made of all networks."""
    print(f"\n=== {kind}: {len(table)} networks, {len(names)} candidate figures")
    logits, chosen = fitting.nested(table, names)
    levels, chosen_for_level = fitting.nested(table, names, level=True)
    every = table[names].to_numpy()
    fold = pd.factorize(table["data"])[0]
    whole = fitting.left_out(every, fitting.logit(table["test"]), fitting.groups(table), fold, 1.0)
    for value in chosen:
        print(f"  without {value}: order by {', '.join(chosen[value])}; level by {', '.join(chosen_for_level[value])}")
    accuracy = fitting.accuracy_of(levels)
    inside = region_left_out(table)
    single = pd.DataFrame([{"figure": name, **summary(table, table[name].to_numpy())} for name in names]).sort_values(
        "within", key=np.abs, ascending=False
    )
    timing.show(single.head(16).to_dict("records"), "Single figures, mean Spearman (they need no fit)")
    timing.show(
        figures_by_factor(table, names), "Share of pairs ordered rightly by one figure, where one factor differs"
    )
    rows = [
        {"fitted for": goal, "networks": which, **with_intervals(table[kept], values[kept])}
        for goal, values in (("order", logits), ("level", levels), ("level, all figures", whole))
        for which, kept in (("all", np.ones(len(table), dtype=bool)), ("inside the region", inside))
    ]
    timing.show(rows, "Data sets left out, figures chosen anew: Spearman [90 %]")
    factors = by_factor(table, names)
    timing.show(factors, "Data set and factor left out together: Spearman over that factor alone")
    errors = np.abs(accuracy - table["test"])
    constant = np.abs(constant_left_out(table) - table["test"])
    print(f"mean error of the level {errors[inside].mean():.3f}, of a constant {constant[inside].mean():.3f}; "
          f"outside of the region {(~inside).mean():.0%}")  # fmt: skip
    low, high, held, width = reach_left_out(table[inside], accuracy[inside])
    print(f"90 % interval: {low:+.3f}, {high:+.3f}; holds {held:.0%} on data sets left out, width {width:.2f}")
    gaps = orders(table[inside], logits[inside])
    timing.show(gaps, "Pairs of one data set: how often the larger score had the larger accuracy, by least gap")
    worth = labelled_rows(table[inside], accuracy[inside])
    timing.show(worth["table"], "With n labelled rows: root mean squared error, coverage of 90 %, and worth in rows")
    print(worth["prior"])
    every_figure = labelled_rows(table[inside], fitting.accuracy_of(whole)[inside])
    timing.show(every_figure["table"], "The same with all figures instead of chosen ones")
    return {
        "networks": len(table), "data_sets": sorted(table["data"].unique()), "families": sorted(set(table["family"])),
        "classes": [int(table["classes"].min()), int(table["classes"].max())],
        "spearman": {
            "within": parse(rows[1]["within"]), "architectures": parse(rows[1]["architectures"]),
            "across": parse(rows[3]["across"]),
        },
        "reach": [round(low, 3), round(high, 3)], "held": round(held, 3),
        "error": round(float(errors[inside].mean()), 3), "constant_error": round(float(constant[inside].mean()), 3),
        "abstained": round(float((~inside).mean()), 3),
        "order": constants(table, names, level=False), "level": constants(table, names, level=True),
        "factors": [{name: row[name] for name in ("factor", "pairs", "right")} for row in factors],
        "orders": gaps, "prior": worth["prior"], "worth": worth["table"], "region": region(table),
    }  # fmt: skip


def constants(table: pd.DataFrame, names: list[str], level: bool) -> dict[str, Any]:
    """The fit on all networks, with figures chosen on all of them."""
    figures = fitting.choose(table, names, level=level)
    found = fitting.fit(table, figures, fitting.weight_of(level))
    return {
        "intercept": round(found.intercept, 4),
        "terms": [
            {"figure": name, "centre": round(float(c), 4), "scale": round(float(s), 4)}
            | {"coefficient": round(float(w), 4)}
            for name, c, s, w in zip(figures, found.centre, found.scale, found.coefficient)
        ],
    }  # fmt: skip


def summary(table: pd.DataFrame, values: np.ndarray) -> dict[str, float]:
    """Mean Spearman within data set and architecture, across architectures, and across data sets."""
    return {
        "within": float(np.nanmean(fitting.by_group(table, values, ["data", "architecture"]))),
        "architectures": float(np.nanmean(fitting.by_group(table, values, ["data"]))),
        "across": fitting.spearman(values, table["test"].to_numpy()),
    }


def with_intervals(table: pd.DataFrame, values: np.ndarray) -> dict[str, str]:
    """The same with 90 % intervals: data sets are drawn anew, with all their networks."""
    frame = table.reset_index(drop=True)
    rng = np.random.default_rng(0)
    sets = frame["data"].unique()
    own = {name: np.flatnonzero(frame["data"] == name) for name in sets}
    within = {name: fitting.by_group(frame.iloc[at], values[at], ["data", "architecture"]) for name, at in own.items()}
    whole = {name: fitting.by_group(frame.iloc[at], values[at], ["data"]) for name, at in own.items()}
    test = frame["test"].to_numpy()
    drawn: dict[str, list[float]] = {"within": [], "architectures": [], "across": []}
    for _ in range(DRAWS):
        names = rng.choice(sets, len(sets))
        drawn["within"].append(np.nanmean(np.concatenate([within[name] for name in names])))
        drawn["architectures"].append(np.nanmean(np.concatenate([whole[name] for name in names])))
        at = np.concatenate([own[name] for name in names])
        drawn["across"].append(fitting.spearman(values[at], test[at]))
    centre = summary(frame, values)
    return {
        name: "{:.2f} [{:.2f}, {:.2f}]".format(centre[name], *np.nanquantile(drawn[name], [0.05, 0.95]))
        for name in drawn
    }


def parse(text: str) -> list[float]:
    """The numbers of an interval as it was shown."""
    return [float(part) for part in text.replace("[", "").replace("]", "").replace(",", "").split()]


def by_factor(table: pd.DataFrame, names: list[str]) -> list[dict[str, object]]:
    """For every factor: fitted on other data sets where it has its base value, tried where it alone varies."""
    rows = []
    base = {name: table[name] == value for name, value in measuring.FACTORS.items()}
    for factor in measuring.FACTORS:
        others = np.logical_and.reduce([base[name] for name in base if name != factor])
        values = np.full(len(table), np.nan)
        for data in table["data"].unique():
            train = table[(table["data"] != data) & base[factor]].reset_index(drop=True)
            here = ((table["data"] == data) & others).to_numpy()
            values[here] = fitting.fit(train, fitting.choose(train, names, 2)).logits(table[here])
        least = 2 if table.loc[others, factor].nunique() < 3 else 3
        keys = ["data", "architecture"]
        pairs = pairs_of(table[others].reset_index(drop=True), values[others], keys)
        within = float(np.nanmean(fitting.by_group(table[others], values[others], keys, least)))
        rows.append(
            {
                "factor": factor, "networks": int(others.sum()),
                "within": within if least > 2 else float("nan"),
                "pairs": len(pairs), "right": float(pairs["right"].mean()),
            }
        )  # fmt: skip
    return rows


def figures_by_factor(table: pd.DataFrame, names: list[str]) -> list[dict[str, object]]:
    """For every figure, the share of pairs of one data set and architecture in the right order, by what differs."""
    base = {name: table[name] == value for name, value in measuring.FACTORS.items()}
    rows: list[dict[str, object]] = []
    for name in names:
        row: dict[str, object] = {"figure": name}
        for factor in measuring.FACTORS:
            others = np.logical_and.reduce([base[each] for each in base if each != factor])
            pairs = pairs_of(table[others], table[name].to_numpy()[others], ["data", "architecture"])
            row[factor] = float(pairs["right"].mean()) if len(pairs) else math.nan
        row["all"] = float(pairs_of(table, table[name].to_numpy(), ["data", "architecture"])["right"].mean())
        rows.append(row)
    return sorted(rows, key=lambda row: -abs(float(str(row["all"])) - 0.5))[:16]


def constant_left_out(table: pd.DataFrame) -> np.ndarray:
    """The median accuracy of the other data sets."""
    return np.array([table.loc[table["data"] != data, "test"].median() for data in table["data"]])


def reach_left_out(table: pd.DataFrame, accuracy: np.ndarray) -> tuple[float, float, float, float]:
    """The interval of all data sets; how often one made without a data set held it; its width."""
    frame = table.reset_index(drop=True)
    held, width = np.zeros(len(frame), dtype=bool), np.zeros(len(frame))
    for data in frame["data"].unique():
        own = (frame["data"] == data).to_numpy()
        low, high = fitting.reach(frame[~own], accuracy[~own], LEVEL)
        edges = np.clip(accuracy[own] + low, 0, 1), np.clip(accuracy[own] + high, 0, 1)
        held[own] = (edges[0] <= frame["test"][own]) & (frame["test"][own] <= edges[1])
        width[own] = edges[1] - edges[0]
    return *fitting.reach(frame, accuracy, LEVEL), float(held.mean()), float(width.mean())


# The region: how far a network's figures are from those of the calibration.


def region(table: pd.DataFrame) -> dict[str, Any]:
    """Centre by family, common covariance, and the distance within which 95 % of networks on sets left out lie."""
    centres, inverse = _region(table)
    limit = float(np.quantile(_distances_left_out(table), 0.95))
    return {
        "figures": list(REGION), "centres": {name: [round(x, 4) for x in c] for name, c in centres.items()},
        "inverse": [[round(x, 4) for x in row] for row in inverse.tolist()], "limit": round(limit, 3),
    }  # fmt: skip


def _region(table: pd.DataFrame) -> tuple[dict[str, list[float]], np.ndarray]:
    rows = table[list(REGION)].to_numpy()
    codes, families = pd.factorize(table["family"])
    centres = np.stack([rows[codes == at].mean(axis=0) for at in range(len(families))])
    around = rows - centres[codes]
    covariance = around.T @ around / len(rows)
    shrunk = 0.9 * covariance + 0.1 * np.diag(np.diag(covariance))
    return {name: c.tolist() for name, c in zip(families, centres)}, np.linalg.inv(shrunk)


def _distances_left_out(table: pd.DataFrame) -> np.ndarray:
    far = np.full(len(table), np.inf)
    for data in table["data"].unique():
        own = (table["data"] == data).to_numpy()
        centres, inverse = _region(table[~own])
        for place in np.flatnonzero(own):
            family = table["family"].iloc[place]
            if family in centres:
                away = table[list(REGION)].iloc[place].to_numpy(float) - np.array(centres[family])
                far[place] = math.sqrt(float(away @ inverse @ away))
    return far


def region_left_out(table: pd.DataFrame) -> np.ndarray:
    far = _distances_left_out(table)
    return far <= np.quantile(far, 0.95)


# Orders of two networks.


def pairs_of(table: pd.DataFrame, logits: np.ndarray, keys: list[str]) -> pd.DataFrame:
    """Pairs of networks of one group whose accuracies differ: the gap of their scores, and whether it was right."""
    rows = []
    frame = table.reset_index(drop=True).assign(logit=logits)
    for key, each in frame.groupby(keys):
        test, score = each["test"].to_numpy(), each["logit"].to_numpy()
        first, second = np.triu_indices(len(each), 1)
        gap, apart = score[first] - score[second], test[first] - test[second]
        counted = np.abs(apart) >= APART
        rows.append(pd.DataFrame({"group": str(key), "data": each["data"].iloc[0], "gap": np.abs(gap[counted]),
                                  "right": gap[counted] * apart[counted] > 0}))  # fmt: skip
    return pd.concat(rows, ignore_index=True)


def orders(table: pd.DataFrame, logits: np.ndarray) -> list[dict[str, float]]:
    """Share of pairs in the right order whose gap is at least so large; 90 % interval over data sets; the worst."""
    pairs = {
        "architecture": pairs_of(table, logits, ["data", "architecture"]),
        "data": pairs_of(table, logits, ["data"]),
    }
    rng = np.random.default_rng(0)
    rows = []
    for edge in EDGES:
        row: dict[str, float] = {"gap": edge}
        for kind, frame in pairs.items():
            kept = frame[frame["gap"] >= edge]
            shares = kept.groupby("data")["right"].mean()
            if len(shares) < 3:
                continue
            drawn = [rng.choice(shares.to_numpy(), len(shares)).mean() for _ in range(DRAWS)]
            row |= {f"{kind}_pairs": len(kept), f"{kind}_kept": len(kept) / max(len(frame), 1),
                    f"{kind}_right": round(float(shares.mean()), 3),
                    f"{kind}_low": round(float(np.quantile(drawn, 0.05)), 3),
                    f"{kind}_worst": round(float(shares.min()), 3)}  # fmt: skip
        rows.append(row)
    return rows


# Labelled rows.


def labelled_rows(table: pd.DataFrame, accuracy: np.ndarray) -> dict[str, Any]:
    """The prior that the dataless estimate is, its weight in rows, and what it adds to n labelled rows.

    accuracy ~ Beta(ν m, ν (1 − m)), m the estimate on data sets left out, ν by maximum likelihood on the other data
    sets. Beside it the same prior around a constant. Worth: how many rows more the rows alone would need for the error.
    """
    frame = table.reset_index(drop=True)
    truth = frame["test"].clip(0.005, 0.995).to_numpy()
    middle = np.zeros(len(frame))
    weight = {kind: np.zeros(len(frame)) for kind in ("figures", "constant")}
    for data in frame["data"].unique():
        own = (frame["data"] == data).to_numpy()
        middle[own] = frame.loc[~own].groupby("data")["test"].mean().mean()
        weight["figures"][own] = strength(truth[~own], accuracy[~own], frame["data"][~own])
        weight["constant"][own] = strength(truth[~own], np.full((~own).sum(), middle[own][0]), frame["data"][~own])
    share = 1 / frame.groupby("data")["test"].transform("size").to_numpy()
    share = share / share.sum()
    rows = []
    for n in ROWS:
        right = np.arange(n + 1)
        row: dict[str, float] = {"rows": n}
        chance = special.comb(n, right)[None] * truth[:, None] ** right * (1 - truth[:, None]) ** (n - right)
        variants = {
            "alone": (right[None] + 0.5) / (n + 1) + 0 * truth[:, None],
            "constant": (right[None] + (weight["constant"] * middle)[:, None]) / (n + weight["constant"])[:, None],
            "figures": (right[None] + (weight["figures"] * accuracy)[:, None]) / (n + weight["figures"])[:, None],
        }
        for kind, value in variants.items():
            row[f"{kind}_error"] = float(np.sqrt((share[:, None] * chance * (value - truth[:, None]) ** 2).sum()))
        for kind, prior, pull in (
            ("alone", np.full(len(truth), 0.5), np.ones(len(truth))), ("figures", accuracy, weight["figures"])
        ):  # fmt: skip
            a = right[None] + (pull * prior)[:, None]
            b = n - right[None] + (pull * (1 - prior))[:, None]
            low, high = special.betaincinv(a, b, 0.05), special.betaincinv(a, b, 0.95)
            inside = (low <= truth[:, None]) & (truth[:, None] <= high)
            row[f"{kind}_held"] = float((share[:, None] * chance * inside).sum())
            row[f"{kind}_width"] = float((share[:, None] * chance * (high - low)).sum())
        spread = float((share * truth * (1 - truth)).sum())
        row["worth"] = spread / row["figures_error"] ** 2 - spread / row["alone_error"] ** 2
        row["worth_of_constant"] = spread / row["constant_error"] ** 2 - spread / row["alone_error"] ** 2
        rows.append({name: round(value, 3) for name, value in row.items()})
    strengths = {
        "figures": strength(truth, accuracy, frame["data"]),
        "constant": strength(truth, np.full(len(truth), float(np.average(truth, weights=share))), frame["data"]),
    }
    return {
        "table": rows,
        "prior": {"mean": round(float(np.average(truth, weights=share)), 3),
                  **{name: round(value, 2) for name, value in strengths.items()}},
    }  # fmt: skip


def strength(truth: np.ndarray, middle: np.ndarray, data: pd.Series) -> float:
    """ν of Beta(ν m, ν (1 − m)) that fits the truths best; every data set counts alike."""
    share = 1 / data.groupby(data).transform("size").to_numpy()
    middle = np.clip(middle, 0.02, 0.98)

    def loss(log: float) -> float:
        a, b = math.exp(log) * middle, math.exp(log) * (1 - middle)
        terms = (a - 1) * np.log(truth) + (b - 1) * np.log1p(-truth) - special.betaln(a, b)
        return -float((share * terms).sum())

    return float(math.exp(optimize.minimize_scalar(loss, bounds=(-2, 6), method="bounded").x))


if __name__ == "__main__":
    main()
