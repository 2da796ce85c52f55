"""Parts of unfinished work that were damaged, cut, swapped or replaced: each is reported, set aside and made again."""

import random
import shutil
import warnings

import numpy as np
import pytest
from fuzzing import EFFORT
from sklearn.tree import DecisionTreeClassifier

from classay import Subsets, record
from classay.engine.store import UNFINISHED, DamagedRecordWarning

PARTS = 100
RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(80, 3)), np.arange(80) % 2
LEARNER = DecisionTreeClassifier(max_features=1, max_depth=3)
FEW = {"scheme": Subsets(PARTS), "repeats": 2, "random_state": 0, "executor": 1}


class Stopped(BaseException):
    """A crash in the last moment."""


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory):
    """A store with all parts of a record that was never finished, and the record."""
    from classay.learner.fitting.runner import Recorder

    folder = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:

        def crash(*_, **__):
            raise Stopped

        patch.setattr(Recorder, "keep", crash)
        with pytest.raises(Stopped):
            record(LEARNER, X, Y, store=folder, **FEW)
    parts = sorted((folder / UNFINISHED).glob("*/*.classay"))
    assert len(parts) == PARTS
    return folder, record(LEARNER, X, Y, **FEW)


def damage(paths, chance):
    """Damage files, each in a random way; return how many changed."""
    changed = 0
    for path in paths:
        content = path.read_bytes()
        place = chance.randrange(len(content))
        kinds = {
            "flip": content[:place] + bytes([content[place] ^ (1 << chance.randrange(8))]) + content[place + 1 :],
            "cut": content[:place],
            "zeros": content[:place] + bytes(min(64, len(content) - place)) + content[place + 64 :],
            "empty": b"",
            "other": b"PK\x03\x04" + chance.randbytes(200),
            "swapped": chance.choice(paths).read_bytes(),
        }
        new = kinds[chance.choice(sorted(kinds))]
        path.write_bytes(new)
        changed += new != content
    return changed


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1 if EFFORT == 1 else 5))
def test_damaged_parts_are_made_again(unfinished, tmp_path, seed):
    folder, whole = unfinished
    shutil.copytree(folder, tmp_path / "store")
    parts = sorted((tmp_path / "store" / UNFINISHED).glob("*/*.classay"))
    assert damage(parts, random.Random(seed)) >= len(parts) // 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        again = record(LEARNER, X, Y, store=tmp_path / "store", **FEW)
    assert (again.labels == whole.labels).all()
    assert {each.category for each in caught} == {DamagedRecordWarning}
    assert not (tmp_path / "store" / UNFINISHED).exists()
