"""Agreement of two concepts: exact on small discrete spaces, sampled elsewhere."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from classay import InputError, agreement

LETTERS = {"a": "bool", "b": "bool", "c": "bool"}
FORMULAS = [
    "a",
    "not a",
    "a and b",
    "a or b",
    "not (not a or not b)",
    "(a and b) or c",
    "(a or c) and (b or c)",
    "c or b and a",
]


def test_theorem_1_agreement_is_1_for_equivalent_formulas_and_for_no_others():
    worlds = list(itertools.product([False, True], repeat=3))
    tables = {text: [eval(text, {}, dict(zip("abc", world))) for world in worlds] for text in FORMULAS}
    for one, two in itertools.product(FORMULAS, repeat=2):
        found = agreement(one, two, LETTERS)
        overlap = np.mean(np.array(tables[one]) == np.array(tables[two]))
        assert (found.value, found.low, found.high) == pytest.approx((overlap,) * 3)
        assert (found.value > 1 - 1e-9) == (tables[one] == tables[two])
        assert found.kind == "exact, over all points"


def test_categories_are_enumerated_and_unequal_sizes_count_right():
    space = {"hue": ["red", "blue", "green"], "wet": "bool"}
    assert agreement("hue == 'red'", "hue == 'red' and wet", space).value == pytest.approx(5 / 6)


def test_other_spaces_are_sampled_with_an_interval():
    found = agreement("x0 > 0.5", "x0 > 0.25", n_probes=4000)
    assert found.low < 0.75 < found.high
    assert found.high - found.low < 0.04
    mixed = agreement("heat > 50", "heat > 50 and wet", {"heat": (0, 100), "wet": "bool"})
    assert mixed.low < 0.75 < mixed.high
    many = agreement("c0", "c1", {f"c{place}": "bool" for place in range(21)}, n_probes=500)
    assert many.kind == "of a proportion, over 500 uniform comparison points"


def test_rows_classifiers_and_numbers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(300)})
    X["b"] = X["a"]
    trees = [DecisionTreeClassifier(max_depth=1, random_state=seed).fit(X, X["a"] > 0.5) for seed in (0, 1)]
    assert agreement("a > 0.5", "b > 0.5", X, probes="data").value == 1.0  # together in the data
    assert agreement("a > 0.5", "b > 0.5", X).value == pytest.approx(0.5, abs=0.03)  # not on the attribute space
    assert agreement(trees[0], trees[1], X, probes="data").value == 1.0
    near = agreement(lambda rows: rows[:, 0], lambda rows: rows[:, 0] + 0.1, 1, tolerance=0.2)
    with pytest.raises(InputError, match=r"returns numbers such as .* and `tolerance` is missing"):
        agreement(lambda rows: rows[:, 0], lambda rows: rows[:, 0] + 1e-12, 1)
    far = agreement(lambda rows: rows[:, 0], lambda rows: rows[:, 0] + 0.1, 1, tolerance=0.05)
    assert (near.value, far.value) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("a", "b"), "`attributes` is missing"),
        (("a and", "b", LETTERS), "a and"),
        (("a", "d", LETTERS), "d"),
        (("x0 > 0.5", lambda rows: np.full(len(rows), "yes"), 1), "the same class names in both"),
        (("a", 5, LETTERS), "expected an expression"),
    ],
)
def test_mistakes(given, said):
    with pytest.raises(InputError, match=said):
        agreement(*given)
    with pytest.raises(InputError, match="tolerance"):
        agreement("a", "b", LETTERS, tolerance=-1)
