"""Settings come from the environment, with errors that name the variable and the mend."""

from pathlib import Path

import pytest

from resources.registry import read_environment
from resources.settings import SettingError, read_settings


def test_defaults_are_a_full_run_at_resolution_100(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = read_settings({})
    assert settings.profile == "full"
    assert settings.resolutions == (100,)
    assert settings.data == tmp_path / "data"
    assert settings.dagster_home == tmp_path / "data" / "dagster"
    assert settings.ledger_url.startswith("sqlite:///")
    assert (settings.budget_run_usd, settings.budget_day_usd) == (None, 0.0)


@pytest.mark.parametrize(
    ("run", "day", "ceilings"),
    [
        ("", "", (None, 0.0)),
        ("", "5", (None, 5.0)),
        ("2.5", "", (2.5, None)),
        ("", "none", (None, None)),
        ("1", " 2 ", (1.0, 2.0)),
    ],
)
def test_nothing_may_be_spent_until_somebody_says_how_much(
    run: str, day: str, ceilings: tuple[float | None, float | None]
) -> None:
    settings = read_settings({"CONDMAT_BUDGET_RUN_USD": run, "CONDMAT_BUDGET_DAY_USD": day})
    assert (settings.budget_run_usd, settings.budget_day_usd) == ceilings


def test_the_env_file_beside_the_models_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("CONDMAT_BUDGET_DAY_USD=3\nCONDMAT_PROFILE=fast\n")
    monkeypatch.setenv("CONDMAT_MODELS", str(tmp_path / "models.yaml"))
    monkeypatch.setenv("CONDMAT_PROFILE", "full")
    monkeypatch.delenv("CONDMAT_BUDGET_DAY_USD", raising=False)
    settings = read_settings()
    assert (settings.budget_day_usd, settings.profile) == (3.0, "full")


def test_dagster_home_follows_the_data_folder(tmp_path: Path) -> None:
    assert read_settings({"CONDMAT_DATA": str(tmp_path)}).dagster_home == tmp_path / "dagster"


def test_fast_profile_is_one_small_resolution_unless_others_are_asked_for() -> None:
    assert read_settings({"CONDMAT_PROFILE": "fast"}).resolutions == (50,)
    assert read_settings({"CONDMAT_PROFILE": "fast", "RESOLUTIONS": "16"}).resolutions == (16,)


def test_samples_are_sizes_or_all_of_them() -> None:
    assert read_settings({}).knowledge.samples == (2000,)
    assert read_settings({"CONDMAT_QA_SAMPLES": "50, all,50"}).knowledge.samples == (50, None)


FOLDERS = ("CONDMAT_DATA", "DAGSTER_HOME")
WHOLE_NUMBERS = ("CONDMAT_QA_SEED", "CONDMAT_QA_SAMPLES", "CONDMAT_DOC_DEPTH", "CONDMAT_QA_SELF_CHECK", "RESOLUTIONS")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CONDMAT_PROFILE", "slow"),
        ("CONDMAT_SANDBOX", "none"),
        ("RESOLUTIONS", "fifty"),
        ("RESOLUTIONS", "8"),
        ("CONDMAT_BUDGET_RUN_USD", "-1"),
        ("CONDMAT_BUDGET_DAY_USD", "nan"),
        ("CONDMAT_BUDGET_DAY_USD", "inf"),
        ("CONDMAT_DOC_DEPTH", "-1"),
        ("CONDMAT_QA_SEED", "one"),
        ("CONDMAT_QA_SAMPLES", "0"),
        ("CONDMAT_QA_SAMPLES", "all,some"),
        *((name, "9" * 5000) for name in WHOLE_NUMBERS),
        *((name, "१") for name in WHOLE_NUMBERS),
        *(
            (name, f"/data/{character}x")
            for name in ("CONDMAT_DATA", "DAGSTER_HOME")
            for character in "?#%\n\x00\udcff"
        ),
        *(
            ("CONDMAT_AGENT_LIMITS", value)
            for value in (
                "foo=1",
                "steps=0.5",
                "steps=1e300",
                "steps=1e999",
                "steps=nan",
                "steps=0",
                "steps=-1",
                "steps=inf",
            )
        ),
        *(
            ("CONDMAT_AGENT_LIMITS", value)
            for value in ("steps", "steps=1e999", "steps=", "steps=x", "=1", "steps=1,steps=2")
        ),
    ],
)
def test_a_bad_value_is_one_line_naming_the_variable(name: str, value: str) -> None:
    with pytest.raises(SettingError, match=name) as caught:
        read_settings({name: value})
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
    str(caught.value).encode()


def test_limits_of_agents_are_read_by_name() -> None:
    assert read_settings({"CONDMAT_AGENT_LIMITS": "tokens=5e4, steps=20"}).agent_limits == (
        ("steps", 20.0),
        ("tokens", 50_000.0),
    )


def test_an_env_file_that_cannot_be_read_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDMAT_MODELS", str(tmp_path / "models.yaml"))
    (tmp_path / ".env").write_bytes(b"CONDMAT_BUDGET_DAY_USD=\xff\n")
    for read in (read_settings, lambda: read_environment(tmp_path / "models.yaml")):
        with pytest.raises(SettingError, match="is not UTF-8 text; save it as UTF-8") as caught:
            read()
        assert str(caught.value).startswith(str(tmp_path / ".env"))
