"""Model folders: all or nothing when written, mapped when read, and a name for every kind of damage."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from safetensors.numpy import load_file, save_file

from treetop.errors import StoreError
from treetop.store import Folder, Late, discard, whole_file

ARRAYS = {
    "letters": np.frombuffer(b"odd", np.uint8),
    "flags": np.array([True, False, True]),
    "weights": np.arange(12, dtype=np.float32).reshape(3, 4),
    "half": np.array([[1.5], [2.5]], np.float16),
    "wide": np.array([-1, 2**40], np.int64),
    "double": np.array([np.pi]),
    "empty": np.empty((0, 5), np.int32),
    "scalar": np.array(7, np.uint16),
}


def same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        np.testing.assert_array_equal(found[name], array)


def model(path: Path, number: int) -> None:
    with Folder.create(path) as folder:
        folder.write_json("model.json", {"number": number})
        folder.write_tensors("weights.safetensors", {"weights": np.full(1000, number)})
        folder.sub("part").write_lines("lines.jsonl", [{"number": number}] * 10)


def number_of(path: Path) -> int:
    """The number of a complete model; anything missing or mixed fails."""
    folder = Folder.open(path)
    number = folder.read_json("model.json")["number"]
    assert (folder.read_tensors("weights.safetensors")["weights"] == number).all()
    assert list(folder.sub("part").read_lines("lines.jsonl")) == [{"number": number}] * 10
    return int(number)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    value = {"text": "naïve 😀\n", "list": [1, 2.5, None, True], "deep": {"er": {}}}
    with Folder.create(tmp_path / "new" / "deep" / "model") as folder:
        folder.write_json("value.json", value)
        folder.write_lines("lines.jsonl", [value, 3, "\u2028"])
        folder.write_tensors("arrays.safetensors", ARRAYS)
        folder.sub("part").write_json("inner.json", [])
        assert not (tmp_path / "new" / "deep" / "model").exists()
    folder = Folder.open(tmp_path / "new" / "deep" / "model")
    assert folder.read_json("value.json") == value
    assert list(folder.read_lines("lines.jsonl")) == [value, 3, "\u2028"]
    assert folder.read_all_lines("lines.jsonl") == [value, 3, "\u2028"]
    assert folder.sub("part").read_json("inner.json") == []
    assert folder.has("part")
    assert folder.has("value.json")
    assert not folder.has("other")
    same(folder.read_tensors("arrays.safetensors"), ARRAYS)


def test_arrays_are_mapped_read_only_and_aligned(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write_tensors("arrays.safetensors", ARRAYS)
    for array in folder.read_tensors("arrays.safetensors").values():
        assert array.flags.aligned
        assert array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_non_contiguous_arrays_are_stored_as_they_look(tmp_path: Path) -> None:
    array = np.arange(24).reshape(4, 6)
    Folder(tmp_path).write_tensors("a.safetensors", {"turned": array.T, "some": array[::2, 1::2]})
    same(Folder(tmp_path).read_tensors("a.safetensors"), {"turned": array.T, "some": array[::2, 1::2]})


def test_the_safetensors_package_reads_ours(tmp_path: Path) -> None:
    Folder(tmp_path).write_tensors("ours.safetensors", ARRAYS)
    same(load_file(tmp_path / "ours.safetensors"), ARRAYS)


def test_we_read_what_the_safetensors_package_writes(tmp_path: Path) -> None:
    save_file(ARRAYS, tmp_path / "theirs.safetensors", metadata={"format": "np"})
    same(Folder(tmp_path).read_tensors("theirs.safetensors"), ARRAYS)


def test_no_arrays_at_all(tmp_path: Path) -> None:
    Folder(tmp_path).write_tensors("none.safetensors", {})
    assert Folder(tmp_path).read_tensors("none.safetensors") == {}
    assert load_file(tmp_path / "none.safetensors") == {}


def test_a_new_model_replaces_the_old_one_and_leaves_nothing_else(tmp_path: Path) -> None:
    model(tmp_path / "model", 1)
    model(tmp_path / "model", 2)
    assert number_of(tmp_path / "model") == 2
    assert os.listdir(tmp_path) == ["model"]


def test_mapped_arrays_outlive_the_replacement_of_their_file(tmp_path: Path) -> None:
    model(tmp_path / "model", 1)
    weights = Folder.open(tmp_path / "model").read_tensors("weights.safetensors")["weights"]
    model(tmp_path / "model", 2)
    assert (weights == 1).all()


def _write_half(folder: Folder, error: BaseException) -> None:
    folder.write_json("model.json", {"number": 2})
    raise error


@pytest.mark.parametrize("error", [RuntimeError("boom"), KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_an_error_while_writing_changes_nothing(error: BaseException, tmp_path: Path) -> None:
    model(tmp_path / "model", 1)
    with pytest.raises((type(error), StoreError)), Folder.create(tmp_path / "model") as folder:
        _write_half(folder, error)
    assert number_of(tmp_path / "model") == 1
    assert os.listdir(tmp_path) == ["model"]


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import test_store

path, survived = Path(sys.argv[2]), False
for moment in range(1000):
    before = test_store.number_of(path) if moment % 3 == 0 else None  # or save again without having looked
    child = os.fork()
    if child == 0:
        left = moment
        def hook(event, arguments):
            global left
            if event in ("open", "os.rename", "os.rmdir", "os.remove", "os.mkdir", "os.chmod", "shutil.rmtree"):
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(hook)
        test_store.model(path, moment)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    number = test_store.number_of(path)
    assert before is None or number in (before, moment), (moment, before, number)
    if status == 0:
        assert number == moment
        survived = True
        break
    assert os.WTERMSIG(status) == signal.SIGKILL, status
assert survived and moment > 20, moment
print("moments", moment)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_any_moment_of_a_save_a_whole_model_is_left(tmp_path: Path) -> None:
    """A process that saves is killed before its first file operation, its second, … until it gets through."""
    model(tmp_path / "model", -1)
    done = _run(KILLED, str(tmp_path / "model"))
    assert done.returncode == 0, done.stderr
    assert "moments" in done.stdout


FULL = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import test_store
from treetop.errors import StoreError

resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
try:
    test_store.model(Path(sys.argv[2]), 2)
except StoreError as error:
    print(error)
    sys.exit(3)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_disk_that_takes_no_more_leaves_the_old_model(tmp_path: Path) -> None:
    model(tmp_path / "model", 1)
    done = _run(FULL, str(tmp_path / "model"))
    assert done.returncode == 3, done.stderr
    assert "cannot be written (File too large); what was there before is unchanged" in done.stdout
    assert number_of(tmp_path / "model") == 1
    assert os.listdir(tmp_path) == ["model"]


def _run(script: str, path: str) -> subprocess.CompletedProcess[str]:
    tests, source = Path(__file__).parent, Path(sys.modules["treetop"].__file__ or "").parents[1]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, "-c", script, str(tests), path]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"model.*cannot be written"), Folder.create(tmp_path / "file" / "model"):
        pytest.fail("the block must not run")


@pytest.mark.parametrize("content", ["thesis.tex", ".hidden"])
def test_a_folder_that_is_no_model_is_never_replaced(content: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / content).write_text("years of work")
    with pytest.raises(StoreError, match="not a model folder"), Folder.create(tmp_path / "mine"):
        pytest.fail("the block must not run")
    with pytest.raises(StoreError, match="not a model folder"):
        Folder.check_target(tmp_path / "mine")
    assert (tmp_path / "mine" / content).read_text() == "years of work"


def test_a_file_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("years of work")
    with pytest.raises(StoreError, match="not a model folder"), Folder.create(tmp_path / "mine"):
        pytest.fail("the block must not run")


def test_a_place_is_tried_before_anything_is_learned(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    Folder.check_target(tmp_path / "new" / "deep" / "model")
    Folder.check_target(tmp_path / ("n" * 230))
    for place, why in (
        (tmp_path / "file" / "model", "Not a directory"),
        (tmp_path / "file" / "deep" / "model", "Not a directory"),
        (tmp_path / ("n" * 250), "File name too long"),  # it would be written as .nnn….partial
        (tmp_path / ("n" * 300) / "model", "File name too long"),
        (Path("/proc/model"), "cannot be written"),
        (Path("/proc"), "not a model folder"),
    ):
        if Path("/proc").exists() or tmp_path in place.parents:
            with pytest.raises(StoreError, match=why):
                Folder.check_target(place)
    assert os.listdir(tmp_path) == ["file"]


def test_a_place_of_somebody_else_is_refused_before_anything_is_learned(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs").chmod(0o500)
    done = _run(DENIED, str(tmp_path / "theirs"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{tmp_path}/theirs/model: cannot be written (Permission denied); what was there before is unchanged",
        f"{tmp_path}/secret/model: cannot be read (Permission denied)",
        f"{tmp_path}/secret: cannot be read (Permission denied)",
    ]


DENIED = """
import os, sys
from pathlib import Path
from treetop.errors import StoreError
from treetop.store import Folder

