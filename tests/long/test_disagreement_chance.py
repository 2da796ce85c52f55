"""How often chance alone is reported as a region of disagreement, by simulation. Run with `make long`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import classay
from classay import Labelings

RUNS = 200


def mixed(n, rng):
    table = pd.DataFrame({f"x{place}": rng.uniform(-1, 1, n) for place in range(5)})
    table["near_x0"] = table.x0 + 0.3 * rng.normal(size=n)
    table["job"] = rng.choice(list("abcdef"), n)
    return table


def coins(table, units, rng):
    """Answers without any structure."""
    return (rng.random((units, len(table))) < 0.2).astype(int)


def stripes(table, units, rng):
    """Each refit has stripes in two columns at a random place: neighbouring points share what it does.

    The phase is uniform, so two refits differ with the same chance at every point.
    """
    phase = rng.uniform(0, 2 * np.pi, (units, 1))
    return (np.sin(5 * table.x0.to_numpy() + 3 * table.x1.to_numpy() + phase) > 0).astype(int)


def flips(table, units, rng):
    """Half of the refits say the opposite of the others, everywhere."""
    base = (table.x0.to_numpy() > 0).astype(int)
    return base ^ (rng.random((units, 1)) < 0.3)


@pytest.mark.parametrize("world", [coins, stripes, flips])
@pytest.mark.parametrize("halves", [True, False])
@pytest.mark.parametrize(("units", "n"), [(50, 1000), (16, 400), (100, 3000)])
def test_nothing_to_find(world, halves, units, n):
    runs = 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        table = mixed(n, rng)
        labels = world(table, units, rng)
        record = Labelings.from_arrays(labels, labels[0], classes=[0, 1], halves=halves)
        runs += len(classay.stability(record).regions(table, random_state=seed).regions) > 0
    kind = "halves" if halves else "subsets"
    print(f"{world.__name__}, {units} {kind}, {n} points: a discovery in {runs / RUNS:.1%} of runs")
    assert runs <= 0.05 * RUNS + 2 * np.sqrt(0.05 * 0.95 * RUNS)


def test_a_region_is_found_and_its_rate_held():
    held, found_it = 0, 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        table = mixed(2000, rng)
        where = (table.x0 > 0.5) & (table.x1 < 0)
        labels = (rng.random((50, 2000)) < np.where(where, 0.4, 0.05)).astype(int)
        record = Labelings.from_arrays(labels, labels[0], halves=True)
        regions = classay.stability(record).regions(table, random_state=seed).regions
        if regions and set(regions[0].features) == {"x0", "x1"}:
            found_it += 1
            inside = regions[0].rows(table)
            truth = np.where(where, 2 * 0.4 * 0.6, 2 * 0.05 * 0.95)[inside].mean()
            held += regions[0].rate.low <= truth <= regions[0].rate.high
    print(f"planted region found in {found_it / RUNS:.1%}, its rate held in {held / max(found_it, 1):.1%}")
    assert found_it >= 0.95 * RUNS
    assert held >= 0.92 * found_it
