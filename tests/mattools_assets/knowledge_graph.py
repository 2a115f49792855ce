"""The real knowledge graph of MatTools over a small package, with a scripted model behind a real client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dagster as dg
import yaml

from mattools_assets.bring_up_to_date import bring_up_to_date
from mattools_assets.definitions import build_defs
from resources.carrying_out import Done
from resources.registry import load_registry
from resources.settings import Settings, read_settings
from tests.servers.scripted import ScriptedServer, Turn

# top -> middle -> low; other -> low; alone
PACKAGE = '''def low(x):
    """Lowest."""
    return x


def middle(x):
    return low(x) + 1


def top(x):
    return middle(x) * 2


def other(x):
    return low(x)


def alone():
    return None
'''
OBJECTS = ("low", "middle", "top", "other", "alone")
BASELINES = ("baseline-guess", "baseline-always-a", "baseline-longest")
MODEL = "scripted"


def question(name: str, kind: str) -> dict[str, Any]:
    """A question that passes all gates and resembles no other."""
    return {
        "question": f"Which colour does the {kind} object `{name}` of package small wear on day {len(name)}{name[-1]}?",
        "correct": f"{name} {kind} green",
        "wrong": [f"{name} {kind} {colour}" for colour in ("red", "blue", "white")],
    }


def scripted(answer: str = "<answer>A</answer>", edition: str = "", **plays: str) -> ScriptedServer:
    """A model that documents, writes one good question an object, and answers all alike; `plays` override this."""
    written = {
        f"Below is the {what} of `{name}`": [Turn(json.dumps({"questions": [question(name, kind)]}))]
        for what, kind in (("code", "code"), ("documentation", "doc"))
        for name in OBJECTS
    }
    documents = {f"The function `{name}`": [Turn(f"Purpose: what {name} is for. {edition}")] for name in OBJECTS}
    said = {key: [Turn(text)] for key, text in plays.items()}
    return ScriptedServer({**written, **documents, "Answer this multiple-choice": [Turn(answer)], **said})


def model(address: str, name: str = MODEL, **fields: Any) -> dict[str, Any]:
    """An entry of models.yaml for a server."""
    return {
        "name": name,
        "provider": "openai_compatible",
        "model": name,
        "base_url": address,
        "free": True,
        "parameters": {"max_output_tokens": 200},
        "protocols": ["docs", "questions", "qa"],
        **fields,
    }


def knowledge_settings(folder: Path, *models: dict[str, Any], **environment: str) -> Settings:
    """Settings over the small package in `folder / small`, with the baselines and `models` in the registry."""
    package = folder / "small"
    if not package.exists():
        package.mkdir()
        (package / "m.py").write_text(PACKAGE)
    baselines = [{"name": name, "provider": "reference", "protocols": ["qa"]} for name in BASELINES]
    models_file = folder / "models.yaml"
    models_file.write_text(yaml.safe_dump({"models": [*baselines, *models]}))
    own = {
        "CONDMAT_DATA": str(folder / "data"),
        "CONDMAT_MODELS": str(models_file),
        "CONDMAT_TOOL_SOURCE": f"folder:{package}",
    }
    return read_settings(own | environment)


def bring(settings: Settings, instance: dg.DagsterInstance) -> Done:
    """Make whatever is missing or no longer good."""
    entries = load_registry(settings.models_file).runnable({})
    return bring_up_to_date(settings, entries, instance, build_defs(settings))


def prompts_for(server: ScriptedServer, words: str) -> list[str]:
    """The prompts that hold `words`, of all that the server was asked."""
    prompts = [str(body["messages"][0]["content"]) for body in server.bodies]
    return [prompt for prompt in prompts if words in prompt]
