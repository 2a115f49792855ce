"""YAML that people write, with one line for whatever is wrong with it: also for what PyYAML itself answers otherwise.

A file may be nobody's friend: it is bounded in size, in depth, and in what its aliases stand for when written out.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from resources.strict_json import is_whole

LARGEST_FILE = 1_000_000
"""Bytes."""
MOST_VALUES = 100_000
LONGEST_NUMBER = 100
"""Characters of whatever is no text: a number, a date, a truth value."""
TOO_DEEP = "is nested too deeply"
# What the constructors of numbers, dates and truth values raise at text that is none.
_REFUSALS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)


class YamlError(Exception):
    """What is wrong, and the line that it is in (1-based)."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line, self.problem = line, problem


UNREADABLE = (OSError, UnicodeDecodeError, YamlError)
"""What reading a file and its document raises."""


def why_unreadable(path: Path, error: Exception) -> str:
    """One of those in a line, with the file and the mend."""
    if isinstance(error, YamlError):
        return f"{path}:{error.line}: not YAML ({error.problem}); mend this line"
    if isinstance(error, UnicodeDecodeError):
        return f"{path}: is not UTF-8 text; save it as UTF-8"
    return f"{path}: cannot be read ({getattr(error, 'strerror', error)}); put it right or delete it"


def read_text(path: Path) -> str:
    """The text of a file. Raises OSError, UnicodeDecodeError, and YamlError where it is no file or too long."""
    if path.exists() and not path.is_file():
        raise YamlError(1, "it is no file")
    with path.open("rb") as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise YamlError(1, f"it is longer than {LARGEST_FILE:,} bytes")
    return content.decode()


def compose(text: str) -> yaml.Node | None:
    """The document as nodes, which know their lines. Raises YamlError."""
    try:
        document = yaml.compose(text, Loader=yaml.SafeLoader)
        if document is not None:
            _count(document, {})
        return document
    except yaml.YAMLError as error:
        raise _error(error) from None
    except RecursionError:
        raise YamlError(1, TOO_DEEP) from None
    except _REFUSALS:  # of an escape that is no character
        raise YamlError(1, "there is an escape that stands for no character") from None


def mapping_of(node: yaml.MappingNode) -> dict[str, Any]:
    """The values under the keys of `node`. Raises YamlError."""
    loader = _Loader("")
    try:
        value: dict[str, Any] = loader.construct_document(node)
        return value
    except yaml.YAMLError as error:
        raise _error(error) from None
    except RecursionError:
        raise YamlError(node.start_mark.line + 1, TOO_DEEP) from None
    except _REFUSALS:
        raise YamlError(node.start_mark.line + 1, "it holds a value that cannot be made") from None
    finally:
        loader.dispose()


def load_mapping(text: str) -> dict[str, Any]:
    """The values of a document of keys and values that a file can hold. Raises YamlError."""
    document = compose(text)
    if not isinstance(document, yaml.MappingNode):
        raise YamlError(1, "it must be keys and values, such as `name: …`")
    nodes: list[yaml.Node] = [document]
    for node in nodes:
        if isinstance(node, yaml.ScalarNode) and not is_whole(node.value):
            raise YamlError(node.start_mark.line + 1, "it holds half a character, such as \\ud800")
        nodes += _parts(node)
    return mapping_of(document)


def _count(node: yaml.Node, counts: dict[int, int]) -> int:
    """How many values `node` stands for with every alias written out; they may double at each level."""
    if id(node) not in counts:
        counts[id(node)] = 0  # while its parts are counted
        counts[id(node)] = 1 + sum([_count(part, counts) for part in _parts(node)])
    count = counts[id(node)]
    if count == 0:
        raise YamlError(node.start_mark.line + 1, "it contains itself")
    if count > MOST_VALUES:
        raise YamlError(node.start_mark.line + 1, f"it has more than {MOST_VALUES:,} values, aliases written out")
    return count


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _error(error: yaml.YAMLError) -> YamlError:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return YamlError(mark.line + 1 if mark else 1, " ".join(problem.split()))


class _Loader(yaml.SafeLoader):
    """PyYAML keeps the last of two equal keys without a word; here that is an error."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        kind = node.tag.rpartition(":")[2]
        if isinstance(node, yaml.ScalarNode) and kind != "str" and len(node.value) > LONGEST_NUMBER:
            raise _fault(node, f"it is too long for {kind}")
        try:
            return super().construct_object(node, deep)
        except _REFUSALS:
            raise _fault(node, f"it is no {kind}") from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if not isinstance(key, yaml.ScalarNode):
                raise _fault(key, "a key must be a single word")
            if key.value in seen:
                raise _fault(key, f"the key {key.value} is there twice")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _fault(node: yaml.Node, problem: str) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
