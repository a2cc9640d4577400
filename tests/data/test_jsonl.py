from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from treetop.data import read
from treetop.errors import DataError

GOOD = '{"text": "one", "labels": ["a", "b"]}\n{"text": "two", "labels": ["b"]}\n'


def written(folder: Path, content: str | bytes, name: str = "train.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def message(path: Path, **options: str) -> str:
    with pytest.raises(DataError) as caught:
        read(path, **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_reads_texts_and_label_names(tmp_path: Path) -> None:
    dataset = read(written(tmp_path, GOOD))
    assert dataset.corpus.texts == ["one", "two"]
    assert dataset.space.names == ("a", "b")
    assert dataset.labels.toarray().tolist() == [[1, 1], [0, 1]]


def test_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    assert len(read(written(tmp_path, gzip.compress(GOOD.encode()), "train.jsonl.gz"))) == 2
    assert len(read(written(tmp_path, gzip.compress(GOOD.encode()), "renamed.jsonl"))) == 2


def test_lines_across_blocks_keep_their_numbers(tmp_path: Path) -> None:
    texts = ["x" * 1_500_000, "", "y" * 700_000]
    content = "".join(json.dumps({"text": text, "labels": ["a"]}) + "\n" for text in texts)
    assert read(written(tmp_path, content)).corpus.texts == texts
    assert "line 4: not valid JSON" in message(written(tmp_path, content + "{oops}\n"))


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace("\n", "\r\n").encode(),
        GOOD.encode() + b"\n\n  \n",
        GOOD.encode().rstrip(b"\n"),
    ],
    ids=["byte order mark", "CRLF", "blank lines", "no last newline"],
)
def test_harmless_oddities(tmp_path: Path, content: bytes) -> None:
    assert read(written(tmp_path, content)).corpus.texts == ["one", "two"]


def test_any_script_and_rows_without_labels(tmp_path: Path) -> None:
    rows = [("שלום עולם", ["עברית"]), ("🌳🔝", ["🌳", "🌳"]), ("", []), ("ok", [7, ""])]
    content = "\n".join(json.dumps({"text": t, "labels": n}, ensure_ascii=False) for t, n in rows)
    dataset = read(written(tmp_path, content))
    assert dataset.corpus.texts == [text for text, _ in rows]
    assert dataset.space.names == ("7", "עברית", "🌳")
    assert dataset.unlabelled == 1


def test_half_a_surrogate_pair_becomes_the_replacement_character(tmp_path: Path) -> None:
    dataset = read(written(tmp_path, r'{"text": "cut \ud83c end", "labels": ["\ud83c\udf33"]}'))
    assert dataset.corpus.texts == ["cut \ufffd end"]
    assert dataset.space.names == ("🌳",)


def test_weights_from_a_field_or_from_an_object(tmp_path: Path) -> None:
    content = '{"text": "x", "labels": ["a", "b"], "rel": [0.5, 2]}'
    assert read(written(tmp_path, content), weights="rel").labels.toarray().tolist() == [[0.5, 2]]
    assert read(written(tmp_path, content)).labels.toarray().tolist() == [[1, 1]]
    mapped = '{"text": "x", "labels": {"a": 0.5, "b": 2}}\n{"text": "y", "labels": ["b"]}'
    assert read(written(tmp_path, mapped)).labels.toarray().tolist() == [[0.5, 2], [0, 1]]