theirs = Path(sys.argv[2])
secret = theirs.parent / "secret"
(secret / "model").mkdir(parents=True)
secret.chmod(0)
theirs.parent.chmod(0o755)
for parent in theirs.parent.parents[:-2]:
    parent.chmod(parent.stat().st_mode | 0o111)
if os.getuid() == 0:
    os.setuid(12345)
for look in (lambda: Folder.check_target(theirs / "model"), lambda: Folder.open(secret / "model"),
             lambda: Folder.open(secret)):
    try:
        look()
    except StoreError as error:
        print(error)
"""


def test_a_link_stays_and_what_it_leads_to_is_replaced_every_time(tmp_path: Path) -> None:
    model(tmp_path / "disk" / "model", 1)
    (tmp_path / "link").symlink_to("disk/model")
    (tmp_path / "dangling").symlink_to(tmp_path / "disk" / "other")
    for number in (2, 3, 4):
        for link, place in (("link", "model"), ("dangling", "other")):
            Folder.check_target(tmp_path / link)
            model(tmp_path / link, number)
            assert (tmp_path / link).is_symlink()
            assert number_of(tmp_path / link) == number_of(tmp_path / "disk" / place) == number
    assert sorted(os.listdir(tmp_path)) == ["dangling", "disk", "link"]
    assert sorted(os.listdir(tmp_path / "disk")) == ["model", "other"]
    (tmp_path / "disk" / "other").rename(tmp_path / "disk" / ".other.old")  # killed between the two renames
    assert number_of(tmp_path / "dangling") == 4


def test_a_link_in_a_circle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(StoreError, match="circle"):
        Folder.check_target(tmp_path / "a")
    with pytest.raises(StoreError, match="cannot be read"):
        Folder.open(tmp_path / "a")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_no_file_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    folder = Folder.open(tmp_path)
    for name in ("pipe", "device", "folder"):
        for read in (folder.read_json, folder.read_tensors, lambda name: list(folder.read_lines(name))):
            with pytest.raises(StoreError, match=f"{name}: is not a file"):
                read(name)


def test_whatever_a_block_stumbles_over_is_damage(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write_json("value.json", {})
    nothing: Any = {}
    for blunder in (lambda: nothing["gone"], lambda: [][0], lambda: nothing.gone, lambda: 1 / 0):
        with pytest.raises(StoreError, match=r"value\.json: the file is damaged \(.+\)"), folder.reading("value.json"):
            blunder()
    with pytest.raises(KeyboardInterrupt), folder.reading("value.json"):
        raise KeyboardInterrupt


def test_an_empty_folder_may_become_a_model_even_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path / "model")
    model(Path("."), 3)
    assert number_of(tmp_path / "model") == 3


def test_a_model_is_as_readable_as_other_files(tmp_path: Path) -> None:
    model(tmp_path / "model", 1)
    (tmp_path / "other").mkdir()
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


def test_missing_things_are_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"absent.*no such model folder"):
        Folder.open(tmp_path / "absent")
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="this is a file, not a model folder"):
        Folder.open(tmp_path / "file")
    folder = Folder.open(tmp_path)
    for read in (folder.read_json, folder.read_tensors, lambda name: list(folder.read_lines(name))):
        with pytest.raises(StoreError, match=r"gone.*missing"):
            read("gone")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"a": 1', b"no json", b"[" * 100_000, b"7" * 10_000])
def test_damaged_json_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "value.json").write_bytes(content)
    folder = Folder.open(tmp_path)
    with pytest.raises(StoreError, match=r"value\.json.*damaged"):
        folder.read_json("value.json")
    if content:
        with pytest.raises(StoreError, match=r"value\.json.*damaged"):
            list(folder.read_lines("value.json"))


def test_tensors_cut_anywhere_are_refused(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write_tensors("a.safetensors", {"x": np.arange(10), "y": np.ones(3, np.float32)})
    whole = (tmp_path / "a.safetensors").read_bytes()
    for size in range(len(whole)):
        (tmp_path / "a.safetensors").write_bytes(whole[:size])
        with pytest.raises(StoreError, match=r"a\.safetensors.*damaged"):
            folder.read_tensors("a.safetensors")


def _with_header(header: Any, body: bytes = b"\0" * 16) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


@pytest.mark.parametrize(
    "content",
    [
        _with_header([]),
        _with_header("text"),
        _with_header({"x": 3}),
        _with_header({"x": {}}),
        _with_header({"x": {"dtype": "F32", "shape": [4]}}),
        _with_header({"x": {"dtype": "BF16", "shape": [8], "data_offsets": [0, 16]}}),
        _with_header({"x": {"dtype": "F32", "shape": [5], "data_offsets": [0, 16]}}),
        _with_header({"x": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 16]}}),
        _with_header({"x": {"dtype": "F32", "shape": [1], "data_offsets": [-8, -4]}}),
        _with_header({"x": {"dtype": "F32", "shape": [4], "data_offsets": [8, 24]}}),
        _with_header({"x": {"dtype": "F32", "shape": [2], "data_offsets": [12, 4]}}),
        _with_header({"x": {"dtype": "F32", "shape": ["4"], "data_offsets": [0, 16]}}),
        _with_header({"x": {"dtype": "F32", "shape": 4, "data_offsets": [0, 16]}}),
        _with_header({"x": {"dtype": "F32", "shape": [4], "data_offsets": [0, 8, 16]}}),
        b"\xff" * 40,
        b"PK\x03\x04 a zip file, not tensors",
        (10**6).to_bytes(8, "little") + b"{}",
    ],
)
def test_a_damaged_header_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(content)
    with pytest.raises(StoreError, match=r"a\.safetensors.*damaged"):
        Folder(tmp_path).read_tensors("a.safetensors")


@given(place=st.integers(0, 200), value=st.integers(0, 255))
@settings(max_examples=300)
def test_one_wrong_byte_never_crashes(place: int, value: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "flipped"
    path.mkdir(exist_ok=True)
    folder = Folder(path)
    folder.write_tensors("a.safetensors", {"x": np.arange(10), "y": np.ones(3, np.float32)})
    content = bytearray((path / "a.safetensors").read_bytes())
    content[place % len(content)] = value
    (path / "a.safetensors").write_bytes(content)
    try:
        arrays = folder.read_tensors("a.safetensors")
    except StoreError:
        return
    assert all(array.nbytes <= len(content) and array.sum() is not None for array in arrays.values())


def test_values_that_json_lacks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        Folder(tmp_path).write_json("value.json", {"x": float("nan")})


def test_a_whole_file_appears_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "new" / "out.jsonl"
    with whole_file(path) as file:
        file.write("one\n")
        assert not path.exists()
    assert path.read_text() == "one\n"
    with pytest.raises(UnicodeEncodeError), whole_file(path) as file:
        file.write("two\n\ud800")
    assert path.read_text() == "one\n"
    assert os.listdir(path.parent) == ["out.jsonl"]


def test_a_device_or_a_pipe_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "null").symlink_to(os.devnull)
    with whole_file(tmp_path / "null") as file:
        file.write("one\n")
    assert (tmp_path / "null").is_symlink()
    assert not Path(os.devnull).is_file()
    if Path("/dev/full").exists():
        with (
            pytest.raises(StoreError, match=r"/dev/full: cannot be written \(No space left"),
            whole_file("/dev/full") as file,
        ):
            file.write("one\n")


def test_a_link_to_a_file_stays(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with whole_file(tmp_path / "link") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_whole_file_cannot_take_the_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(StoreError, match="is a folder; give the name of a file"), whole_file(tmp_path / "out") as file:
        file.write("one\n")
    assert os.listdir(tmp_path) == ["out"]


def test_what_is_discarded_is_never_there_by_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint that lost its description before the rest could not be resumed, nor begun again."""
    for name in ("run.json", "step-1/state.json"):
        (tmp_path / "model.checkpoint" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "model.checkpoint" / name).touch()
    with monkeypatch.context() as killed:
        killed.setattr("treetop.store.shutil.rmtree", lambda path, ignore_errors: None)
        discard(tmp_path / "model.checkpoint")
    assert [path.name for path in tmp_path.iterdir()] == [".model.checkpoint.discarded.partial"]
    (tmp_path / "model.checkpoint").mkdir()
    discard(tmp_path / "model.checkpoint")
    assert not list(tmp_path.iterdir())


def test_an_array_may_be_made_when_it_is_written(tmp_path: Path) -> None:
    """Tensors come from a device one after the other: never are two of them in memory because of the writing."""
    order: list[str] = []

    def late(name: str) -> Late:
        def make() -> np.ndarray[Any, Any]:
            order.append(name)
            return ARRAYS_LATE[name]

        return Late(ARRAYS_LATE[name].dtype, ARRAYS_LATE[name].shape, make)

    Folder(tmp_path).write_tensors("a.safetensors", {name: late(name) for name in ARRAYS_LATE})
    found = Folder(tmp_path).read_tensors("a.safetensors")
    assert sorted(order) == sorted(ARRAYS_LATE)
    for name, array in ARRAYS_LATE.items():
        np.testing.assert_array_equal(found[name], array)


ARRAYS_LATE = {
    "wide": np.arange(6, dtype=np.float64).reshape(2, 3),
    "narrow": np.array([True, False]),
    "empty": np.empty((0, 4), np.float32),
}
