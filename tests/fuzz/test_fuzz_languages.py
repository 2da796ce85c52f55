"""The small languages of options and check files: any text is understood, or refused with a reason, at once."""

import os
import sys

import pandas as pd
import pytest
from fuzzing import accepts_or_refuses, examples
from hypothesis import given
from hypothesis import strategies as st

from classay import expect
from classay.cli.commands.classes import sizes_of
from classay.cli.commands.drift import natural
from classay.cli.commands.sweep import values_from_text
from classay.cli.inputs import read_normalization, read_shape
from classay.estimators.spec import learners_from_texts, regressor_from_text
from classay.expect import within
from classay.learner.preference.concepts import attributes, columns_named, concept
from classay.network.files.checkpoint import parse_architecture
from classay.report.gates.gate import ban_from, gate_from
from classay.report.run.settings import seconds_of
from classay.tables.expressions import compare

FRAME = pd.DataFrame(
    {
        "a": [1, 2, 3, 4],
        "b c": ["x", "y", None, "é"],
        "t": pd.to_datetime(["2026-01-01"] * 4),
        "ok": [True, False] * 2,
    }
)


def limit_in(text):
    """A limit, as raised by a text in the environment."""
    os.environ[expect.VARIABLE] = text.replace("\0", "").encode("utf-8", "replace").decode()
    try:
        return within(3, "subsets", "It")
    finally:
        del os.environ[expect.VARIABLE]


LANGUAGES = {
    "learner": (
        lambda text: learners_from_texts([text]),
        ["DecisionTreeClassifier(max_depth=3)", "make_pipeline(StandardScaler(), SVC(C=1e3, kernel='rbf'))"],
        ["tree", "=", "LogisticRegression", "class_weight", "{0: 1}", "memory", "estimator", "[1, 2]", "lambda: 1"],
    ),
    "two learners": (
        lambda text: learners_from_texts([text, "tree=DecisionTreeClassifier"]),
        ["VotingClassifier(estimators=[('a', GaussianNB()), ('b', SVC())])", "tree=GaussianNB"],
        ["StackingClassifier", "n_jobs", "**", "f''", "x.y", "os:system", "cv=5"],
    ),
    "regressor": (regressor_from_text, ["KernelRidge(alpha=10)", "Ridge"], ["SVR", "kernel", "'rbf'", "coef_"]),
    "condition": (
        lambda text: compare(text, FRAME),
        ["a > 1 and `b c` == 'x'", "1 < a <= 3 or not ok", "t >= '2026-01-01'", "a % 2 == 1", "ok"],
        ["a", "`b c`", "ok", "t", "is", "None", "in", "('x', 'y')", "+", "*", "!=", "lambda", "if", "else", ":="],
    ),
    "concept": (
        lambda text: concept(text, "concept", attributes(columns_named(text) or 2)),
        ["x0 > 0.5", "x0 > 0.5 and x1 < 0.2", "not x1 == 1"],
        ["x0", "x1", "x9", "x-1", "x99999999999", "or", ">", "0.5", "inf", "nan"],
    ),
    "gate": (gate_from, ["accuracy >= 0.9", "stability of tree >= 0.5", "bias < 1e-3"], ["of", "learner", "<", "%"]),
    "ban": (ban_from, ["L101", "L101 of tree"], ["D2", "warning", "of"]),
    "values": (values_from_text, ["1,2,3", "1:200:5", "1e-3,1e-2", "gini,entropy", "0.1:1:0.1"], [":", ",", "None"]),
    "time": (seconds_of, ["90s", "2m", "1h", "1h30m", "0.5h"], ["s", "m", "d", "ms", "-"]),
    "shape": (read_shape, ["3x32x32", "784", "1×6×6"], ["x", "×", ","]),
    "normalization": (lambda text: read_normalization(text, text), ["0.5", "0.485,0.456,0.406"], [",", ";"]),
    "sizes": (lambda text: sizes_of(text.split()), ["10 20", "1,2,3", "1_000"], ["_"]),
    "architecture": (
        parse_architecture,
        ["timm:resnet18", "torchvision:resnet18(num_classes=3)", "timm:vit(depth=2, a='b')"],
        ["timm", "torchvision", "os", ":", "system", ".", "__import__"],
    ),
    "file name": (natural, ["batch10.csv", "2026-01-02.csv"], ["9", "batch", "."]),
    "limits": (limit_in, ["subsets=5", "rows=10,columns=3"], ["subsets", "=", "cell_characters"]),
}
"""Name -> the reader, texts that are in order, and words of the language."""
COMMON = [*"()[]{},=", "==", *"'\"`\\:;#\n\t\0", "\x1b[31m", "0", "1", "-1", "1e999", "-inf", "nan", "9" * 25]
COMMON += ["9" * 5000, "0x10", "1_0", "½", "é", "\u202e", "\ud800", "𝟙"]
COMMON += ["(" * 300, "[" * 3000, "not " * 500, "-" * 3000, "a" * 3000, "1+" * 3000, "x." * 2000, "and " * 50]


@pytest.mark.slow
@pytest.mark.parametrize("name", LANGUAGES)
def test_any_text(name):
    reader, right, words = LANGUAGES[name]
    for text in right:
        accepts_or_refuses(reader, text)
    word = st.one_of(st.sampled_from(words), st.sampled_from(COMMON), st.text(max_size=4), st.just(" "))
    cut = st.tuples(st.sampled_from(right), st.integers(0, 40), st.integers(0, 40), word)
    texts = st.one_of(
        st.lists(word, max_size=8).map("".join),
        cut.map(lambda parts: parts[0][: parts[1]] + parts[3] + parts[0][parts[2] :]),
        st.text(max_size=30),
    )

    @examples(80)
    @given(texts)
    def check(text):
        accepts_or_refuses(reader, text)

    check()


def test_no_text_imports_a_module():
    before = set(sys.modules)
    for text in ("antigravity:x", "turtle:Pen()", "this", "timm:x(__import__('antigravity'))"):
        for name in ("learner", "condition", "architecture", "regressor"):
            accepts_or_refuses(LANGUAGES[name][0], text)
    assert not {"antigravity", "turtle", "this"} & (set(sys.modules) - before)
