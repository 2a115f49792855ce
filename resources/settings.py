"""Where the project's files are and which limits hold: the only place that reads CONDMAT_* from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dotenv import dotenv_values

from resources.agent_limits import AgentLimits

PROFILES = ("full", "fast")
SANDBOXES = ("auto", "docker", "bubblewrap")
FAST_CATEGORIES = ("A1", "B1")
DOCSTRINGS = "docstrings"
"""Whose documents are used unless another writer is named: the library's own."""
DIGITS = 9
DEFAULT_RESOLUTION = {"full": "100", "fast": "50"}


class SettingError(ValueError):
    """A setting that cannot be used; the message names the variable and the mend."""


@dataclass(frozen=True)
class KnowledgeSettings:
    """What MatTools' knowledge side works on.

    `source` is what its questions are about, as `mattools_assets.source.specification` reads it; empty is the published
    one. `published` holds the official question sets. `doc_source` names whose documents questions are written from and
    systems retrieve from. `doc_depth` is how many callers up a change of code reaches. `samples` are sizes of samples
    of questions, None all of them, drawn with `seed`. `self_check` is how often a writer of questions is asked its own
    without the source.
    """

    source: str = ""
    published: Path | None = None
    doc_source: str = DOCSTRINGS
    doc_depth: int = 1
    samples: tuple[int | None, ...] = (2000,)
    seed: int = 0
    self_check: int = 0


