"""The registry of models: what it accepts, and the one line that it says when it does not."""

from __future__ import annotations

import contextlib
import os
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from yaml import MappingNode

from resources.registry import (
    REFERENCE_ENTRANTS,
    RegistryError,
    folder_partition,
    load_registry,
    partition_folder,
    read_environment,
)
from resources.strict_yaml import YamlError, compose, mapping_of

SHIPPED = Path(__file__).parents[2] / "models.yaml"
PLAIN = """models:
  - name: a
    provider: openai
    model: m
    key_env: K
"""
PLANTED = "sk-planted-0123456789"
UNUSABLE = ('"http://h\\0x"', '"http://h\\x01/v1"', "http://ｈ。/v1", "http://999.1.1.1/v1", "http://" + "h" * 3000)


def write(folder: Path, text: str) -> Path:
    path = folder / "models.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def complaint(folder: Path, text: str) -> str:
    path = write(folder, text)
    with pytest.raises(RegistryError) as caught:
        load_registry(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def test_the_shipped_file_runs_exactly_the_reference_entrants_without_a_key() -> None:
    registry = load_registry(SHIPPED)
    assert tuple(entry.name for entry in registry.runnable({})) == tuple(REFERENCE_ENTRANTS)
    assert all(entry.free or entry.provider == "reference" or entry.why_off({}) for entry in registry.entries)


def test_a_key_switches_on_its_models_and_no_others() -> None:
    registry = load_registry(SHIPPED)
    key, ceiling = {"ANTHROPIC_API_KEY": "x"}, {"CONDMAT_BUDGET_DAY_USD": "5"}
    gained = {e.name for e in registry.runnable(key | ceiling)} - set(REFERENCE_ENTRANTS)
    assert gained == {"claude-opus-4.7", "claude-opus-4.5", "claude-sonnet-4.5"}


@pytest.mark.parametrize("budget", [{}, {"CONDMAT_BUDGET_DAY_USD": "0"}, {"CONDMAT_BUDGET_RUN_USD": "0"}])
def test_a_key_alone_spends_nothing(budget: dict[str, str]) -> None:
    environment = {"OPENAI_API_KEY": "exported for something else", **budget}
    registry = load_registry(SHIPPED)
    assert {e.name for e in registry.runnable(environment)} == set(REFERENCE_ENTRANTS)
    (line,) = (line for line in registry.off(environment) if line.startswith("o3:"))
    assert "off, because nothing may be spent; set CONDMAT_BUDGET_DAY_USD to the US dollars" in line


def test_nobody_is_billed_without_a_key_and_a_price(tmp_path: Path) -> None:
    local = "  - {name: l, provider: openai_compatible, model: m, base_url: http://h/v1"
    price = "prices: [{since: 2026-01-01, input: 1, output: 2}]"
    names = {
        "": {"l"},
        ", free: true, key_env: K": {"l"},
        ", key_env: K": set(),
        f", {price}": set(),
    }
    for more, runs in names.items():
        registry = load_registry(write(tmp_path, f"models:\n{local}{more}}}\n"))
        assert {entry.name for entry in registry.runnable({"K": "x"})} == runs, more


def test_a_missing_key_is_one_line_for_that_model() -> None:
    lines = [line for line in load_registry(SHIPPED).off({"OPENAI_API_KEY": " "}) if line.startswith("o3:")]
    assert lines == ["o3: off, because OPENAI_API_KEY is not set; put it into .env or the environment"]


def test_the_env_file_is_read_and_the_environment_wins(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_FILE=1\nBOTH='file $HOME'\nEMPTY=\n")
    assert read_environment(tmp_path / "models.yaml", {"BOTH": "process"}) == {"FROM_FILE": "1", "BOTH": "process"}
    assert read_environment(tmp_path / "models.yaml", {})["BOTH"] == "file $HOME"


def test_the_price_in_force_is_the_latest_that_has_begun(tmp_path: Path) -> None:
    newer, older = "{since: 2026-03-01, input: 2, output: 4}", "{since: 2025-01-01, input: 1, output: 3}"
    entry = load_registry(write(tmp_path, f"{PLAIN}    prices: [{newer}, {older}]"))["a"]
    days = [date(2024, 12, 31), date(2025, 1, 1), date(2026, 2, 28), date(2026, 3, 1)]
    assert [price and price.input for price in map(entry.price_on, days)] == [None, 1, 1, 2]


@pytest.mark.parametrize(
    ("change", "line", "says"),
    [
        (("key_env: K", "key_env: K\n    api_key: " + PLANTED), 6, "field api_key: is no known key"),
        (("key_env: K", "key_env: " + PLANTED), 5, "field key_env: must be the name of an environment variable"),
        (("provider: openai", "provider: opnai"), 3, "field provider: input should be 'openai', 'anthropic'"),
        (("    model: m\n", ""), 2, "field model: is missing"),
        (("key_env: K", "base_url: ftp://h"), 5, "field base_url: is not a usable address"),
        (("key_env: K", "base_url: http://"), 5, "field base_url: is not a usable address"),
        (("key_env: K", "base_url: http://h:99999"), 5, "field base_url: is not a usable address"),
        (("key_env: K", f"base_url: https://u:{PLANTED}@h/v1"), 5, "field base_url: must hold no user, password"),
        (("key_env: K", "repeats: 0"), 5, "field repeats"),
        (("key_env: K", "max_concurrency: many"), 5, "field max_concurrency"),
        (
            ("key_env: K", "key_env: K\n    prices: [{since: 2026-01-01, input: 0, output: 1}]"),
            6,
            "prices.0.input: input",
        ),
        (
            ("key_env: K", "key_env: K\n    prices: [{since: 2026-01-01, input: -1, output: 1}]"),
            6,
            "prices.0.input: input",
        ),
        (("key_env: K", "key_env: K\n    prices: [{since: 2026-01-01, input: .nan, output: 1}]"), 6, "prices.0.input"),
        (("key_env: K", "key_env: K\n    prices: [{since: soon, input: 1, output: 1}]"), 6, "prices.0.since"),
        (("key_env: K", "key_env: K\n    prices: [{input: 1, output: 1}]"), 6, "prices.0.since: is missing"),
        (
            ("key_env: K", "key_env: K\n    capabilities:\n      temprature: 1"),
            7,
            "capabilities.temprature: is no known",
        ),
        (("key_env: K", "key_env: K\n    parameters: {effort: high}"), 6, "parameters.effort: is not among"),
        (("key_env: K", "key_env: K\n    protocols: [dircet]"), 6, "protocols.0"),
        (("key_env: K", "key_env: K\n    batch: true"), 6, "field batch: this model has no batch"),
        (
            ("key_env: K", "key_env: K\n    capabilities: {cache: cache_control}"),
            6,
            "capabilities.cache: cache_control is",
        ),
        (("key_env: K", "model: n"), 5, "the key model is there twice"),
        (
            ("key_env: K", "key_env: K\n  - {name: A, provider: openai, model: x, key_env: K}"),
            6,
            "name: is taken by 'a'",
        ),
        *(
            (("key_env: K", f"base_url: {url}"), 5, "field base_url: is not a usable address")
            for url in (
                '"http://h\\0x"',
                '"http://h\\x01/v1"',
                "http://ｈ。/v1",
                "http://999.1.1.1/v1",
                "http://" + "h" * 3000,
            )
        ),
        *(
            (("key_env: K", f"key_env: K\n    parameters: {{{given}}}"), 6, f"parameters.{given.split(':')[0]}")
            for given in (
                f"seed: {10**29}",
                f"max_output_tokens: {10**30}",
                "extra_body: {x: !!set {a}}",
                "extra_body: {x: !!binary aGk=}",
                f"extra_body: {{x: {10**30}}}",
                f"extra_body: {{x: {'[' * 300}{']' * 300}}}",
                'extra_body: {x: "\\ud83d"}',
                "extra_body: {1: x}",
                "extra_body: {max_tokens: lots}",
                "extra_body: {max_completion_tokens: 0}",
                "extra_body: {max_tokens: true}",
            )
        ),
        (("name: a", "name: 5"), 2, "field name: input should be a valid string"),
        (("name: a", "name: ''"), 2, "field name: must not be empty"),
        (("name: a", "name: ' a'"), 2, "field name: must not be empty nor begin or end with a space"),
        (("name: a", "name: a|b"), 2, "field name: must not contain '|'"),
        (("name: a", "name: a/../b"), 2, "field name: must not contain '..'"),
        (("name: a", 'name: "a\\nb"'), 2, "field name: must hold no line break"),
        (("name: a", "name: /a"), 2, "field name: must not begin or end"),
        (("name: a", "name: " + "あ" * 30), 2, "field name: is too long"),
    ],
)
def test_one_line_names_line_entry_field_and_mend(
    tmp_path: Path, change: tuple[str, str], line: int, says: str
) -> None:
    assert change[0] in PLAIN
    message = complaint(tmp_path, PLAIN.replace(*change))
    assert message.startswith(f":{line}: ")
    assert says in message
    assert PLANTED not in message


@pytest.mark.parametrize(
    "text", ["", "models: [", "- a", "models: 5", "models:\n  - 5", "other: []", "models: []\nx: 1"]
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, text: str) -> None:
    assert complaint(tmp_path, text)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/v1", "http://[::1]:8000/v1", "http://localhost:11434/v1", "https://bücher.example/v1"]
)
def test_every_kind_of_address_is_taken(tmp_path: Path, url: str) -> None:
    (entry,) = load_registry(write(tmp_path, PLAIN.replace("key_env: K", f"key_env: K\n    base_url: {url}"))).entries
    assert entry.endpoint == url


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="No such file"):
        load_registry(tmp_path / "none.yaml")
    (tmp_path / "models.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RegistryError, match="UTF-8"):
        load_registry(tmp_path / "models.yaml")


DEEP = 5000
UNUSUAL = [
    ("since: 2026-02-30", "it is no timestamp"),
    ("since: !!timestamp foo", "it is no timestamp"),
    ("since: !!timestamp [1]", "expected a scalar node"),
    ("input: !!int foo", "it is no int"),
    ("input: !!float foo", "it is no float"),
    ("input: !!bool foo", "it is no bool"),
    ('input: !!binary "é"', "failed to convert base64 data"),
    ("input: !!omap [1]", "expected a mapping of length 1"),
    ("input: !!omap {[a]: 1}", "expected a sequence"),
    ("input: !!set [1]", "expected a mapping node"),
    ("input: !!python/object:os.system {}", "could not determine a constructor"),
    ("input: " + "9" * 5000, "it is too long for int"),
    ("input: " + "1:1" * 100_000, "it is too long for int"),
    ("input: 0x" + "f" * 200_000, "it is too long for int"),
    ("? [a, b]\n        : 1", "a key must be a single word"),
    ("? {a: b}\n        : 1", "a key must be a single word"),
    ("<<: 5", "expected a mapping or list of mappings"),
    ("x: " + "[" * DEEP + "]" * DEEP, "is nested too deeply"),
    ("x: " + "{a: " * DEEP + "}" * DEEP, "is nested too deeply"),
    ("x: &x [*x]", "it contains itself"),
    ("x: &x {a: {b: *x}}", "it contains itself"),
    ('x: "\\U00110000"', "an escape that stands for no character"),
    ('x: "\\UFFFFFFFF"', "an escape that stands for no character"),
    ("x: *nobody", "found undefined alias"),
    ("x: [" + ", ".join(["1"] * 100_001) + "]", "more than 100,000 values"),
]


@pytest.mark.parametrize(("text", "says"), UNUSUAL, ids=[text[:20] for text, _ in UNUSUAL])
@pytest.mark.parametrize("place", ["prices:\n      - ", "parameters:\n      extra_body:\n        "])
def test_values_that_yaml_cannot_make_are_one_line(tmp_path: Path, place: str, text: str, says: str) -> None:
    message = complaint(tmp_path, f"{PLAIN}    {place}{text}\n")
    assert f"is not valid YAML ({says}" in message or says in message
    assert message.endswith("; mend this line")
    assert len(message) < 300


@pytest.mark.parametrize("levels", [9, 60])
def test_aliases_that_multiply_are_one_line(tmp_path: Path, levels: int) -> None:
    """Ten of the one before at each level: written out, more than there are atoms."""
    lines = ["x0: &x0 [lol]", *(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10)}]" for n in range(1, levels))]
    body = "".join(f"        {line}\n" for line in lines)
    message = complaint(tmp_path, f"{PLAIN}    parameters:\n      extra_body:\n{body}")
    assert message.startswith(":13: ")
    assert "more than 100,000 values" in message


