"""Every Python block of the README and the docs runs, in order, each page in a folder of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [path.relative_to(ROOT).as_posix() for path in PAGES]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
OF_EXTRAS = re.compile(r"^(?:from|import) (torch|transformers|tokenizers)\b", re.MULTILINE)
CODE = re.compile(r"^(```.*?^```$|    .*?$)|`[^`\n]*`", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_code_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    for package in OF_EXTRAS.findall("".join(blocks)):
        pytest.importorskip(package, reason="needs the extra 'neural'")
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", _prose(page)):
        if "://" not in target:
            other = page.parent / target if target else page
            assert other.exists(), f"{page.name} links to {target}"
            if anchor and other.suffix == ".md":
                assert anchor in _anchors(other), f"{page.name} links to {target}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_tables_have_a_head(page: Path) -> None:
    """Rows that no head stands above are shown as they are typed."""
    prose = FENCED.sub(lambda block: "\n" * block[0].count("\n"), page.read_text(encoding="utf-8"))
    for rows in re.findall(r"(?:^\|.*\n)+", prose, re.MULTILINE):
        assert re.match(r".*\n\|[ :|-]+\|\n", rows), f"{page.name}: {rows[:80]}"


def test_every_page_of_the_log_is_in_its_contents_and_in_the_site() -> None:
    log = ROOT / "docs" / "experiments"
    contents, site = (path.read_text(encoding="utf-8") for path in (log / "index.md", ROOT / "mkdocs.yml"))
    for page in log.glob("*-*.md"):
        assert f"]({page.name})" in contents, f"docs/experiments/index.md does not link to {page.name}"
        assert f"- experiments/{page.name}" in site, f"mkdocs.yml does not have {page.name}"


def test_the_pages_hold_code() -> None:
    assert sum(len(BLOCK.findall(page.read_text(encoding="utf-8"))) for page in PAGES) >= 10


def _prose(page: Path) -> str:
    return CODE.sub("", page.read_text(encoding="utf-8"))


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and our site make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    words = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).lower() for text in headings)
    return {re.sub(r"[^\w\- ]", "", text).replace(" ", "-") for text in words}
