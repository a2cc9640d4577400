"""The page of `treetop serve`: walking through the labels, and finding one."""

from __future__ import annotations

from typing import Any

from served_page import TEXT, write


def open_labels(page: Any) -> Any:
    """The tab with the tree."""
    page.click("#tab-browse")
    page.locator("[role=treeitem]").first.wait_for()
    return page.locator("[role=tree]")


def leaves(tree: Any) -> Any:
    """Labels that can be seen in the tree."""
    return tree.locator("[role=treeitem]:not([aria-expanded])")


def test_the_tree_is_opened_down_to_all_labels(page: Any) -> None:
    tree = open_labels(page)
    assert "42 labels" in page.locator("#tree-facts").inner_text()
    while (closed := tree.locator("[aria-expanded=false] > .line")).count():
        closed.first.click()
        page.wait_for_function(
            "() => ![...document.querySelectorAll('[role=group]')].some(list => !list.children.length)"
        )
    names = leaves(tree).locator(".title").all_inner_texts()
    assert sorted(names) == [f"About {topic}-{label}" for topic in range(6) for label in range(7)]


def test_the_tree_by_keys(page: Any) -> None:
    tree = open_labels(page)
    first = tree.locator("> [role=treeitem]").first
    page.keyboard.press("Tab")
    first.focus()
    page.keyboard.press("ArrowRight")
    first.locator("[role=group] [role=treeitem]").first.wait_for()
    assert first.get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-level')") == "2"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert first.get_attribute("aria-expanded") == "false"
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement === document.querySelector('[role=tree]').lastElementChild")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement === document.querySelector('[role=tree]').children[1]")
    assert tree.locator("[tabindex='0']").count() == 1


def test_a_label_is_found_and_added_to_the_text(page: Any) -> None:
    write(page)
    open_labels(page)
    page.fill("#finding input", "4-4")
    page.locator("#finding [role=option]", has_text="About 4-4").wait_for()
    page.keyboard.press("Enter")
    card = page.locator("#label-card")
    assert "of the training have it" in card.inner_text()
    card.get_by_role("button", name="Add to the text").click()
    assert page.locator("#suggest").is_visible()
    assert page.locator(".suggestion.own .title").inner_text() == "About 4-4"
    assert page.input_value("#text") == TEXT


def test_another_model_has_another_tree(page: Any) -> None:
    tree = open_labels(page)
    page.select_option("#model", "plain")
    page.locator("[role=treeitem] .title", has_text="label ").first.wait_for()
    assert "About" not in tree.inner_text()


def test_no_label_has_these_words(page: Any) -> None:
    open_labels(page)
    page.fill("#finding input", "zebra")
    page.locator("#finding", has_text="No label has these words").wait_for()
