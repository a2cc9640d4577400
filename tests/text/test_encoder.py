from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from tiny_encoders import make_encoder
from treetop.errors import ConfigError, StoreError
from treetop.runtime import Runtime
from treetop.text.encoder import EncoderConfig, TextEncoder, check_reads

TEXTS = ["red fish", "one red fish and one blue fish swim", "", "sea"]
WORDS = " ".join(TEXTS).split()
FAMILIES = ["bert", "roberta", "xlnet", "distilbert", "mpnet", "electra", "modernbert"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("encoders")
    return {family: make_encoder(root / family, WORDS, family=family) for family in FAMILIES}


def load(folder: Path, **options: object) -> TextEncoder:
    return TextEncoder.load(EncoderConfig(name=str(folder), max_tokens=16, **options)).eval()  # type: ignore[arg-type]


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_states_are_those_of_the_pooled_token(folders: dict[str, Path], family: str) -> None:
    encoder = load(folders[family])
    tokens = encoder.tokenize(TEXTS)
    states = encoder(tokens.pad(np.arange(4)), (0, 1, -1))
    assert states.shape == (3, 4, 32)
    inputs = encoder.tokenizer(TEXTS, padding=True, return_tensors="pt", return_token_type_ids=family == "xlnet")
    output = encoder.model(**inputs, output_hidden_states=True)
    for row in range(4):
        place = (inputs["input_ids"][row] == encoder.tokenizer.cls_token_id).nonzero()[0, 0]
        assert (place == len(inputs["input_ids"][row]) - 1) == (family == "xlnet")
        for state, layer in zip(states, (0, 1, -1), strict=True):
            expected = output.last_hidden_state if layer == -1 else output.hidden_states[layer]
            torch.testing.assert_close(state[row], expected[row, place])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_has_the_same_embedding_alone(folders: dict[str, Path], family: str) -> None:
    encoder = load(folders[family])
    together = encoder.embed(encoder.tokenize(TEXTS), Runtime(threads=1))
    for row, text in enumerate(TEXTS):
        alone = encoder.embed(encoder.tokenize([text]), Runtime(threads=1))
        np.testing.assert_allclose(alone[0], together[row], atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "roberta", "mpnet"])
def test_no_pooler_is_made_up(folders: dict[str, Path], family: str, tmp_path: Path) -> None:
    """Sentence encoders often come without one; it is not saved as if it had been learned."""
    bare = load(folders[family]).model
    bare.pooler = None
    bare.save_pretrained(tmp_path)
    load(folders[family]).tokenizer.save_pretrained(tmp_path)
    assert load(tmp_path).model.pooler is None
    assert load(folders[family]).model.pooler is not None
    assert load(tmp_path, pooling="pooler").model.pooler is not None  # XR-Transformer learns RoBERTa's from scratch


@torch.no_grad()
def test_mean_pooling_and_pooler(folders: dict[str, Path]) -> None:
    encoder = load(folders["bert"], pooling="mean")
    batch = encoder.tokenize(TEXTS).pad(np.arange(2))
    hidden = encoder.model(torch.from_numpy(batch.ids), torch.from_numpy(batch.mask)).last_hidden_state
    for row in range(2):
        real = torch.from_numpy(batch.mask[row]) > 0
        torch.testing.assert_close(encoder(batch)[0, row], hidden[row, real].mean(0))
    pooler = load(folders["bert"], pooling="pooler")
    expected = pooler.model(torch.from_numpy(batch.ids), torch.from_numpy(batch.mask)).pooler_output
    torch.testing.assert_close(pooler(batch)[0], expected)
    for family in ("xlnet", "distilbert", "electra"):  # these have none
        encoder = load(folders[family], pooling="pooler")
        torch.testing.assert_close(encoder(batch), load(folders[family], pooling="token")(batch))
        assert encoder.config.pooling == "token"


