"""What one entry of `models.yaml` may say: the schema, without the file.

An entry never holds a key, only the name of the environment variable that does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote, unquote, urlsplit

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from resources.settings import ceilings

PROVIDER_URLS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
REFERENCE_ENTRANTS = {
    **dict.fromkeys(
        ("reference-rowwise", "reference-laws", "centre", "argmax", "example-mean", "example-position"), "direct"
    ),
    **dict.fromkeys(("baseline-guess", "baseline-always-a", "baseline-longest"), "qa"),
}
"""Entrants that ask no model, each with the only protocol that it runs under."""
# The first four cannot stand in a Dagster partition of two dimensions, nor can "..." stand in any.
FORBIDDEN_IN_NAMES = ("|", ",", "[", "]", "..", "\\")
LONGEST_FOLDER = 200
LONGEST_URL = 2_000
MOST_TOKENS = 10**9
# A last label of letters, so that it is no number of an IPv4 address.
_PLAIN_HOST = re.compile(r"([a-z0-9-]+\.)*[a-z][a-z0-9-]*")
ALLOW = (
    "set CONDMAT_BUDGET_DAY_USD to the US dollars that a day may cost (`none`: any), in .env or the environment; "
    "`make estimate` says what to expect"
)
"""How spending is allowed."""
SET_KEY = "put the key into .env or the environment"


class Strict(BaseModel):
    """A section of `models.yaml`: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), strict=False)


def _check_name(name: str) -> str:
    if name != name.strip() or not name:
        raise ValueError("must not be empty nor begin or end with a space")
    if name != unicodedata.normalize("NFC", name) or any(unicodedata.category(c)[0] == "C" for c in name):
        raise ValueError("must hold no line break, control character or decomposed accent")
    for text in FORBIDDEN_IN_NAMES:
        if text in name:
            raise ValueError(f"must not contain {text!r}, which partition keys or folders cannot hold")
    if name.startswith((".", "/")) or name.endswith((".", "/")):
        raise ValueError("must not begin or end with '.' or '/'")
    if len(partition_folder(name)) > LONGEST_FOLDER:
        raise ValueError(f"is too long for a folder name; keep it under {LONGEST_FOLDER} bytes when percent-encoded")
    return name


def _check_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and (parts.port or 1) > 0 and _is_taken(url, parts.hostname or "")
    except ValueError:
        usable = False
    if not usable or len(url) > LONGEST_URL or any(c.isspace() or not c.isprintable() for c in url):
        raise ValueError("is not a usable address; write it like https://host.example/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must hold no user, password, query or fragment; a key belongs into the key_env variable")
    return url.rstrip("/")


def _is_taken(url: str, host: str) -> bool:
    """Whether the clients take the address; the plain ones are not worth importing them for."""
    if _PLAIN_HOST.fullmatch(host):
        return True
    from httpx2 import URL, InvalidURL

    try:
        return bool(URL(url).host)
    except InvalidURL:
        return False


def _check_extra(extra: dict[str, Any]) -> dict[str, Any]:
    try:
        # Within a body it is nested a little deeper.
        orjson.dumps([[[[extra]]]])
    except TypeError as error:
        raise ValueError(f"cannot be sent as JSON ({error}); keep to texts, lists, mappings and numbers") from None
    for name in ("max_tokens", "max_completion_tokens"):
        most = extra.get(name, 1)
        if isinstance(most, bool) or not isinstance(most, int) or not 0 < most <= MOST_TOKENS:
            raise ValueError(f"{name} must be a whole number from 1 to {MOST_TOKENS}; or write max_output_tokens")
    return extra


ModelName = Annotated[str, Field(strict=True), AfterValidator(_check_name)]
Url = Annotated[str, AfterValidator(_check_url)]
# An explicit zero is nearly always a forgotten price; models that cost nothing say `free: true`.
Price = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Protocol = Literal["direct", "code", "react", "docs", "questions", "qa", "tools", "triplets", "embeddings"]


class Capabilities(Strict):
    """What the model's endpoint accepts.

    `cache` says how a prompt cache is had: by itself, by marks, or not. `structured` says whether replies can be held
    to a JSON schema, `stream` whether they can be had as they are written.
    """

    temperature: bool = True
    token_cap: Literal["max_completion_tokens", "max_tokens"] = "max_tokens"
    efforts: tuple[str, ...] = ()
    cache: Literal["none", "automatic", "openai_explicit", "cache_control"] = "none"
    batch: bool = False
    tools: bool = True
    structured: bool = False
    stream: bool = True


class Parameters(Strict):
    """What is asked with every request; whatever is null is not sent."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_output_tokens: int = Field(default=16_384, gt=0, le=MOST_TOKENS)
    effort: str | None = None
    # A repeat adds its number, and providers take 64 bits.
    seed: int | None = Field(default=None, ge=-(2**62), le=2**62)
    extra_body: Annotated[dict[str, Any], AfterValidator(_check_extra)] = Field(default_factory=dict)


class PriceList(Strict):
    """US dollars per million tokens, valid from `since` until the next list's date; embedders write no `output`."""

    since: date
    input: Price
    output: Price | None = None
    cached_input: Price | None = None
    cache_write: Price | None = None
    batch_factor: float = Field(default=0.5, gt=0, le=1)


