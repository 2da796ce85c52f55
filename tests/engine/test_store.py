"""Records on disk: what goes in comes out, damage is always noticed, and a file is whole or not there."""

import errno
import json
import multiprocessing
import os
import pickle
import resource
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from classay.engine import archive, store
from classay.engine.store import RecordError, Store, inventory
from classay.expect import InputError

HEADER = {"learner": "DecisionTreeClassifier", "params": {"max_depth": 3}, "seed": 0, "missing": None}
ARRAYS = {
    "labels": np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
    "seconds": np.array([0.5, np.nan, np.inf]),
    "classes": np.array(["ham", "späm"]),
}


def same(left, right):
    assert left.keys() == right.keys()
    for name in left:
        assert left[name].dtype == right[name].dtype
        np.testing.assert_array_equal(left[name], right[name])


@pytest.fixture
def path(tmp_path):
    return store.write(tmp_path / "one.classay", "labelings", HEADER, ARRAYS)


def test_what_was_written_is_read(path):
    header, arrays = store.read(path, "labelings")
    same(arrays, ARRAYS)
    assert {name: header[name] for name in HEADER} == HEADER
    assert header["format"] == "classay"
    assert header["schema"] == store.SCHEMA
    assert header["kind"] == "labelings"
    assert header["versions"]["numpy"] == np.__version__
    assert set(header["versions"]) == {"python", "classay", "numpy", "scipy", "scikit-learn", "pandas"}
    assert store.read_header(path) == header


def test_numpy_opens_it_and_the_header_comes_first(path):
    with np.load(path, allow_pickle=False) as opened:
        np.testing.assert_array_equal(opened["labels"], ARRAYS["labels"])
    with zipfile.ZipFile(path) as opened:
        assert opened.namelist()[0] == "header.json"


DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(),
    hnp.floating_dtypes(endianness="?"),
    hnp.complex_number_dtypes(),
    hnp.unicode_string_dtypes(min_len=1),
    hnp.byte_string_dtypes(min_len=1),
    hnp.datetime64_dtypes(),
)
ANY_ARRAY = hnp.arrays(dtype=DTYPES, shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))


@settings(max_examples=30)
@given(st.dictionaries(st.sampled_from(["a", "b", "c d", "é", "header"]), ANY_ARRAY, max_size=3))
def test_any_array_survives(tmp_path_factory, arrays):
    folder = tmp_path_factory.mktemp("any")
    one = store.write(folder / "1", "any", {}, arrays)
    two = store.write(folder / "2", "any", {}, dict(reversed(arrays.items())))
    same(store.read(one)[1], {name: np.asarray(array) for name, array in arrays.items()})
    assert one.read_bytes() == two.read_bytes()


def test_the_same_record_gives_the_same_bytes_whatever_the_memory_layout(path, tmp_path):
    turned = {name: np.asfortranarray(array) for name, array in ARRAYS.items()}
    again = store.write(tmp_path / "two", "labelings", dict(reversed(HEADER.items())), turned)
    assert again.read_bytes() == path.read_bytes()


def test_a_file_cut_off_anywhere_is_a_record_error(path, tmp_path):
    whole = path.read_bytes()
    for length in [*range(0, len(whole), 7), len(whole) - 1]:
        cut = tmp_path / "cut"
        cut.write_bytes(whole[:length])
        for reader in (store.read, store.read_header):
            with pytest.raises(RecordError, match="cut"):
                reader(cut)


def test_a_flipped_bit_is_noticed_or_harmless(path, tmp_path):
    """Some bits of a zip archive mean nothing (dates, for one). Contents are never silently different."""
    whole, (header, _) = path.read_bytes(), store.read(path)
    altered = tmp_path / "altered"
    noticed = 0
    for position in range(len(whole)):
        flipped = bytearray(whole)
        flipped[position] ^= 1 << position % 8
        altered.write_bytes(flipped)
        try:
            header_now, arrays_now = store.read(altered)
        except RecordError:
            noticed += 1
        else:
            assert header_now == header
            same(arrays_now, ARRAYS)
    assert noticed > len(whole) / 2