def test_pooling_is_what_the_encoder_was_trained_with(folders: dict[str, Path], tmp_path: Path) -> None:
    assert load(folders["bert"]).config.pooling == "token"
    load(folders["bert"], pooling="mean").save(tmp_path)
    again = load(tmp_path)
    assert again.config.pooling == "mean"
    assert load(tmp_path, pooling="token").config.pooling == "token"
    np.testing.assert_allclose(
        again.embed(again.tokenize(TEXTS), Runtime(threads=1)),
        (mean := load(folders["bert"], pooling="mean")).embed(mean.tokenize(TEXTS), Runtime(threads=1)),
        atol=1e-6,
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_the_longest_text_can_be_read_and_longer_ones_are_refused(folders: dict[str, Path], family: str) -> None:
    """RoBERTa and MPNet have fewer places than positions: theirs are counted from behind the padding's."""
    places = {"xlnet": 1 << 20, "roberta": 63, "mpnet": 62}.get(family, 64)
    text = " ".join(["fish"] * 100)
    encoder = TextEncoder.load(EncoderConfig(name=str(folders[family]), max_tokens=min(places, 80)))
    assert encoder.tokenize([text]).lengths().tolist() == [min(places, 80)]
    assert np.isfinite(encoder.embed(encoder.tokenize([text]), Runtime(threads=1))).all()
    if family != "xlnet":
        encoder = TextEncoder.load(EncoderConfig(name=str(folders[family]), max_tokens=places + 1))
        with pytest.raises(ConfigError, match=f"reads at most {places}"):
            encoder.tokenize([text])


def test_chunks_are_averaged(folders: dict[str, Path]) -> None:
    words = ["red", "fish", "blue", "sea", "one", "swim", "and", "red", "fish", "blue", "sea", "one", "swim", "and"]
    encoder = TextEncoder.load(EncoderConfig(name=str(folders["bert"]), max_tokens=9, chunks=2)).eval()
    whole = encoder.embed(encoder.tokenize([" ".join(words), "sea"]), Runtime(threads=1))
    halves = encoder.embed(encoder.tokenize([" ".join(words[:7]), " ".join(words[7:])]), Runtime(threads=1))
    np.testing.assert_allclose(whole[0], halves.mean(0), atol=1e-6)
    np.testing.assert_allclose(whole[1], encoder.embed(encoder.tokenize(["sea"]), Runtime(threads=1))[0], atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_frozen_layers_get_no_gradient_and_no_backward(folders: dict[str, Path], family: str) -> None:
    encoder = load(folders[family], freeze=2).train()
    batch = encoder.tokenize(TEXTS).pad(np.arange(4))
    assert not encoder(batch, (2,)).requires_grad  # nothing below leads to a trainable weight
    encoder(batch).sum().backward()
    trained = {name for name, p in encoder.named_parameters() if p.grad is not None}
    assert trained
    layers = {int(part) for name in trained for part in name.split(".") if part.isdigit()}
    assert layers <= {2}
    assert not any("embedding" in name.lower() for name in trained)


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "xlnet"])
def test_kept_frozen_states_change_nothing(folders: dict[str, Path], family: str) -> None:
    results = []
    for keep in (False, True):
        encoder = load(folders[family], freeze=1, keep_frozen=keep)
        tokens = encoder.keep_frozen(encoder.tokenize(TEXTS), None, Runtime(threads=1))
        assert (tokens.states is not None) == keep
        batch = tokens.pad(np.array([1, 3, 0, 2]))
        states = encoder.train()(batch, (1, -1))
        states.square().sum().backward()
        gradient = [p.grad for p in encoder.parameters() if p.grad is not None]
        results.append((states.detach(), encoder.embed(tokens, Runtime(threads=1)), *gradient))
        assert encoder(batch, (0,)).shape == (1, 4, 32)  # a layer below the frozen ones: they run again
    for plain, kept in zip(*results, strict=True):
        np.testing.assert_allclose(kept, plain, atol=3e-2, rtol=1e-2)
    assert not torch.equal(results[0][0], results[1][0])  # 16 bits


