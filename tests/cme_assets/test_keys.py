"""A planted key is found nowhere: ledger, exports, lake, page, Dagster's events, terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from aiohttp import web

from cme_assets import run, schemas
from resources.lake import Lake
from resources.llm.export import export
from resources.settings import Settings
from tests.served_models import prompts_only
from tests.servers.faulty import Form, running
from tests.servers.picky import PickyServer, openai_error

KEY = "sk-planted/0123456789+abcdef"


class Indiscreet(PickyServer):
    """Repeats the headers that it was sent: in replies, and to one model in errors."""

    async def _serve(self, request: web.Request, form: Form) -> web.StreamResponse:
        body = await request.json()
        headers = dict(request.headers)
        self.log.headers.append(headers)
        if body["model"] == "refused":
            _, document = openai_error(f"Incorrect API key provided: {headers}", None, "invalid_api_key")
            return web.json_response(document, status=401)
        return await form.reply(request, body, f"you sent {headers}")


@pytest.mark.slow
def test_a_planted_key_is_found_nowhere(
    made_once: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = prompts_only(made_once, tmp_path)
    for name, value in (("DATA", settings.data), ("MODELS", settings.models_file), ("PROFILE", "fast")):
        monkeypatch.setenv(f"CONDMAT_{name}", str(value))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.setenv("THE_KEY", KEY)
    prices = [{"since": "2020-01-01", "input": 1.0, "output": 2.0}]
    server = Indiscreet()
    with running(server) as address:
        plain = {"key_env": "THE_KEY", "prices": prices, "max_concurrency": 1}
        models = [
            plain | {"name": name, "model": name, "provider": "openai", "base_url": f"{address}/v1"}
            for name in ("replies", "refused", "probed")
        ]
        models[2]["probe"] = True
        anthropic = plain | {"name": "other", "model": "m", "provider": "anthropic", "base_url": address}
        settings.models_file.write_text(yaml.safe_dump({"models": [*models, anthropic]}))
        assert run.main([]) == 0
    export(settings.ledger_url, settings.data / "exported.jsonl")
    said = capfd.readouterr()
    assert sum(KEY in str(headers) for headers in server.log.headers) > 30
    lake = Lake(settings.lake)
    rows = [row for table in schemas.ALL for key in lake.keys(table) for row in lake.read(table, key).to_pylist()]
    statuses = {row["model"]: row["status"] for row in rows if "reply" in row}
    assert statuses == {"replies": "ok", "refused": "provider_error", "probed": "ok", "other": "ok"}
    assert "[key]" in str(rows)
    secret = KEY.removeprefix("sk-")
    assert secret not in str(rows)
    assert secret not in said.out + said.err
    files = [path for path in settings.data.rglob("*") if path.is_file()]
    assert {"ledger.sqlite", "exported.jsonl", "index.html", "reports.duckdb"} <= {path.name for path in files}
    assert [path for path in files if secret.encode() in path.read_bytes()] == []
