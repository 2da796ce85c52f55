import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import InputError


@pytest.fixture(scope="module")
def swept():
    X, y = load_breast_cancer(return_X_y=True)
    return classay.sweep(DecisionTreeClassifier(), X, y, "max_depth", [1, 2, 4, 8], classay.Subsets(8), 2, executor=1)


def test_one_row_a_data_set_and_estimate(swept):
    found = classay.gap_correlations({"cancer": swept, "again": swept})
    table = found.to_frame()
    assert table["data"].tolist() == ["cancer", "again"] * 2
    assert found.corrected["cancer"] == swept.gap_correlation
    assert found.plain["again"] == swept.plugin_gap_correlation
    gaps = [swept.gap(value).value for value in swept.values]
    assert found.largest_gap["cancer"] == pytest.approx(max(gaps))
    assert "of 2 data sets" in str(found)


@pytest.mark.parametrize("sweeps", [{}, [1], {"a": 1}])
def test_only_sweeps(sweeps):
    with pytest.raises(InputError, match="sweep"):
        classay.gap_correlations(sweeps)
