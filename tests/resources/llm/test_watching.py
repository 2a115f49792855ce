"""Newly listed models get an entry, once, at a bounded cost; over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from resources.found_models import registry_of
from resources.llm.watching import look
from resources.registry import RegistryError, load_registry
from resources.settings import Settings, read_settings
from tests.servers.faulty import running
from tests.servers.picky import PickyServer

from .conftest import KEY

TODAY = date(2026, 11, 30)
WATCH = {
    "like": "known",
    "pattern": "gpt-*",
    "but_not": ["*-audio*"],
    "ceiling_usd": 2.5,
    "assumed_prices": {"input": 20, "output": 100},
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / ".env").write_text(f"THE_KEY={KEY}\nCONDMAT_BUDGET_DAY_USD=5\n")
    return read_settings({"CONDMAT_DATA": str(tmp_path / "data"), "CONDMAT_MODELS": str(tmp_path / "models.yaml")})


@pytest.fixture
def provider(settings: Settings) -> Iterator[PickyServer]:
    """A provider with one model in its list, which models.yaml has too, and a watch of it."""
    server = PickyServer(listed=[{"id": "gpt-5"}, {"id": "whisper"}])
    with running(server) as address:
        write(settings, address)
        yield server


def write(settings: Settings, address: str, **watch: Any) -> None:
    known = {
        "name": "known",
        "provider": "openai",
        "model": "gpt-5",
        "base_url": f"{address}/v1",
        "key_env": "THE_KEY",
        "capabilities": {"temperature": False, "cache": "automatic", "batch": True, "token_cap": "max_tokens"},
        "parameters": {"max_output_tokens": 500},
        "prices": [{"since": "2025-01-01", "input": 1, "output": 2}],
        "protocols": ["direct", "code"],
        "repeats": 2,
    }
    settings.models_file.write_text(yaml.safe_dump({"models": [known], "watch": [WATCH | watch]}))


def names(settings: Settings) -> list[str]:
    return [entry.name for entry in registry_of(settings).entries]


def test_what_appears_gets_an_entry_once(settings: Settings, provider: PickyServer) -> None:
    (line,) = look(settings, TODAY)
    assert line == "known, gpt-*: 1 of 2 match and count as known; what appears from now on gets an entry"
    assert look(settings, TODAY) == ["known, gpt-*: nothing new among 2 models"]
    assert provider.listed is not None
    provider.listed += [{"id": "gpt-6"}, {"id": "gpt-6-audio"}, {"id": "o9"}]
    (line,) = look(settings, TODAY)
    assert line == "known, gpt-*: new: gpt-6; like known, up to $2.5 each, written to found_models.yaml"
    assert look(settings, TODAY) == ["known, gpt-*: nothing new among 5 models"]
    assert names(settings) == ["known", "gpt-6"]
    found = registry_of(settings)["gpt-6"]
    assert (found.model, found.base_url, found.key_env) == ("gpt-6", registry_of(settings)["known"].base_url, "THE_KEY")
    assert (found.ceiling_usd, found.probe, found.protocols, found.repeats) == (2.5, True, ("direct", "code"), 2)
    # What an endpoint decides is taken over, what models differ in is found out.
    assert found.capabilities.model_fields_set == {"cache", "batch"}
    price = found.price_on(TODAY)
    assert price is not None
    assert (price.since, price.input, price.output) == (TODAY, 20, 100)
    assert found.why_off({"THE_KEY": KEY, "CONDMAT_BUDGET_DAY_USD": "5"}) is None
    assert found.why_off({"THE_KEY": KEY}) is not None


def test_the_file_is_the_readers_to_change(settings: Settings, provider: PickyServer) -> None:
    look(settings, TODAY)
    provider.listed = [{"id": "gpt-6"}]
    look(settings, TODAY)
    text = settings.found_models.read_text().replace("probe: true", "enabled: false  # not now")
    settings.found_models.write_text(text)
    provider.listed = [{"id": "gpt-6"}, {"id": "gpt-7"}]
    look(settings, TODAY)
    assert settings.found_models.read_text().startswith(text)
    assert [e.enabled for e in registry_of(settings).entries] == [True, False, True]
    # Moved to models.yaml, an entry is that file's.
    own = yaml.safe_load(settings.models_file.read_text())
    own["models"].append({"name": "gpt-6", "provider": "reference"} | {"name": "argmax"})
    own["models"].append({**own["models"][0], "name": "GPT-6", "model": "gpt-6"})
    settings.models_file.write_text(yaml.safe_dump(own))
    assert names(settings) == ["known", "argmax", "GPT-6", "gpt-7"]


def test_a_flood_gets_no_entries(settings: Settings, provider: PickyServer) -> None:
    provider.listed = []
    look(settings, TODAY)
    provider.listed = [{"id": f"gpt-{number}"} for number in range(10, 50)]
    lines = look(settings, TODAY)
    assert "gpt-10, gpt-11, gpt-12, gpt-13, gpt-14 and 35 more are new, more than most_new: 3; none got" in lines[-1]
    assert not settings.found_models.exists()
    write(settings, registry_of(settings)["known"].endpoint.removesuffix("/v1"), most_new=40)
    look(settings, TODAY)
    assert len(names(settings)) == 41


@pytest.mark.parametrize("name", ["gpt-a|b", "gpt-..", "gpt-\nx", "gpt-[x]", "gpt-" + "y" * 300])
def test_an_unusable_name_is_one_line(settings: Settings, provider: PickyServer, name: str) -> None:
    look(settings, TODAY)
    provider.listed = [{"id": "gpt-5"}, {"id": name}]
    (line,) = look(settings, TODAY)
    assert "is new and gets no entry: its name " in line
    assert "\n" not in line
    assert look(settings, TODAY) == ["known, gpt-*: nothing new among 2 models"]


@pytest.mark.parametrize("status", [401, 403, 404, 500, 503])
def test_a_list_that_fails_changes_nothing_and_shows_no_key(
    settings: Settings, provider: PickyServer, status: int
) -> None:
    look(settings, TODAY)
    provider.list_status = status
    (line,) = look(settings, TODAY)
    assert "the list cannot be had: " in line
    assert KEY not in line
    assert "\n" not in line
    assert not settings.found_models.exists()


def test_the_key_goes_to_its_own_address_only(settings: Settings, provider: PickyServer) -> None:
    thief = PickyServer(listed=[{"id": "gpt-6"}])
    look(settings, TODAY)
    with running(thief) as elsewhere:
        provider.list_moved_to = f"{elsewhere}/v1/models"
        (line,) = look(settings, TODAY)
    assert "the list cannot be had: " in line
    assert thief.looks == 0
    assert names(settings) == ["known"]


def test_without_the_key_nobody_is_looked_at(settings: Settings, provider: PickyServer) -> None:
    (settings.models_file.parent / ".env").unlink()
    assert look(settings, TODAY) == ["known, gpt-*: not looked at, because THE_KEY is not set"]
    assert provider.looks == 0


def test_what_the_list_says_of_known_models_is_said(settings: Settings, provider: PickyServer) -> None:
    look(settings, TODAY)
    provider.listed = [{"id": "gpt-5", "shutdown_date": "2026-12-31"}]
    assert "known: gpt-5 ends on 2026-12-31" in look(settings, TODAY)[0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"ceiling_usd": None}, "field ceiling_usd: is missing; add it"),
        ({"ceiling_usd": 0}, "field ceiling_usd: input should be greater than 0"),
        ({"ceiling_usd": float("inf")}, "field ceiling_usd"),
        ({"assumed_prices": None}, "field assumed_prices: is missing; write what a model not known yet may cost"),
        ({"assumed_prices": {"input": 1}}, "field assumed_prices.output: is missing; add it"),
        (
            {"assumed_prices": {"input": 1, "output": 2, "in": 3}},
            "field assumed_prices.in: is no known key; use",
        ),
        ({"like": "nobody"}, "field like: is no entry that asks a model"),
        ({"pattern": ""}, "field pattern"),
        ({"colour": "red"}, "field colour: is no known key; use one of like, pattern"),
    ],
)
def test_a_watch_without_a_bound_is_refused(settings: Settings, change: dict[str, Any], says: str) -> None:
    write(settings, "http://h", **change)
    document = yaml.safe_load(settings.models_file.read_text())
    document["watch"][0] = {name: value for name, value in document["watch"][0].items() if value is not None}
    settings.models_file.write_text(yaml.safe_dump(document))
    with pytest.raises(RegistryError) as caught:
        load_registry(settings.models_file)
    message = str(caught.value)
    assert message.startswith(f"{settings.models_file}:")
    assert f": watch 1, {says}" in message
    assert "\n" not in message


def test_without_a_watch_nothing_is_done(settings: Settings) -> None:
    settings.models_file.write_text("models:\n  - {name: argmax, provider: reference}\n")
    assert look(settings, TODAY) == []
    assert not settings.data.exists()
