"""The registry of models: `models.yaml`, read and checked.

Whatever is wrong with the file is one line that names the file, the line, the entry, the field and the mend.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from dotenv import dotenv_values
from pydantic import BaseModel, ValidationError

from resources.model_entry import (
    REFERENCE_ENTRANTS,
    Capabilities,
    ModelEntry,
    Parameters,
    PriceList,
    folder_partition,
    partition_folder,
)

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
    "missing_keys",
    "partition_folder",
    "read_environment",
]

_SECTIONS: dict[str, type[BaseModel]] = {"capabilities": Capabilities, "parameters": Parameters, "prices": PriceList}


class RegistryError(ValueError):
    """A `models.yaml` that cannot be used; the message is one line with file, line, entry, field and mend."""


@dataclass(frozen=True)
class Registry:
    """The entries of one `models.yaml` in the file's order."""

    path: Path
    entries: tuple[ModelEntry, ...]

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


def missing_keys(
    entries: Iterable[ModelEntry], protocols: Collection[str], environment: Mapping[str, str]
) -> list[str]:
    """A line for each key that keeps enabled entries from running under one of the protocols."""
    without: dict[str, list[str]] = {}
    for entry in entries:
        if entry.enabled and entry.key_env and set(entry.protocols) & set(protocols) and entry.why_off(environment):
            without.setdefault(entry.key_env, []).append(entry.name)
    return [
        f"not asked, because {key} is not set: {', '.join(names)}; put the key into .env or the environment"
        for key, names in without.items()
    ]


def load_registry(path: Path) -> Registry:
    """The registry in `path`. Raises RegistryError with one line."""
    try:
        document = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except OSError as error:
        raise RegistryError(
            f"{path}: cannot be read ({error.strerror}); make it or point CONDMAT_MODELS at it"
        ) from None
    except UnicodeDecodeError:
        raise RegistryError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    except yaml.YAMLError as error:
        raise RegistryError(_yaml_line(path, error)) from None
    entries = _list_of_entries(path, document)
    models = tuple(_entry(path, number, node) for number, node in enumerate(entries, 1))
    seen: dict[str, str] = {}
    for model, node in zip(models, entries, strict=True):
        # Some file systems do not tell upper from lower case.
        if other := seen.get(model.name.casefold()):
            raise RegistryError(_line(path, node, model.name, "name", f"is taken by {other!r}; give it another"))
        seen[model.name.casefold()] = model.name
    return Registry(path, models)


def read_environment(models_file: Path, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The process's environment over the `.env` beside `models_file`; this is where keys are looked up."""
    from_file = dotenv_values(models_file.parent / ".env", interpolate=False)
    return {k: v for k, v in from_file.items() if v} | dict(os.environ if environment is None else environment)


def _list_of_entries(path: Path, document: yaml.Node | None) -> list[yaml.Node]:
    if isinstance(document, yaml.MappingNode) and [k.value for k, _ in document.value] == ["models"]:
        models = document.value[0][1]
        if isinstance(models, yaml.SequenceNode):
            return list(models.value)
    raise RegistryError(f"{path}:1: must be one key `models` with a list of entries beneath it")


def _entry(path: Path, number: int, node: yaml.Node) -> ModelEntry:
    """One entry. The YAML node is kept beside the value, because only it knows the line."""
    if not isinstance(node, yaml.MappingNode):
        raise RegistryError(_line(path, node, f"number {number}", "-", "must be keys and values, such as `name: …`"))
    try:
        value = _Loader.from_node(node)
    except yaml.YAMLError as error:
        raise RegistryError(_yaml_line(path, error)) from None
    title = str(value.get("name") or f"number {number}")
    try:
        return ModelEntry.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        location = [str(part) for part in first["loc"] if not str(part).startswith("function-")]
        message = first["msg"].removeprefix("Value error, ")
        if not location:  # said by the entry as a whole: "field: what is wrong"
            field, _, message = message.partition(": ")
            location = field.split(".")
        where = _node_of(node, location)
        raise RegistryError(
            _line(path, where, title, ".".join(location), _mend(first["type"], message, location))
        ) from None


def _mend(kind: str, message: str, location: list[str]) -> str:
    """What to do. Values are not repeated: somebody may have written a key where its variable's name belongs."""
    if kind == "extra_forbidden":
        section = _SECTIONS.get(location[0], ModelEntry) if len(location) > 1 else ModelEntry
        return f"is no known key; use one of {', '.join(section.model_fields)}"
    if kind == "missing":
        return "is missing; add it"
    if kind == "string_pattern_mismatch":
        return "must be the name of an environment variable such as OPENAI_API_KEY, never the key itself"
    if kind == "greater_than":
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


def _line(path: Path, node: yaml.Node, entry: str, field: str, message: str) -> str:
    return f"{path}:{node.start_mark.line + 1}: model {entry!r}, field {field}: {message}"


def _yaml_line(path: Path, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"{path}:{mark.line + 1 if mark else 1}: is not valid YAML ({problem}); mend this line"


class _Loader(yaml.SafeLoader):
    """PyYAML keeps the last of two equal keys without a word; here that is an error."""

    def __init__(self) -> None:
        super().__init__("")

    @classmethod
    def from_node(cls, node: yaml.MappingNode) -> dict[str, Any]:
        loader = cls()
        try:
            value: dict[str, Any] = loader.construct_document(node)
            return value
        finally:
            loader.dispose()

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value} is there twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)
