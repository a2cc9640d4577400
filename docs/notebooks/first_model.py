"""A first model, from texts with labels to suggestions with reasons: `marimo edit docs/notebooks/first_model.py`."""

import marimo

__generated_with = "0.25.2"
app = marimo.App()


@app.cell
def _():
    import treetop

    return (treetop,)


@app.cell
def _(treetop):
    # Texts and their labels: lists here, a file or a table in life (`treetop.read`).
    dishes = ["soup", "bread", "cake", "stew"]
    games = ["football", "tennis", "chess", "hockey"]
    texts = [f"how to make {what} number {n}" for n in range(60) for what in dishes]
    texts += [f"the {what} match number {n}" for n in range(60) for what in games]
    labels = [["cooking", what] for _ in range(60) for what in dishes]
    labels += [["sport", what] for _ in range(60) for what in games]
    data = treetop.Dataset.build(texts, labels)
    return (data,)


@app.cell
def _(data, treetop):
    # Some texts are kept aside: to learn how sure the model may be, and to measure.
    train, rest = treetop.split_by_ratio(data, 0.6, seed=0)
    held_out, test = treetop.split_by_ratio(rest, 0.5, seed=0)
    model = treetop.XRLinear().fit(train)
    model.calibrate(held_out)
    return model, test


@app.cell
def _(model):
    # Suggestions, best first, with probabilities.
    suggestions = model.predict(["a tennis match in the rain"], k=3)[0]
    assert suggestions[0].label in ("sport", "tennis")
    suggestions
    return


@app.cell
def _(model):
    # Which words speak for a label.
    why = model.explain("a tennis match in the rain", "tennis")
    why
    return


@app.cell
def _(model, test, treetop):
    figures = treetop.evaluate(model.predict(test, k=5), test, ["p@1", "r@5"])
    assert figures["p@1"] > 0.9
    figures
    return


if __name__ == "__main__":
    app.run()
