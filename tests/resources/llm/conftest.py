"""What the tests of the language-model client share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
# The servers are shared by tests of several packages, and no package installs them.
sys.path.insert(0, str(ROOT))

from resources.llm.ledger import Ledger  # noqa: E402
from resources.llm.retry import RetryPolicy  # noqa: E402
from resources.model_entry import Capabilities, ModelEntry, Parameters  # noqa: E402

KEY = "sk-planted-0123456789abcdef"
ENVIRONMENT = {"TEST_KEY": KEY}
# Waits are short; the numbers of tries are what is tested.
QUICK = RetryPolicy(errors=3, rejections=6, first_wait=0.01, longest_wait=0.05, try_seconds=1.5)


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that gives no advice is waited for a moment only."""
    monkeypatch.setattr("resources.llm.pacing.PAUSE_WITHOUT_ADVICE", 0.02)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as opened:
        yield opened


@pytest.fixture
def entry_for() -> Callable[..., ModelEntry]:
    """Makes an entry for `provider` at a server's address; keywords overwrite its fields."""

    def make(provider: str, address: str, **fields: Any) -> ModelEntry:
        plain: dict[str, Any] = {
            "name": "test",
            "provider": provider,
            "model": "wire-model",
            "base_url": address if provider == "anthropic" else f"{address}/v1",
            "key_env": "TEST_KEY",
            "max_concurrency": 8,
            "parameters": Parameters(max_output_tokens=100),
            "capabilities": Capabilities(efforts=("low", "high")),
            "prices": ({"since": "2025-01-01", "input": 2.0, "cached_input": 0.5, "output": 10.0},),
        }
        return ModelEntry.model_validate(plain | fields)

    return make
