"""How often chance alone is reported as a slice, by simulation. Run with `make long`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from classay.data.model.error_slices import slices

RUNS = 200


def mixed(n, rng):
    table = pd.DataFrame({f"x{place}": rng.normal(size=n) for place in range(6)})
    table["near_x0"] = table.x0 + 0.3 * rng.normal(size=n)
    table["job"] = rng.choice(list("abcdef"), n)
    table["visits"] = rng.poisson(2, n)
    table["x3"] = table.x3.where(rng.random(n) > 0.1)
    return table


def categories(n, rng):
    """One column whose slices exclude each other, so that their tests depend negatively."""
    return pd.DataFrame({"job": rng.choice(list("abcdef"), n)})


def ties(n, rng):
    return pd.DataFrame({f"c{place}": rng.integers(0, 3, n) for place in range(10)}).assign(vip=rng.random(n) < 0.5)


def classes(n, rng):
    """The same ten classes as text and as ten columns of True and False."""
    label = rng.integers(0, 10, n)
    return pd.DataFrame({f"is{code}": label == code for code in range(10)}).assign(label=label.astype(str))


@pytest.mark.parametrize("made", [categories, ties, classes])
def test_pure_noise_in_discrete_columns(made):
    runs = 0
    for seed in range(5 * RUNS):
        rng = np.random.default_rng(100_000 + seed)
        runs += len(slices(made(3000, rng), rng.random(3000) < 0.3, random_state=seed).slices) > 0
    print(f"noise, {made.__name__}: a discovery in {runs / RUNS / 5:.1%} of runs")
    assert runs <= stats.binom.ppf(0.99, 5 * RUNS, 0.05)


@pytest.mark.parametrize(("n", "rate"), [(500, 0.1), (2000, 0.03), (2000, 0.3), (10000, 0.1)])
def test_pure_noise(n, rate):
    runs = 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        runs += len(slices(mixed(n, rng), rng.random(n) < rate, random_state=seed).slices) > 0
    print(f"noise, {n} rows, rate {rate}: a discovery in {runs / RUNS:.1%} of runs")
    assert runs <= 0.05 * RUNS


def test_p_values_of_what_was_most_searched_for_are_uniform():
    """The first candidate is the most searched for; on the rows tested it must be as any other."""
    p_values = []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        tested = slices(mixed(1000, rng), rng.random(1000) < 0.3, random_state=seed).tested
        p_values.append(tested.p_value.iloc[len(tested) // 2])
    share = np.mean(np.array(p_values) < 0.1)
    print(f"p-values of the middle candidate: mean {np.mean(p_values):.2f}, below 0.1 in {share:.1%} of runs")
    assert share < 0.15
    assert 0.4 < np.mean(p_values) < 0.7


def test_beside_a_true_slice():
    """With one true slice, the false-discovery rate counts only those whose rows have no excess."""
    share, found_it, held = [], 0, []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        table = mixed(4000, rng)
        chance = np.where(table.x1 > 1, 0.4, 0.1)
        found = slices(table, rng.random(4000) < chance, random_state=seed)
        excess = [chance[found.rows(i)].mean() - chance[~found.rows(i)].mean() for i in range(len(found.slices))]
        share.append(np.mean([each <= 0.02 for each in excess]) if excess else 0.0)
        found_it += any(each.features == ("x1",) for each in found.slices)
        held += [
            each.rate.low <= chance[found.rows(i)].mean() <= each.rate.high
            for i, each in enumerate(found.slices)
            if each.features == ("x1",)
        ]
    print(f"one true slice: found in {found_it / RUNS:.1%}, false share {np.mean(share):.1%}, held {np.mean(held):.1%}")
    assert found_it >= 0.95 * RUNS
    assert np.mean(share) <= 0.05
    assert np.mean(held) >= 0.92