@dataclass(frozen=True)
class Settings:
    """Everything that the environment decides, read once and passed on.

    `resolutions` are table side lengths in pixels; budgets are US dollars, None meaning no ceiling, and a day's is zero
    while nobody has set any: a key that was exported for something else spends nothing here. `agent_limits` are those
    limits of agents, by name, that are not the default ones; `mattools` is where the published MatTools questions and
    recorded runs are, None without them; `embedder` is whose vectors find documents, and `official_docs` a folder of
    HTML pages, None without one; `test_suite` is the folder of unit tests that triplets are made from, or None.
    """

    data: Path
    dagster_home: Path
    profile: str
    resolutions: tuple[int, ...]
    ledger_url: str
    sandbox: str
    budget_run_usd: float | None
    budget_day_usd: float | None
    models_file: Path
    agent_limits: tuple[tuple[str, float], ...] = ()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    mattools: Path | None = None
    embedder: str = "auto"
    official_docs: Path | None = None
    test_suite: Path | None = None

    @property
    def lake(self) -> Path:
        """Folder of the Parquet files, one folder an asset."""
        return self.data / "lake"

    @property
    def reports_database(self) -> Path:
        """The DuckDB file that analysts open."""
        return self.data / "reports.duckdb"

    @property
    def found_models(self) -> Path:
        """Entries of models that appeared in a watched list."""
        return self.data / "found_models.yaml"

    @property
    def page(self) -> Path:
        """The leaderboard page."""
        return self.data / "report" / "index.html"


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Settings from `environment`, by default the process's own over the `.env` beside `models.yaml`.

    Raises SettingError naming the variable, or the `.env`.
    """
    env = env_file(_models_file(os.environ)) | dict(os.environ) if environment is None else environment
    run_usd, day_usd = ceilings(env)
    data = _path(env, "CONDMAT_DATA", Path("data"))
    profile = _one_of(env, "CONDMAT_PROFILE", PROFILES)
    return Settings(
        data=data,
        dagster_home=_path(env, "DAGSTER_HOME", data / "dagster"),
        profile=profile,
        resolutions=_resolutions(env.get("RESOLUTIONS") or DEFAULT_RESOLUTION[profile]),
        ledger_url=env.get("CONDMAT_LEDGER_URL") or f"sqlite:///{data / 'ledger.sqlite'}",
        sandbox=_one_of(env, "CONDMAT_SANDBOX", SANDBOXES),
        budget_run_usd=run_usd,
        budget_day_usd=day_usd,
        models_file=_models_file(env),
        agent_limits=_limits(env.get("CONDMAT_AGENT_LIMITS") or ""),
        knowledge=_knowledge(env),
        mattools=_folder(env, "CONDMAT_MATTOOLS"),
        test_suite=_folder(env, "CONDMAT_TEST_SUITE"),
        embedder=env.get("CONDMAT_EMBEDDER") or "auto",
        official_docs=_folder(env, "CONDMAT_OFFICIAL_DOCS"),
    )


def env_file(models_file: Path) -> dict[str, str]:
    """What the `.env` beside `models_file` sets. Raises SettingError where it cannot be read."""
    path = models_file.parent / ".env"
    try:
        return {k: v for k, v in dotenv_values(path, interpolate=False).items() if v}
    except UnicodeDecodeError:
        raise SettingError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise SettingError(f"{path}: cannot be read ({error.strerror}); make it readable or remove it") from None


def ceilings(env: Mapping[str, str]) -> tuple[float | None, float | None]:
    """US dollars that a run and a day may cost; None is no ceiling. Raises SettingError.

    Nothing may be spent while neither is set.
    """
    run_usd, day_usd = _dollars(env, "CONDMAT_BUDGET_RUN_USD"), _dollars(env, "CONDMAT_BUDGET_DAY_USD")
    is_set = any(env.get(name, "").strip() for name in ("CONDMAT_BUDGET_RUN_USD", "CONDMAT_BUDGET_DAY_USD"))
    return run_usd, day_usd if is_set else 0.0


def _path(env: Mapping[str, str], name: str, otherwise: Path) -> Path:
    """A folder of databases, whose addresses are URLs: what has a meaning there would name another file."""
    path = Path(env.get(name) or otherwise).absolute()
    if odd := sorted(set(str(path)) & set("?#%")) or [c for c in str(path) if not c.isprintable()]:
        raise SettingError(f"{name}={str(path)!r}: a folder's path must not contain {odd[0]!r}; use another folder")
    return path


def _models_file(env: Mapping[str, str]) -> Path:
    return Path(env.get("CONDMAT_MODELS") or "models.yaml").absolute()


def _knowledge(env: Mapping[str, str]) -> KnowledgeSettings:
    published = env.get("CONDMAT_PUBLISHED_QA")
    return KnowledgeSettings(
        source=(env.get("CONDMAT_TOOL_SOURCE") or "").strip(),
        published=Path(published).absolute() if published else None,
        doc_source=env.get("CONDMAT_DOC_SOURCE") or DOCSTRINGS,
        doc_depth=_whole(env, "CONDMAT_DOC_DEPTH", 1),
        samples=_samples(env.get("CONDMAT_QA_SAMPLES") or "2000"),
        seed=_whole(env, "CONDMAT_QA_SEED", 0),
        self_check=_whole(env, "CONDMAT_QA_SELF_CHECK", 0),
    )


def _whole(env: Mapping[str, str], name: str, otherwise: int) -> int:
    text = (env.get(name) or str(otherwise)).strip()
    if not _is_whole(text):
        raise SettingError(f"{name}={text!r:.60}: use a whole number, zero or more, of at most {DIGITS} digits")
    return int(text)


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= DIGITS


def _samples(text: str) -> tuple[int | None, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part == "all" or (_is_whole(part) and int(part) > 0) for part in parts):
        raise SettingError(
            f"CONDMAT_QA_SAMPLES={text!r:.60}: use numbers of questions or all, such as 2000 or 2000,all"
        )
    return tuple(dict.fromkeys(None if part == "all" else int(part) for part in parts))


def _one_of(env: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str:
    value = env.get(name) or allowed[0]
    if value not in allowed:
        raise SettingError(f"{name}={value!r}: use one of {', '.join(allowed)}")
    return value


def _folder(env: Mapping[str, str], name: str) -> Path | None:
    text = env.get(name)
    if not text:
        return None
    folder = Path(text).absolute()
    if not folder.is_dir():
        raise SettingError(f"{name}={text!r}: there is no such folder; leave it empty or name one")
    return folder


def _resolutions(text: str) -> tuple[int, ...]:
    try:
        values = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        values = ()
    if not values or min(values) < 16 or max(values) > 400:
        raise SettingError(f"RESOLUTIONS={text!r:.60}: use whole numbers from 16 to 400, such as 50,100,200")
    return values


def _limits(text: str) -> tuple[tuple[str, float], ...]:
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    try:
        limits = tuple(sorted((name.strip(), float(value)) for name, _, value in pairs))
        AgentLimits.of(dict(limits))
    except ValueError as error:
        why = str(error) if "agent limit" in str(error) else "use numbers by name, such as steps=20,tokens=50000"
        raise SettingError(f"CONDMAT_AGENT_LIMITS={text!r:.60}: {why}") from None
    if len(dict(limits)) < len(limits):
        raise SettingError(f"CONDMAT_AGENT_LIMITS={text!r:.60}: a limit is there twice; remove one")
    return limits


def _dollars(env: Mapping[str, str], name: str) -> float | None:
    text = env.get(name, "").strip()
    if text in ("", "none"):
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise SettingError(f"{name}={text!r}: use a number of US dollars, zero or more, or none for no ceiling")
    return value
