"""Every command with odd values of its options: done or refused, without a traceback, a hang or a control character."""

import re
import shutil
import warnings

import numpy as np
import pandas as pd
import pytest
from fuzzing import ends, examples
from hypothesis import given
from hypothesis import strategies as st

from classay.cli.app import load, run

BAYES = ["--learner", "GaussianNB", "--workers", "1"]
CHECK = """
data = "rows.csv"
splits = 2
repeats = 1
n_probes = 20
gates = ["accuracy >= 0.1"]
learners = {nb = "GaussianNB"}
"""
BASES = {
    "report": ["rows.csv", *BAYES, "--splits", "2", "--repeats", "1", "--n-probes", "20", "-o", "page.json", "--force"],
    "check": ["check.toml", "--workers", "1"],
    "learner": ["rows.csv", *BAYES, "--samples", "4", "--holdouts", "5"],
    "sweep": ["rows.csv", *BAYES, "--samples", "4", "--param", "var_smoothing", "--values", "1e-9,1e-3"],
    "drift": ["rows.csv", "more.csv", *BAYES, "--n-probes", "20", "--rate", "0.2", "--draws", "20"],
    "data": ["rows.csv"],
    "network": ["head.npz", "--weights-only"],
    "classes": ["scores.npz"],
    "identify": ["stimuli.npy", "responses.npy"],
    "runs": ["store"],
}
NOT_FUZZED = {"help", "debug", "mlflow", "allow_import", "scheduler", "install_completion", "show_completion"}
"""--debug shows tracebacks; the others reach out of the folder, and have tests of their own."""
ODD = ["", " ", "0", "1", "-1", "0.5", "1e9", "-1e-9", "1e999", "nan", "-inf", "9" * 25, "9" * 5000]
ODD += ["½", "é", "\u202e", "\ud800", "a,b", "x=1", "1:2:3", "..", ".", "/", "no/such/folder/file.csv", "\x1b[31m"]
ODD += ["None", "'", "[]", "(", "a\nb", "heat", "kind", "rows.csv", "scores.npz", "head.npz", "check.toml", "store"]
ODD += ["GaussianNB", "x0 > 0.5", "-", "--", "a" * 3000]
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Small files of every kind, in the folder in which the commands run."""
    place = tmp_path / "deep" / "inside"
    place.mkdir(parents=True)
    monkeypatch.chdir(place)
    rng = np.random.default_rng(0)
    for name, rows in (("rows", 90), ("more", 25)):
        table = pd.DataFrame(rng.normal(size=(rows, 2)), columns=["heat", "time"])
        table["plant"] = rng.choice(["Ulm", "Graz"], rows)
        table["kind"] = np.where(table.heat + 0.3 * rng.normal(size=rows) > 0, "yes", "no")
        table.to_csv(f"{name}.csv", index=False)
    (place / "check.toml").write_text(CHECK)
    (place / "store").mkdir()
    np.savez("scores.npz", scores=rng.normal(size=(24, 6)) + 2 * np.tile(np.eye(6), (4, 1)), y=np.arange(24) % 6)
    np.savez("head.npz", weight=rng.normal(size=(3, 8)), bias=np.zeros(3))
    np.save("stimuli.npy", rng.normal(size=(30, 3)))
    np.save("responses.npy", np.load("stimuli.npy") @ rng.normal(size=(3, 4)) + rng.normal(size=(30, 4)))
    before = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}

    def again():
        """Undo what a command wrote."""
        for path in place.iterdir():
            if path.is_dir() and path.name != "store":
                shutil.rmtree(path)
            elif path.is_file() and path.name not in before:
                path.unlink()
        for name, content in before.items():
            (place / name).write_bytes(content)

    return again


def names_of(name):
    """The options of a command, each with whether it takes a value; arguments as None."""
    found = []
    for each in load(name).params:
        if each.name not in NOT_FUZZED:
            flag = getattr(each, "is_flag", False)
            found.append((None if each.param_type_name == "argument" else each.opts[0], not flag))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", BASES)
def test_odd_values(name, folder, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    options = names_of(name)
    picked = st.lists(st.tuples(st.sampled_from(options), st.sampled_from(ODD)), min_size=1, max_size=2)

    @examples(8 if name == "report" else 20)
    @given(picked)
    def check(changes):
        words = [name, *BASES[name]]
        for (option, takes_value), value in changes:
            if option is None:
                words[1 : 1 + (len(words) > 1)] = [value]
            else:
                words += (
                    [f"{option}={value}" if option.startswith("--") else option + value] if takes_value else [option]
                )
        with warnings.catch_warnings(), ends():
            warnings.simplefilter("ignore")
            code = run(words)
        shown = capsys.readouterr()
        assert code in (0, 1, 2, 3), f"{words}: {code}\n{shown.err}"
        assert "Traceback" not in shown.err, words
        assert not CONTROL.search(shown.err), words
        if "--json" not in words:
            assert not CONTROL.search(shown.out), words
        folder()

    check()