def test_fields_by_other_names_and_separated_strings(tmp_path: Path) -> None:
    path = written(tmp_path, '{"body": "x", "tags": "a; b"}')
    dataset = read(path, text="body", labels="tags", separator=";")
    assert dataset.space.names == ("a", "b")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"text": "x", "labels": ["a"]', "not valid JSON (Expecting ',' delimiter at column 30)"),
        ("plain text", "not valid JSON"),
        ("[1, 2]", "not a JSON object; each line must be one object"),
        ("17", "not a JSON object"),
        ('{"text": 5, "labels": ["a"]}', "field 'text' is a number (5), expected a text"),
        ('{"text": "x", "labels": true}', "field 'labels' holds a boolean (True)"),
        ('{"text": "x", "labels": 0.5}', "field 'labels' holds a number (0.5), expected label names"),
        ('{"text": "x", "labels": [' + "9" * 5000 + "]}", "not valid JSON"),
        ('{"text": "x", "labels": [true]}', "field 'labels' holds a boolean (True)"),
        ('{"text": "x", "labels": [["a"]]}', "field 'labels' holds a list (['a'])"),
        ('{"text": "x", "labels": {"a": "high"}}', "field 'labels' holds a string ('high'), expected numbers"),
        ('{"text": "x", "labels": {"a": NaN}}', "the weight of label 'a' is nan"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, expected: str) -> None:
    path = written(tmp_path, GOOD + "\n" + line + "\n" + GOOD)
    assert f"{path}, line 4: " in message(path)
    assert expected in message(path)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"text": "x", "labels": ["a"], "w": [1, 2]}', "1 labels but 2 weights"),
        ('{"text": "x", "labels": ["a"], "w": 1}', "expected a list with one number per label"),
        ('{"text": "x", "labels": ["a"]}', "no field 'w'; there are: text, labels"),
    ],
)
def test_bad_weights_are_named(tmp_path: Path, line: str, expected: str) -> None:
    found = message(written(tmp_path, line), weights="w")
    assert "line 1: " in found
    assert expected in found


def test_a_field_that_no_record_has_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, '\n{"txt": "x", "label": ["a"]}\n' * 3)
    assert message(path).startswith(f"{path}, line 2: no field 'text'; there are: txt, label; did you mean 'txt'?")
    assert "no field 'labels'; there are: txt, label; did you mean 'label'?" in message(path, text="txt")


def test_null_and_absent_alike(tmp_path: Path) -> None:
    lines = [
        '{"text": "one", "labels": ["a", null]}',
        '{"text": null, "labels": null}',
        '{"labels": ["b"]}',
        '{"text": "four"}',
        '{"text": "five", "labels": NaN}',
    ]
    dataset = read(written(tmp_path, "\n".join(lines)))
    assert dataset.corpus.texts == ["one", "", "", "four", "five"]
    assert dataset.labels.toarray().tolist() == [[1, 0], [0, 0], [0, 1], [0, 0], [0, 0]]
    assert (dataset.findings.null_texts, dataset.findings.null_labels) == (2, 4)


def test_texts_in_several_fields(tmp_path: Path) -> None:
    path = written(tmp_path, '{"title": "A", "body": "b", "labels": ["x"]}\n{"title": "C", "labels": ["x"]}')
    assert read(path, text=("title", "body")).corpus.texts == ["A\nb", "C"]


def test_labels_in_one_string_or_number(tmp_path: Path) -> None:
    dataset = read(written(tmp_path, '{"text": "x", "labels": "a, b"}\n{"text": "y", "labels": 7}\n'))
    assert dataset.space.names == ("7", "a", "b")
    assert dataset.findings.split == "labels split at ','"


def test_other_encodings(tmp_path: Path) -> None:
    content = '{"text": "it’s a café", "labels": ["a"]}\n'
    for encoding, known in (("cp1252", "windows-1252"), ("utf-16", "utf-16"), ("utf-8-sig", "utf-8")):
        dataset = read(written(tmp_path, content.encode(encoding)))
        assert dataset.corpus.texts == ["it’s a café"]
        assert dataset.findings.encoding == known
    greek = written(tmp_path, '{"text": "καλημέρα", "labels": ["a"]}\n'.encode("cp1253"))
    assert "line 1: byte 0xea at position 11 is neither UTF-8 nor windows-1252; name the encoding" in message(greek)
    assert read(greek, encoding="cp1253").corpus.texts == ["καλημέρα"]


def test_empty_files_and_files_without_labels(tmp_path: Path) -> None:
    assert "there is no text in it" in message(written(tmp_path, ""))
    assert "there is no text in it" in message(written(tmp_path, "\n\n"))
    found = message(written(tmp_path, '{"text": "x", "labels": []}\n{"text": "y", "labels": []}'))
    assert "none of the 2 texts has a label" in found


def test_a_cut_gzip_file_is_named(tmp_path: Path) -> None:
    packed = gzip.compress(GOOD.encode() * 100)
    assert "damaged or cut short" in message(written(tmp_path, packed[:-20], "train.jsonl.gz"))
