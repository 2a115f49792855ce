"""What one entry of a question file may say: the schema, without the file.

Each entry has `id`, `text`, optional `files`, `properties`, and `solution`, the reference function. A property has
`type`, `description`, `value` (what is right), `source` (how that is known), `mutant` (a near miss that must fail) and,
where floats are compared, `tolerance`, `unit` and `reason`; `ordered: false` marks lists in any order.
"""

from __future__ import annotations

import keyword
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from mattools_assets.verification.comparison import SCALARS, Expectation, Mismatch, compare, known_type
from mattools_assets.verification.examples import decoded, fits
from resources.sandbox.pool import check_names
from resources.strict_json import is_whole


def function_of(name: str) -> str:
    """The name of a question's reference function."""
    return name.replace("-", "_")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _text(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty; write a text")
    if not is_whole(text):
        raise ValueError("holds half a character, such as \\ud800; write the whole one")
    return text


def _type(name: str) -> str:
    if not known_type(name):
        raise ValueError(f"{name!a} is no type; use {', '.join(SCALARS)} or what else Expectation names")
    return name


def _name(name: str) -> str:
    if not name.isprintable() or "`" in name or name != name.strip() or not name:
        raise ValueError("is no name; write one line without a backtick")
    return name


def _id(name: str) -> str:
    if not function_of(name).isidentifier() or keyword.iskeyword(function_of(name)):
        raise ValueError("must be words of letters, digits and hyphens, as the solution's function is named after it")
    return name


def _files(files: Any) -> Any:
    if files is None:
        return {}
    if not isinstance(files, dict | list) or not all(isinstance(name, str) for name in files):
        raise ValueError("must be texts by name, or names of files below the test suite")
    for content in files.values() if isinstance(files, dict) else ():
        if not isinstance(content, str) or not is_whole(content):
            raise ValueError("what a file holds must be a text; put it into quotes")
    check_names(files)
    return files


Text = Annotated[str, AfterValidator(_text)]
_MENDS = {
    "string_type": "must be a text; put it into quotes",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "dict_type": "must be a mapping, such as `name: …`",
    "model_type": "must be a mapping, such as `type: …`",
    "invalid_key": "is no field; a field is a text",
    "too_short": "is empty; write at least one",
}
"""What to do about each kind of fault, where pydantic does not say it so that a writer of YAML understands it."""


class PropertyEntry(_Strict):
    """One property; see the module."""

    type: Annotated[str, Field(max_length=100), AfterValidator(_type)]
    description: Text
    value: Any
    source: Text
    mutant: Any
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    unit: str | None = None
    reason: str | None = None
    ordered: bool = True

    @property
    def expected(self) -> Expectation:
        """What an answer is compared with."""
        return Expectation(self.type, self.value, float(self.tolerance or 0.0), self.ordered)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if ("float" in self.type or self.type == "structure") and not self.tolerance:
            raise ValueError("add a tolerance above zero and its reason")
        if self.tolerance and not self.reason:
            raise ValueError("add the reason for the tolerance")
        if not self.ordered and (self.type.count("list of ") != 1 or self.type.split(" of ")[-1] not in SCALARS):
            raise ValueError(f"ordered: false is for one list of {', '.join(SCALARS)}; remove it")
        for field in ("value", "mutant"):
            if not fits(self.type, getattr(self, field)):
                raise ValueError(f"the {field} is no {self.type}; write one")
        if _passes(decoded(self.type, self.mutant), self.expected):
            raise ValueError("the mutant passes as right; write one that is outside the tolerance")
        return self


class QuestionEntry(_Strict):
    """One question; see the module."""

    id: Annotated[str, AfterValidator(_id)]
    text: Text
    files: Annotated[Any, AfterValidator(_files)] = Field(default_factory=dict)
    properties: Annotated[dict[Annotated[str, AfterValidator(_name)], PropertyEntry], Field(min_length=1)]
    solution: Text

    @model_validator(mode="after")
    def _defines(self) -> Self:
        if f"def {function_of(self.id)}():" not in self.solution:
            raise ValueError(f"the solution must define `{function_of(self.id)}()`")
        return self


def fault(error: ValidationError) -> str:
    """The place of the first fault within the entry, what is wrong and the mend, in one line."""
    errors = error.errors(include_url=False)
    # A field that there is none of is often another one misspelt, which is then missing.
    first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    location = first["loc"][1:] if len(first["loc"]) > 1 and first["loc"][0] == "properties" else first["loc"]
    place = [named(part) for part in location if part != "[key]"]
    message = _MENDS.get(first["type"]) or first["msg"].removeprefix("Value error, ").replace("Input should", "must")
    if first["type"] == "missing":
        message = f"add {place.pop()}"
    elif first["type"] == "extra_forbidden":
        model = PropertyEntry if len(first["loc"]) > 1 else QuestionEntry
        message = f"{place.pop()!r} is no field; there are {', '.join(sorted(model.model_fields))}"
    return f"{', '.join(place)}: {message}".removeprefix(": ")


def named(name: Any) -> str:
    """A name as a message can show it: on one line, whatever is in it."""
    text = str(name)
    return text if text and text.isprintable() else ascii(text)


def _passes(got: Any, expected: Expectation) -> bool:
    try:
        compare(got, expected)
    except Mismatch:
        return False
    return True
