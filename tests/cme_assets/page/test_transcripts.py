"""The transcripts beside the page: what they say, what they link to, and that nothing is written twice."""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path
from urllib.parse import unquote

import dagster as dg
import pytest

from cme_assets import schemas
from cme_assets.page.parts import LONGEST, shortened
from cme_assets.page.prompt_pages import pieces
from cme_assets.page.transcripts import slug, write_transcripts
from resources.lake import Lake
from resources.settings import Settings
from tests.served_models import bring_served, prompts_only, write_models
from tests.servers.scripted import ScriptedServer, Turn, running

MODEL = "Qwen/Qwen2.5 <b>7B</b>"
REPLY = "</pre><script>document.title='ran'</script>\x1b]0;ran\x07 It is <answer>[0.25]</answer>, not <b>that</b>."


@pytest.fixture(scope="module")
def replied(made_once: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Two models' replies to all problems, one of them hostile."""
    settings = prompts_only(made_once, tmp_path_factory.mktemp("replied"))
    with running(ScriptedServer({"": [Turn(REPLY)]})) as address, dg.DagsterInstance.ephemeral() as instance:
        write_models(settings, address, MODEL, "plain", free=True)
        bring_served(settings, instance)
    return settings


@pytest.fixture
def written(replied: Settings, tmp_path: Path) -> Path:
    write_transcripts(Lake(replied.lake), tmp_path)
    return tmp_path / "transcripts"


def test_every_problem_has_its_reply_values_and_prompt(replied: Settings, written: Path) -> None:
    folder = written / slug((MODEL, "direct", "published", 50))
    page = (folder / "A1.html").read_text(encoding="utf-8")
    scores = {
        row["problem_id"]: row
        for row in Lake(replied.lake).read(schemas.DIRECT_SCORES, {"model": MODEL, "category": "A1"}).to_pylist()
    }
    for problem, row in scores.items():
        section = page.partition(f'<h2 id="{problem}-0">')[2].partition("</section>")[0]
        assert f"<dd>{row['score']:.4f}" in section
        assert f'<td class="number">0.25</td><td class="number">{row["truth"][0]:.6g}</td>' in section
        (prompt,) = re.findall(r'href="(\.\./prompts/[^"]+)"', section)
        asked = (folder / prompt).read_text(encoding="utf-8")
        words = html.unescape(re.sub(r"</?(?:pre|details|summary)[^>]*>", "", asked))
        stored = Lake(replied.lake).read(schemas.PROMPTS, {"category": "A1"}, ["problem_id", "prompt"]).to_pylist()
        whole = next(each["prompt"] for each in stored if each["problem_id"] == problem)
        for line in whole.splitlines():
            assert line in words
    assert "⟨U+001B⟩]0;ran⟨U+0007⟩" in page
    assert "&lt;/pre&gt;&lt;script&gt;document.title=" in page


def test_nothing_in_them_can_act_and_all_links_lead_somewhere(written: Path) -> None:
    pages = list(written.rglob("*.html"))
    assert len(pages) == 2 * 3 + 10
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "default-src 'none'" in text
        assert not re.search(r"<(script|iframe|img|link|object|embed|form|base|svg)\b", text)
        assert not re.search(r"<[a-z][^>]*\son\w+\s*=", text)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", text)
        for address in re.findall(r'href="([^"]+)"', text):
            target, _, anchor = unquote(address).partition("#")
            if target.endswith("../index.html"):
                continue
            there = page.parent / target
            assert there.is_file(), address
            assert not anchor or f'id="{anchor}"' in there.read_text(encoding="utf-8")


def test_what_is_right_is_left_alone_and_what_is_gone_is_removed(replied: Settings, tmp_path: Path) -> None:
    lake = Lake(shutil.copytree(replied.lake, tmp_path / "lake"))
    first = write_transcripts(lake, tmp_path)
    assert {evaluation[0] for evaluation in first} == {MODEL, "plain"}

    def times() -> dict[str, int]:
        return {str(p.relative_to(tmp_path)): p.stat().st_mtime_ns for p in (tmp_path / "transcripts").rglob("*.html")}

    before = times()
    assert write_transcripts(lake, tmp_path) == first
    after = times()
    assert {p for p in before if before[p] != after[p]} == {p for p in before if p.endswith("index.html")}

    # Another reply makes its page anew; a model that is gone takes its pages along, the prompts stay.
    key = {"model": "plain", "category": "B1"}
    rows = lake.read(schemas.DIRECT_RESPONSES, key).to_pylist()
    rows[0]["reply"] = "Something else."
    lake.write(schemas.DIRECT_RESPONSES, key, schemas.DIRECT_RESPONSES.rows(rows), {})
    for table in ("direct_responses", "direct_scores"):
        for path in (lake.root / table).glob("model=Qwen*"):
            shutil.rmtree(str(path))
    assert {evaluation[0] for evaluation in write_transcripts(lake, tmp_path)} == {"plain"}
    last = times()
    assert (
        "Something else."
        in (tmp_path / "transcripts" / slug(("plain", "direct", "published", 50)) / "B1.html").read_text()
    )
    assert len(last) == 3 + 10
    assert [p for p in last if "/prompts/" not in p and not p.endswith("index.html") and last[p] != after[p]] == [
        f"transcripts/{slug(('plain', 'direct', 'published', 50))}/B1.html"
    ]


@pytest.mark.parametrize("model", ["..", "a/b", "a b", "ä" * 100, "CON", "a\u202eb", "%2e%2e"])
def test_folder_names_are_plain_and_unlike(model: str) -> None:
    name = slug((model, "direct", "published", 100))
    assert re.fullmatch(r"[a-z0-9.-]{1,120}", name)
    assert not name.startswith(".")
    assert name != slug((model, "direct", "other", 100))


def test_long_texts_keep_their_ends() -> None:
    text = "begin" + "x" * 100_000 + "the answer"
    shown = shortened(text)
    assert shown.startswith("begin")
    assert shown.endswith("the answer")
    assert len(shown) < LONGEST + 100
    assert shortened("short") == "short"


def test_pieces_are_the_prompt() -> None:
    found = pieces("Words\n1 2\n3 4\nmore\n5 6\nend", ["1 2\n3 4", "5 6", "not there"])
    assert [(piece.text, piece.rows) for piece in found] == [
        ("Words\n", 0),
        ("1 2\n3 4", 2),
        ("\nmore\n", 0),
        ("5 6", 1),
        ("\nend", 0),
    ]
