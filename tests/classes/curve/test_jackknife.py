"""Standard errors over the choice of classes."""

import numpy as np
import pytest

from classay.classes.curve.jackknife import MOST_PAIRS, group_pairs, jackknife_error, leave_groups_out, paired_error
from classay.classes.ranks.ranks import Ranks


def accuracy(evidence):
    return float(evidence.accuracy([evidence.n_classes])[0])


def plain_error(ranks):
    return jackknife_error(np.array([accuracy(part) for part in leave_groups_out(ranks)]), np.bincount(ranks.group))


def neighbours(n_classes, rows, seed=0):
    """Rows of classes on a line: who is right hangs on who is near."""
    rng = np.random.default_rng(seed)
    centres, y = rng.normal(size=n_classes), np.repeat(np.arange(n_classes), rows)
    return -np.abs((centres[y] + 0.2 * rng.normal(size=y.size))[:, None] - centres), y


def test_a_mean_over_classes_has_nothing_in_pairs():
    # Classes that beat all others or none, whoever is there: accuracy is the share of the first.
    beats = np.arange(30) % 3 > 0
    scores = np.where(np.eye(30, dtype=bool), np.where(beats, 1.0, -1.0), 0.0)
    ranks = Ranks.from_scores(scores, np.arange(30))
    share = beats.mean()
    assert paired_error(ranks, accuracy) == pytest.approx(np.sqrt(share * (1 - share) / 29), rel=1e-9)


def test_pairs_are_not_counted_twice():
    ranks = Ranks.from_scores(*neighbours(30, 4))
    plain = plain_error(ranks)
    assert np.sqrt(0.5) * plain <= paired_error(ranks, accuracy) < 0.97 * plain


def test_nothing_varies():
    ranks = Ranks.from_scores(np.eye(12), np.arange(12))
    assert paired_error(ranks, accuracy) == 0


def test_three_classes():
    ranks = Ranks.from_scores(*neighbours(3, 5))
    assert paired_error(ranks, accuracy) == pytest.approx(plain_error(ranks))


def test_pairs_of_groups():
    assert len(group_pairs(5)) == 10
    many = group_pairs(40)
    assert len(many) == len(np.unique(many, axis=0)) == MOST_PAIRS
    assert (many[:, 0] < many[:, 1]).all()
    assert np.array_equal(many, group_pairs(40))
