"""What a search for settings sees: `marimo edit docs/notebooks/which_settings.py`."""

import marimo

__generated_with = "0.25.2"
app = marimo.App()


@app.cell
def _():
    import treetop
    from treetop.apps.tuning import Budget, Wish
    from treetop.apps.tuning.choosing import choose
    from treetop.apps.tuning.picture import front

    return Budget, Wish, choose, front, treetop


@app.cell
def _(treetop):
    # Made-up words whose endings carry the label: whole words of new texts were never seen, parts of them were.
    stems = [f"{a}{b}{c}" for a in "bdgklmnprst" for b in "aeiou" for c in "ndlrs"]
    endings = ("ing", "ung", "ande")
    titles = treetop.Dataset.build(
        [f"{stem}{ending}" for stem in stems for ending in endings], [[ending] for _ in stems for ending in endings]
    )
    return (titles,)


@app.cell
def _(Budget, Wish, choose, titles, treetop):
    # A budget in trials repeats exactly; in life give time: Budget(300).
    found = choose(titles, None, Wish(budget=Budget(trials=16)), treetop.Runtime(threads=1))
    outcome = found.outcome
    assert "parts" in outcome.space.words(outcome.chosen.setting)
    return found, outcome


@app.cell
def _(outcome):
    # What each answer is worth, with all else equal.
    worth = {
        f"{one.question.name} = {one.answer.name}": f"{100 * one.gain.value:+.1f} ± {100 * one.gain.standard_error:.1f}"
        for one in outcome.mattered()
    }
    worth
    return


@app.cell
def _(front, outcome):
    # Quality against cost: what nothing cheaper beats.
    best = [(round(one.cpu_seconds, 3), outcome.space.words(one.setting), one.metrics) for one in front(outcome.last)]
    assert best
    best
    return


@app.cell
def _(found, titles, treetop):
    # The model that is kept learns from all texts.
    model = treetop.XRLinear(found.settings).fit(titles)
    assert model.predict(["wolkande"], k=1)[0][0].label == "ande"
    model
    return


if __name__ == "__main__":
    app.run()
