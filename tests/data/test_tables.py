from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from treetop.data import LabelSpace, read
from treetop.errors import DataError


def written(folder: Path, content: str | bytes, name: str = "train.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def message(path: Path, **options: str) -> str:
    with pytest.raises(DataError) as caught:
        read(path, **options)  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_in_the_header(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "train.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(
            [["id", "text", "labels"], [1, "one; two, three | four", "a|b"], [2, 'say "hi"\nthere', "b"], [3, "", ""]]
        )
    dataset = read(path)
    assert dataset.corpus.texts == ["one; two, three | four", 'say "hi"\nthere', ""]
    assert dataset.space.names == ("a", "b")
    assert dataset.labels.toarray().tolist() == [[1, 1], [0, 1], [0, 0]]


def test_tab_separated_and_packed(tmp_path: Path) -> None:
    content = "text\tlabels\nfirst, second\ta,b\n"
    assert read(written(tmp_path, content, "train.tsv")).space.names == ("a", "b")
    packed = gzip.compress(b"\xef\xbb\xbf" + content.replace("\n", "\r\n").encode())
    assert read(written(tmp_path, packed, "train.tsv.gz")).corpus.texts == ["first, second"]


def test_columns_by_name_and_weights(tmp_path: Path) -> None:
    path = written(tmp_path, "tags,body,rel\na;b,x,0.5;2\nb,y,3\n")
    dataset = read(path, text="body", labels="tags", weights="rel")
    assert dataset.labels.toarray().tolist() == [[0.5, 2], [0, 3]]


def test_a_known_space_decides_how_cells_are_cut(tmp_path: Path) -> None:
    path = written(tmp_path, 'text,labels\nx,"Smith, John"\n')
    assert read(path).space.names == ("John", "Smith")
    assert read(path, space=LabelSpace(["Smith, John"])).space.names == ("Smith, John",)


def test_a_text_of_a_megabyte_and_blank_lines(tmp_path: Path) -> None:
    path = written(tmp_path, f"text,labels\n{'word ' * 250_000},a\n\n\n")
    assert len(read(path).corpus.texts[0]) == 1_250_000


def test_an_absent_column_is_named_with_those_that_exist(tmp_path: Path) -> None:
    path = written(tmp_path, "id,text,label\n1,x,a\n")
    there = "there are: id, text, label; did you mean 'label'? name what to read by --text"
    assert message(path).startswith(f"{path}, line 1: no column 'labels'; {there}")
    assert "no column 'body'" in message(path, text="body", labels="label")


def test_a_table_without_a_header_or_with_one_name_twice(tmp_path: Path) -> None:
    assert "A table begins with the names of its columns" in message(written(tmp_path, "stir the onions,soup\n"))
    assert "2 columns are called 'text'; rename all but one" in message(written(tmp_path, "text,text,labels\nx,y,a\n"))
    assert read(written(tmp_path, "id,id,text,labels\n1,2,x,a\n")).corpus.texts == ["x"]  # nobody asked for it


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("one, two,a", "line 5: 3 cells, but the header has 2; put cells that contain ',' in quotes"),
        ("x", "line 5: 1 cells, but the header has 2"),
        ('"never closed,a', "line 5: the record that starts here cannot be parsed"),
        ('"cut"ting,a', "line 5: the record that starts here cannot be parsed"),
    ],
)
def test_a_bad_record_is_named_by_its_first_line(tmp_path: Path, line: str, expected: str) -> None:
    assert expected in message(written(tmp_path, f'text,labels\n"two\nlines",a\n\n{line}\nlast,b\n'))


def test_bad_weights_and_encodings_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, "text,labels,w\nx,a,1\ny,b,much\n")
    assert "line 3: column 'w': could not convert string to float: 'much'" in message(path, weights="w")
    assert "line 2: byte 0xef" in message(written(tmp_path, "text,labels\nпривет,a\n".encode("cp1251")))


def test_windows_and_old_mac_tables(tmp_path: Path) -> None:
    content = 'title,body,tags\n"It’s, well",cafés,"a, b"\nNaN,thé,NaN\n,,n/a\nx,y,nan\n'
    for ends in ("\n", "\r\n", "\r"):
        path = written(tmp_path, content.replace("\n", ends).encode("cp1252"))
        dataset = read(path, text=["title", "body"], labels="tags")
        assert dataset.corpus.texts == ["It’s, well\ncafés", "thé", "", "x\ny"]
        assert dataset.space.names == ("a", "b")
        findings = dataset.findings
        assert (findings.encoding, findings.null_texts, findings.null_labels) == ("windows-1252", 1, 3)


def test_a_header_that_cannot_be_parsed(tmp_path: Path) -> None:
    assert "no column 'text'" in message(written(tmp_path, "a\rb,text,labels\nx,y,z\n"))
    long = "x" * 200_000
    assert read(written(tmp_path, f"{long},text,labels\n1,y,z\n")).corpus.texts == ["y"]


@pytest.mark.parametrize(("content", "said"), [("", "the file is empty"), ("text,labels\n", "there is no text in it")])
def test_empty_tables(tmp_path: Path, content: str, said: str) -> None:
    assert said in message(written(tmp_path, content))