def test_kept_states_stay_in_a_folder_for_a_run_that_is_resumed(folders: dict[str, Path], tmp_path: Path) -> None:
    def states(encoder: TextEncoder) -> np.ndarray:
        tokens = encoder.keep_frozen(encoder.tokenize(TEXTS), tmp_path, Runtime(threads=1))
        return encoder.embed(tokens, Runtime(threads=1))

    first = states(load(folders["bert"], freeze=1, keep_frozen=True))
    (file,) = tmp_path.glob("frozen-*")
    written = file.stat().st_mtime_ns
    np.testing.assert_array_equal(states(load(folders["bert"], freeze=1, keep_frozen=True)), first)
    assert file.stat().st_mtime_ns == written
    other = load(folders["bert"], freeze=1, keep_frozen=True)
    with torch.no_grad():
        next(other._frozen[0].parameters()).add_(1)  # other layers make other states
    assert not np.allclose(states(other), first)
    assert len(list(tmp_path.glob("frozen-*"))) == 2


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_shortened_text_keeps_the_states_of_its_first_and_of_its_special_tokens(
    folders: dict[str, Path], family: str
) -> None:
    encoder = load(folders[family], freeze=1, keep_frozen=True)
    tokens = encoder.keep_frozen(encoder.tokenize(["one red fish and one blue", "sea"]), None, Runtime(threads=1))
    rows = np.array([1, 0])
    whole, short = tokens.pad(rows), tokens.pad(rows, 5)
    assert whole.states is not None
    assert short.states is not None
    assert short.states.shape[:2] == short.ids.shape == (2, 5)
    np.testing.assert_array_equal(short.states[0], whole.states[0, :5])
    np.testing.assert_array_equal(short.states[1], whole.states[1, [0, 1, 2, 3, 7]])
    assert whole.mask[1].sum() == 8
    assert encoder(short).shape == (1, 2, 32)


def test_kept_states_are_refused_where_they_are_of_no_use(folders: dict[str, Path]) -> None:
    encoder = load(folders["bert"], freeze=1, keep_frozen=True)
    with pytest.raises(ConfigError, match="the state after layer 0 is needed"):
        encoder.keep_frozen(encoder.tokenize(TEXTS), None, Runtime(threads=1), lowest_wanted=0)
    strange = load(folders["xlnet"], freeze=1, keep_frozen=True)
    with pytest.raises(ConfigError, match="xlnet"):
        strange.keep_frozen(strange.tokenize(TEXTS), None, Runtime(threads=1))
    with pytest.raises(ConfigError, match="keep_frozen"):
        EncoderConfig(keep_frozen=True)


def test_gradient_checkpointing_changes_nothing(folders: dict[str, Path]) -> None:
    gradients = []
    for checkpointing in (False, True):
        encoder = load(folders["bert"], checkpointing=checkpointing).train()
        encoder(encoder.tokenize(TEXTS).pad(np.arange(4)), (1, -1)).square().sum().backward()
        gradients.append(encoder.model.encoder.layer[0].output.dense.weight.grad)
    torch.testing.assert_close(*gradients)
    with pytest.raises(ConfigError, match="checkpointing does not work with a xlnet encoder"):
        load(folders["xlnet"], checkpointing=True)


def test_a_frozen_encoder_neither_learns_nor_drops(folders: dict[str, Path]) -> None:
    encoder = load(folders["bert"], dropout=0.5)
    batch = encoder.tokenize(TEXTS).pad(np.arange(4))
    encoder.freeze()
    first = encoder.train()(batch)
    assert not first.requires_grad
    assert torch.equal(first, encoder(batch))


def test_dropout_can_be_set(folders: dict[str, Path]) -> None:
    encoder = load(folders["bert"], dropout=0.5).train()
    batch = encoder.tokenize(TEXTS).pad(np.arange(4))
    assert not torch.equal(encoder(batch), encoder(batch))
    encoder.eval()
    assert torch.equal(encoder(batch), encoder(batch))


@pytest.mark.parametrize("family", ["bert", "distilbert", "mpnet", "modernbert"])
def test_attention_dropout_is_off_unless_asked_for(folders: dict[str, Path], family: str) -> None:
    batch = load(folders[family]).tokenize(TEXTS).pad(np.arange(4))
    silent = load(folders[family], dropout=0.0).train()
    assert torch.equal(silent(batch), silent(batch))
    noisy = load(folders[family], dropout=0.0, attention_dropout=0.5).train()
    assert not torch.equal(noisy(batch), noisy(batch))