def test_a_long_chain_of_aliases_is_one_line(tmp_path: Path) -> None:
    body = "".join(f"        x{n}: &x{n} [{f'*x{n - 1}' if n else ''}]\n" for n in range(5000))
    assert "more than 100,000 values" in complaint(tmp_path, f"{PLAIN}    parameters:\n      extra_body:\n{body}")


@given(st.text(st.sampled_from("[]{}&*!<:?-#|>'\"% \n\tax0") | st.characters(), max_size=60))
@settings(max_examples=500, deadline=None)
def test_no_text_raises_anything_else(text: str) -> None:
    for document in (text, f"models:\n  - name: a\n    parameters: {text}"):
        with contextlib.suppress(YamlError):
            node = compose(document)
            if isinstance(node, MappingNode):
                mapping_of(node)


def test_what_is_no_file_or_endless_is_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (Path("/dev/zero"), tmp_path, tmp_path / "pipe"):
        with pytest.raises(RegistryError, match="it is no file"):
            load_registry(path)
    assert "it is longer than 1,000,000 bytes" in complaint(tmp_path, PLAIN + "#" * 1_000_000)


@pytest.mark.parametrize("name", ["Qwen/Qwen2.5-7B-Instruct", "gpt 5", "模型-β", "a%2Fb", "model=1", "C:x"])
def test_unusual_names_survive_as_entry_and_folder(tmp_path: Path, name: str) -> None:
    entry = load_registry(write(tmp_path, PLAIN.replace("name: a", f"name: {name!r}")))[name]
    folder = partition_folder(entry.name)
    (tmp_path / "lake" / folder).mkdir(parents=True)
    assert [folder_partition(found.name) for found in (tmp_path / "lake").iterdir()] == [name]


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40))
def test_folder_names_are_reversible_and_flat(name: str) -> None:
    folder = partition_folder(name)
    assert folder_partition(folder) == name
    assert not set(folder) & set('/\\:*?"<>|\n\0')