def remade(path, tmp_path, members):
    """A copy of a record with some members replaced (bytes) or left out (None), with valid zip sums."""
    copy = tmp_path / "remade"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w") as new:
        for name in old.namelist():
            content = members.get(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return copy


def test_other_arrays_names_types_or_shapes_fail_the_checksum(tmp_path):
    path = store.write(tmp_path / "x", "any", {}, {"a": np.arange(6), "b": np.arange(6).reshape(2, 3)})
    with zipfile.ZipFile(path) as opened:
        a, b = opened.read("a.npy"), opened.read("b.npy")
    zeros = b.replace(np.arange(6).tobytes(), np.zeros(6, int).tobytes())
    swapped, retyped = {"a.npy": b, "b.npy": a}, {"b.npy": a.replace(b"<i8", b"<u8")}
    for members in (swapped, retyped, {"a.npy": b}, {"b.npy": zeros}, {"b.npy": None}):
        with pytest.raises(store.DamagedRecord, match="checksum"):
            store.read(remade(path, tmp_path, members))


def test_a_pickled_member_is_never_loaded(path, tmp_path):
    marker = tmp_path / "harm"

    class Harm:
        def __reduce__(self):
            return os.mkdir, (str(marker),)

    bare = pickle.dumps(Harm())
    with open(tmp_path / "object.npy", "wb") as file:
        np.lib.format.write_array(file, np.array([Harm()], dtype=object), allow_pickle=True)
    for harmful in (bare, (tmp_path / "object.npy").read_bytes()):
        with pytest.raises(store.DamagedRecord):
            store.read(remade(path, tmp_path, {"seconds.npy": harmful}))
    assert not marker.exists()


def test_a_member_that_claims_a_huge_size_is_refused(path, tmp_path):
    with zipfile.ZipFile(path) as opened:
        liar = opened.read("seconds.npy").replace(b"(3,), }         ", b"(3333333333333,)")
    assert b"(3333333333333,)" in liar
    with pytest.raises(store.DamagedRecord):
        store.read(remade(path, tmp_path, {"seconds.npy": liar}))


def test_foreign_and_missing_files(path, tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a record")
    np.savez(tmp_path / "plain.npz", a=np.zeros(3))
    with pytest.raises(store.DamagedRecord, match="not a record"):
        store.read(text)
    with pytest.raises(store.DamagedRecord, match=r"no header\.json"):
        store.read(tmp_path / "plain.npz")
    with pytest.raises(store.MissingRecord, match="no file"):
        store.read(tmp_path / "nothing")
    with pytest.raises(RecordError, match="one file"):
        store.read(tmp_path)
    for wrong in (b"{", b"[]", b"\xff\xfe", b'{"format": "other"}', b"[" * 100_000):
        with pytest.raises(store.DamagedRecord, match=r"header\.json"):
            store.read(remade(path, tmp_path, {"header.json": wrong}))
    header = {name: value for name, value in store.read_header(path).items() if name != "checksum"}
    with pytest.raises(store.DamagedRecord, match="lacks checksum"):
        store.read(remade(path, tmp_path, {"header.json": json.dumps(header)}))


def test_a_newer_schema_and_another_kind_say_so(path, tmp_path):
    newer = {**store.read_header(path), "schema": store.SCHEMA + 1}
    with pytest.raises(RecordError, match=r"another classay \(schema 2; this one reads 1\)"):
        store.read(remade(path, tmp_path, {"header.json": json.dumps(newer)}))
    with pytest.raises(RecordError, match="kind 'labelings'; expected 'ranks'"):
        store.read(path, "ranks")


@pytest.mark.parametrize("array", [np.array(["a", None]), np.zeros(2, dtype=[("a", int), ("b", object)]), [{"a": 1}]])
def test_objects_are_refused(tmp_path, array):
    with pytest.raises(InputError, match=r"'bad' contains Python objects.*astype"):
        store.write(tmp_path / "x", "any", {}, {"bad": array})
    assert not list(tmp_path.iterdir())


def test_bad_headers_and_names_are_refused(tmp_path):
    for header in ({"a": float("nan")}, {"a": {1, 2}}, {"a": np.int64(1)}):
        with pytest.raises(InputError, match="JSON"):
            store.write(tmp_path / "x", "any", header, {})
    with pytest.raises(InputError, match="checksum"):
        store.write(tmp_path / "x", "any", {"checksum": "0"}, {})
    for name in ("", "a/b", "a\0b"):
        with pytest.raises(InputError, match="called"):
            store.write(tmp_path / "x", "any", {}, {name: np.zeros(1)})
    with pytest.raises(InputError, match="cannot be written"):
        store.write(tmp_path / "no" / "folder" / "x", "any", {}, {})
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_the_old_record_and_nothing_else(path, tmp_path, monkeypatch):
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(archive.os, "fsync", full)
    with pytest.raises(OSError, match="the disk is full") as caught:
        store.write(path, "labelings", HEADER, {"labels": np.zeros(9)})
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_write_that_fails_half_way_leaves_nothing(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            store.write(tmp_path / "x", "any", {}, {"a": np.zeros(100_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


def test_keys_are_of_content():
    key = Store.key({"learner": "tree", "params": {"a": 1, "b": 2}})
    assert key == Store.key({"params": {"b": 2, "a": 1}, "learner": "tree"})
    assert len({key, Store.key({}), Store.key({"learner": "tree", "params": {"a": 1, "b": 3}})}) == 3
    assert len(key) == 64
    for bad in ({"a": float("nan")}, {"a": object()}):
        with pytest.raises(InputError, match="JSON"):
            Store.key(bad)


def test_a_store_keeps_and_finds(tmp_path):
    records = Store(tmp_path / "deep" / "runs")
    keys = [records.key({"seed": seed}) for seed in range(3)]
    assert records.get(keys[0]) is None
    for seed, key in enumerate(keys):
        records.put(key, "labelings", {"seed": seed}, {"labels": np.full(3, seed)})
    header, arrays = Store(tmp_path / "deep" / "runs").get(keys[2], "labelings")
    assert header["seed"] == 2
    assert arrays["labels"].tolist() == [2, 2, 2]
    assert keys[1] in records
    assert records.key({"seed": 9}) not in records
    assert inventory(records.folder).keys == set(keys)


def test_a_store_that_is_a_file(tmp_path):
    file = tmp_path / "file"
    file.touch()
    for place in (file, file / "below"):
        with pytest.raises(InputError, match="folder"):
            Store(place)


def test_a_damaged_file_in_a_store_counts_as_missing(tmp_path):
    records = Store(tmp_path)
    key = records.key({"seed": 0})
    records.put(key, "labelings", {}, {"a": np.arange(9)})
    records.path(key).write_bytes(records.path(key).read_bytes()[:100])
    with pytest.warns(store.DamagedRecordWarning, match=f"{key}.*The file is now .*damaged"):
        assert records.get(key) is None
    assert (tmp_path / "damaged" / f"{key}.classay").stat().st_size == 100
    assert records.get(key) is None
    records.put(key, "labelings", {}, {"a": np.arange(9)})
    assert records.get(key)[1]["a"].tolist() == list(range(9))


def test_two_swapped_records_are_noticed_and_set_aside(tmp_path):
    records = Store(tmp_path)
    keys = [records.key({"seed": seed}) for seed in range(2)]
    for seed, key in enumerate(keys):
        records.put(key, "any", {"seed": seed}, {"a": np.full(3, seed)})
    first, second = map(records.path, keys)
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    for key in keys:
        with pytest.warns(store.DamagedRecordWarning, match=r"in the place of another one.*will be made again"):
            assert records.get(key) is None
    assert len(list((tmp_path / "damaged").iterdir())) == 2


def test_what_cannot_be_restored_is_set_aside(tmp_path):
    records = Store(tmp_path)
    key = records.key({})
    records.put(key, "any", {}, {"a": np.arange(3)})
    assert records.restore(key, "any", lambda header, arrays: arrays["a"].sum()) == 3
    with pytest.warns(store.DamagedRecordWarning, match="KeyError: 'b'"):
        assert records.restore(key, "any", lambda header, arrays: arrays["b"]) is None
    assert key not in records


def test_a_store_that_cannot_be_changed_only_warns(tmp_path, monkeypatch):
    records = Store(tmp_path)
    key = records.key({})
    records.path(key).write_bytes(b"damaged")

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.warns(store.DamagedRecordWarning, match=r"made again\.$"):
        assert records.get(key) is None
    assert key in records


def test_a_newer_record_in_a_store_is_not_overwritten_in_silence(tmp_path):
    records = Store(tmp_path / "runs")
    key = records.key({})
    path = records.put(key, "any", {}, {})
    newer = {**store.read_header(path), "schema": store.SCHEMA + 1}
    os.replace(remade(path, tmp_path, {"header.json": json.dumps(newer)}), path)
    with pytest.raises(RecordError, match="another classay"):
        records.get(key)


def write_again_and_again(folder, key, value):
    for _ in range(30):
        Store(folder).put(key, "any", {"value": value}, {"a": np.full(20_000, value)})


@pytest.mark.slow
def test_two_processes_write_the_same_key(tmp_path):
    records = Store(tmp_path)
    key = records.key({})
    records.put(key, "any", {"value": 0}, {"a": np.zeros(20_000)})
    fresh = multiprocessing.get_context("spawn")
    writers = [fresh.Process(target=write_again_and_again, args=(tmp_path, key, value)) for value in (1, 2)]
    for writer in writers:
        writer.start()
    reads = 0
    while any(writer.is_alive() for writer in writers):
        header, arrays = records.get(key)  # a warning of damage would be an error here
        assert (arrays["a"] == header["value"]).all()
        reads += 1
    assert reads > 3
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert [file.name for file in tmp_path.iterdir()] == [records.path(key).name]