def test_saves_a_plain_hugging_face_folder(folders: dict[str, Path], tmp_path: Path) -> None:
    encoder = load(folders["bert"])
    with torch.no_grad():
        encoder.model.embeddings.word_embeddings.weight.mul_(1.5)
    encoder.save(tmp_path / "encoder")
    model = transformers.AutoModel.from_pretrained(tmp_path / "encoder")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "encoder")
    theirs = model.eval()(**tokenizer(TEXTS[:1], return_tensors="pt")).last_hidden_state[0, 0]
    ours = TextEncoder.load(encoder.config, tmp_path / "encoder").eval()
    np.testing.assert_allclose(theirs.detach(), ours.embed(ours.tokenize(TEXTS[:1]), Runtime(threads=1))[0], atol=1e-6)


def test_a_tensor_that_is_missing_renamed_or_of_another_shape_is_noticed(tmp_path: Path) -> None:
    """Otherwise random weights take its place, and nothing tells."""
    folder, config = make_encoder(tmp_path, WORDS), EncoderConfig(name=str(tmp_path))
    whole = load_file(folder / "model.safetensors")
    name = next(name for name in whole if "attention" in name)
    others = {key: value for key, value in whole.items() if key != name}
    damaged = {"lack": others, "lack.*more|lack": {**others, name + "x": whole[name]},
               "cannot be loaded": {**others, name: whole[name][:1].clone()}}  # fmt: skip
    for problem, weights in damaged.items():
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        with pytest.raises(ConfigError, match=problem):
            TextEncoder.load(config)
        with pytest.raises(StoreError, match=problem):
            TextEncoder.load(config, folder)
    save_file({**whole, "head.bias": whole[name].clone()}, folder / "model.safetensors", metadata={"format": "pt"})
    TextEncoder.load(config)  # pretrained encoders often come with the head of what they were trained for
    with pytest.raises(StoreError, match=r"have an unknown head\.bias"):
        TextEncoder.load(config, folder)
    save_file(
        {k: v for k, v in whole.items() if "pooler" not in k}, folder / "model.safetensors", metadata={"format": "pt"}
    )
    TextEncoder.load(config, folder)
    with pytest.raises(StoreError, match=r"lack pooler\.dense\.bias and 1 more"):
        TextEncoder.load(replace(config, pooling="pooler"), folder)


def test_a_sample_tells_whether_an_encoder_can_read(folders: dict[str, Path]) -> None:
    config = EncoderConfig(name=str(folders["bert"]))
    check_reads(config, TEXTS * 500)
    check_reads(config, ["red fish swim and ภาษาไทย"])  # a word here and there is no matter
    check_reads(config, [""])
    with pytest.raises(ConfigError, match="language or script"):
        check_reads(config, ["ภาษาไทย", "日本語 red"])


def test_all_but_the_last_layers_keep_their_weights_of_however_many_there_are(folders: dict[str, Path]) -> None:
    encoder = load(folders["bert"], freeze=-1)
    learning = {
        name.split(".")[2] for name, p in encoder.model.named_parameters() if p.requires_grad and "layer." in name
    }
    assert learning == {str(encoder.layers - 1)}
    assert load(folders["bert"], freeze=-9, keep_frozen=True).model.training is encoder.model.training
    assert [EncoderConfig(freeze=freeze).frozen(6) for freeze in (-9, -2, 0, 4)] == [0, 4, 0, 4]


def test_settings_out_of_range(folders: dict[str, Path]) -> None:
    with pytest.raises(ConfigError, match="freeze"):
        load(folders["bert"], freeze=9)
    with pytest.raises(ConfigError, match="reads at most 64"):
        TextEncoder.load(EncoderConfig(name=str(folders["bert"]), max_tokens=65)).tokenize(["a"])
    for options in ({"max_tokens": 1}, {"chunks": 0}, {"dropout": 1.5}, {"attention_dropout": 1.0}, {"name": ""}):
        with pytest.raises(ConfigError):
            EncoderConfig(**options)
