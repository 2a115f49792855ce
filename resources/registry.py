"""The registry of models: `models.yaml`, read and checked.

Whatever is wrong with the file is one line that names the file, the line, the entry, the field and the mend.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from resources.model_entry import (
    ALLOW,
    REFERENCE_ENTRANTS,
    SET_KEY,
    Capabilities,
    ModelEntry,
    Parameters,
    PriceList,
    folder_partition,
    partition_folder,
)
from resources.settings import env_file
from resources.strict_yaml import YamlError, compose, mapping_of, read_text
from resources.watch import AssumedPrices, Watch

__all__ = [
    "REFERENCE_ENTRANTS",
    "Capabilities",
    "ModelEntry",
    "Parameters",
    "PriceList",
    "Registry",
    "RegistryError",
    "folder_partition",
    "load_registry",
    "not_asked",
    "partition_folder",
    "read_environment",
]

_SECTIONS: dict[str, type[BaseModel]] = {
    "capabilities": Capabilities,
    "parameters": Parameters,
    "prices": PriceList,
    "assumed_prices": AssumedPrices,
}
Section = TypeVar("Section", bound=BaseModel)


class RegistryError(ValueError):
    """A `models.yaml` that cannot be used; the message is one line with file, line, entry, field and mend."""


@dataclass(frozen=True)
class Registry:
    """The entries of one `models.yaml` in the file's order, and the lists of models that are watched."""

    path: Path
    entries: tuple[ModelEntry, ...]
    watches: tuple[Watch, ...] = ()

    def __getitem__(self, name: str) -> ModelEntry:
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise RegistryError(
            f"{self.path}: there is no model {name!r}; it has {', '.join(e.name for e in self.entries)}"
        )

    def runnable(self, environment: Mapping[str, str]) -> tuple[ModelEntry, ...]:
        """Entries that are enabled and whose key is there."""
        return tuple(entry for entry in self.entries if entry.why_off(environment) is None)

    def off(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        """One line for each entry that does not run."""
        return tuple(line for entry in self.entries if (line := entry.why_off(environment)))


def not_asked(entries: Iterable[ModelEntry], protocols: Collection[str], environment: Mapping[str, str]) -> list[str]:
    """A line for each thing that keeps enabled entries from running under one of the protocols: keys and money."""
    without: dict[str, list[str]] = {}
    for entry in entries:
        if entry.enabled and set(entry.protocols) & set(protocols) and entry.why_off(environment):
            is_set = not entry.key_env or environment.get(entry.key_env, "").strip()
            reason = f"nothing may be spent|{ALLOW}" if is_set else f"{entry.key_env} is not set|{SET_KEY}"
            without.setdefault(reason, []).append(entry.name)
    lines = [(*reason.split("|"), ", ".join(names)) for reason, names in without.items()]
    return [f"not asked, because {why}: {names}; {mend}" for why, mend, names in lines]


def load_registry(path: Path) -> Registry:
    """The registry in `path`. Raises RegistryError with one line."""
    try:
        document = compose(read_text(path))
    except OSError as error:
        raise RegistryError(
            f"{path}: cannot be read ({error.strerror}); make it or point CONDMAT_MODELS at it"
        ) from None
    except UnicodeDecodeError:
        raise RegistryError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    except YamlError as error:
        raise RegistryError(_yaml_line(path, error)) from None
    entries, watched = _sections(path, document)
    models = tuple(_entry(path, number, node) for number, node in enumerate(entries, 1))
    seen: dict[str, str] = {}
    for model, node in zip(models, entries, strict=True):
        # Some file systems do not tell upper from lower case.
        if other := seen.get(model.name.casefold()):
            raise RegistryError(
                _line(path, node, f"model {model.name!r}", "name", f"is taken by {other!r}; give it another")
            )
        seen[model.name.casefold()] = model.name
    return Registry(path, models, tuple(_watch(path, n, node, models) for n, node in enumerate(watched, 1)))


def read_environment(models_file: Path, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The process's environment over the `.env` beside `models_file`; this is where keys are looked up."""
    return env_file(models_file) | dict(os.environ if environment is None else environment)


def _sections(path: Path, document: yaml.Node | None) -> tuple[list[yaml.Node], list[yaml.Node]]:
    """The nodes of the entries and of the watched lists."""
    found: dict[str, list[yaml.Node]] = {}
    for key, value in document.value if isinstance(document, yaml.MappingNode) else ():
        if key.value in ("models", "watch") and key.value not in found and isinstance(value, yaml.SequenceNode):
            found[key.value] = list(value.value)
        else:
            found.clear()
            break
    if "models" not in found:
        raise RegistryError(
            f"{path}:1: must be one key `models` with a list of entries beneath it, and at most a `watch`"
        )
    return found["models"], found.get("watch", [])


def _entry(path: Path, number: int, node: yaml.Node) -> ModelEntry:
    value = _value(path, f"model 'number {number}'", node)
    return _validated(path, f"model {str(value.get('name') or f'number {number}')!r}", node, value, ModelEntry)


def _watch(path: Path, number: int, node: yaml.Node, entries: tuple[ModelEntry, ...]) -> Watch:
    who = f"watch {number}"
    watch = _validated(path, who, node, _value(path, who, node), Watch)
    if fault := watch.check(entries):
        raise RegistryError(_line(path, _node_of(node, [fault[0]]), who, *fault))
    return watch


def _value(path: Path, who: str, node: yaml.Node) -> dict[str, Any]:
    if not isinstance(node, yaml.MappingNode):
        raise RegistryError(_line(path, node, who, "-", "must be keys and values, such as `name: …`"))
    try:
        return mapping_of(node)
    except YamlError as error:
        raise RegistryError(_yaml_line(path, error)) from None


def _validated(path: Path, who: str, node: yaml.Node, value: dict[str, Any], kind: type[Section]) -> Section:
    """`value` as what it must be. The YAML node is kept beside it, because only that knows the line."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        location = [str(part) for part in first["loc"] if not str(part).startswith("function-")]
        message = first["msg"].removeprefix("Value error, ")
        if not location:  # said by the entry as a whole: "field: what is wrong"
            field, _, message = message.partition(": ")
            location = field.split(".")
        mend = _mend(first["type"], message, location, kind)
        raise RegistryError(_line(path, _node_of(node, location), who, ".".join(location), mend)) from None


def _mend(kind: str, message: str, location: list[str], whole: type[BaseModel]) -> str:
    """What to do. Values are not repeated: somebody may have written a key where its variable's name belongs."""
    if kind == "extra_forbidden":
        section = _SECTIONS.get(location[0], whole) if len(location) > 1 else whole
        return f"is no known key; use one of {', '.join(section.model_fields)}"
    if kind == "missing":
        return "is missing; add it"
    if kind == "string_pattern_mismatch":
        return "must be the name of an environment variable such as OPENAI_API_KEY, never the key itself"
    if kind == "greater_than" and location[0] == "prices":
        return f"{message[0].lower()}{message[1:]}; leave it out when it is not known, or say `free: true` for no cost"
    return f"{message[0].lower()}{message[1:]}"


def _node_of(node: yaml.Node, location: list[str]) -> yaml.Node:
    for part in location:
        if isinstance(node, yaml.MappingNode):
            # From the back: PyYAML puts what a merge key brought in before the entry's own keys.
            own = ((k if part == location[-1] else v) for k, v in reversed(node.value) if k.value == part)
            node = next(own, node)
        elif isinstance(node, yaml.SequenceNode) and part.isdigit() and int(part) < len(node.value):
            node = node.value[int(part)]
    return node


def _line(path: Path, node: yaml.Node, who: str, field: str, message: str) -> str:
    return f"{path}:{node.start_mark.line + 1}: {who}, field {field}: {message}"


def _yaml_line(path: Path, error: YamlError) -> str:
    return f"{path}:{error.line}: is not valid YAML ({error.problem}); mend this line"