class ModelEntry(Strict):
    """One model under one set of parameters; `name` is its partition key, `model` what the provider calls it.

    `resolutions` and `systems` are the only ones that it is asked under, None is all that there are.
    With `probe`, what `capabilities` leaves unsaid is found out before the first question (`resources.llm.probing`).
    `ceiling_usd` is the most that the model may cost in all, ever.
    """

    name: ModelName
    provider: Literal["openai", "anthropic", "openai_compatible", "reference"]
    model: str = Field(default="", max_length=200)
    base_url: Url | None = None
    key_env: str | None = Field(default=None, pattern=r"^[A-Z][A-Z0-9_]*$", max_length=100)
    enabled: bool = True
    batch: bool = False
    probe: bool = False
    ceiling_usd: Price | None = None
    capabilities: Capabilities = Capabilities()
    parameters: Parameters = Parameters()
    context_length: int | None = Field(default=None, gt=0)
    prices: tuple[PriceList, ...] = ()
    free: bool = False
    max_concurrency: int = Field(default=16, ge=1, le=1000)
    requests_per_minute: int | None = Field(default=None, gt=0)
    tokens_per_minute: int | None = Field(default=None, gt=0)
    protocols: tuple[Protocol, ...] = Field(default=("direct",), min_length=1)
    resolutions: tuple[Annotated[int, Field(ge=16, le=400)], ...] | None = None
    systems: tuple[str, ...] | None = None
    repeats: int = Field(default=1, ge=1, le=100)

    @field_validator("prices")
    @classmethod
    def _in_order(cls, prices: tuple[PriceList, ...]) -> tuple[PriceList, ...]:
        dates = [price.since for price in prices]
        if len(set(dates)) != len(dates):
            raise ValueError("has two lists of the same date; keep one")
        return tuple(sorted(prices, key=lambda price: price.since))

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.provider == "reference":
            return self._reference()
        if not self.model:
            raise ValueError("model: is missing; give the name that the provider knows the model by")
        if self.provider == "openai_compatible" and self.base_url is None:
            raise ValueError("base_url: is missing; an openai_compatible model needs one")
        if self.provider != "openai_compatible" and self.key_env is None:
            raise ValueError("key_env: is missing; name the environment variable that holds the key")
        if self.parameters.temperature is not None and not self.capabilities.temperature:
            raise ValueError("parameters.temperature: this model takes none; remove it")
        says_efforts = not self.probe or "efforts" in self.capabilities.model_fields_set
        if says_efforts and self.parameters.effort not in (None, *self.capabilities.efforts):
            raise ValueError("parameters.effort: is not among capabilities.efforts; add it there or remove it")
        homes = {"cache_control": "anthropic", "openai_explicit": "openai"}
        cache = self.capabilities.cache
        if homes.get(cache, self.provider) != self.provider:
            raise ValueError(f"capabilities.cache: {cache} is {homes[cache]}'s alone; use none or automatic")
        if "embeddings" in self.protocols and (len(self.protocols) > 1 or self.provider == "anthropic" or self.batch):
            raise ValueError("protocols: embeddings stands alone, without batches, and is not for anthropic; mend this")
        if not self.is_embedder and any(price.output is None for price in self.prices):
            raise ValueError("prices.output: is missing; add it")
        if self.batch and self.provider == "openai_compatible":
            raise ValueError("batch: batches are for the providers openai and anthropic only; set it to false")
        if self.batch and not self.capabilities.batch:
            raise ValueError("batch: this model has no batch endpoint; set it to false or capabilities.batch to true")
        if self.free and self.prices:
            raise ValueError("free: a free model has no prices; remove one of the two")
        return self

    def _reference(self) -> Self:
        if self.name not in REFERENCE_ENTRANTS:
            raise ValueError(f"name: there is no such reference entrant; use one of {', '.join(REFERENCE_ENTRANTS)}")
        if extra := self.model_fields_set - {"name", "provider", "enabled", "protocols"}:
            raise ValueError(f"{min(extra)}: a reference entrant asks no model; remove it")
        if self.protocols != (own := REFERENCE_ENTRANTS[self.name],):
            raise ValueError(f"protocols: this reference entrant runs under {own} only; write [{own}]")
        return self

    @property
    def costs_nothing(self) -> bool:
        """True when nobody can be billed: nobody is asked, it is free, or there is neither a key nor a price."""
        return self.provider == "reference" or self.free or (self.key_env is None and not self.prices)

    @property
    def is_embedder(self) -> bool:
        """True for a model that makes vectors of texts and writes nothing."""
        return self.protocols == ("embeddings",)

    @property
    def endpoint(self) -> str:
        """The address that requests go to, without a trailing slash. Raises KeyError for a reference entrant."""
        return self.base_url or PROVIDER_URLS[self.provider]

    def price_on(self, day: date) -> PriceList | None:
        """The price list in force on `day`; before the first one's date, and without any, None."""
        return next((price for price in reversed(self.prices) if price.since <= day), None)

    def why_off(self, environment: Mapping[str, str]) -> str | None:
        """One line that says why the entry does not run, or None when it does."""
        if not self.enabled:
            return f"{self.name}: off, because models.yaml says enabled: false"
        if self.key_env and not environment.get(self.key_env, "").strip():
            return f"{self.name}: off, because {self.key_env} is not set; put it into .env or the environment"
        if not self.costs_nothing and 0.0 in ceilings(environment):
            return f"{self.name}: off, because nothing may be spent; {ALLOW}"
        return None


def partition_folder(name: str) -> str:
    """`name` as one folder name, percent-encoded so that `folder_partition` gives it back."""
    return quote(name, safe=" ")


def folder_partition(folder: str) -> str:
    """The name that `partition_folder` made `folder` from."""
    return unquote(folder, errors="strict")
