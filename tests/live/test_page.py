"""The page in a real browser: hostile names and a listener that must never hear of it."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from cme_assets.page.gallery import Card, Domain
from cme_assets.page.report import read_report
from cme_assets.page.transcripts import write_transcripts
from cme_assets.page.write import render
from cme_assets.protocols.replies import UNSERVED
from cme_assets.schemas import DIRECT_RESPONSES, DIRECT_SCORES
from dbt_reports.build import build_reports
from resources.lake import Lake
from resources.settings import read_settings
from tests.random_lake import Evaluation, write_problems, write_scores

pytestmark = pytest.mark.live

QUIET = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
QUIET += " --disable-component-update --disable-sync --window-size=1360,3000"


@pytest.fixture(scope="module")
def listener() -> Iterator[tuple[str, list[str]]]:
    """An address of this machine, and what was asked of it."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", heard
    server.shutdown()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for argument in [*QUIET.split(), f"--user-data-dir={tmp_path_factory.mktemp('browser')}"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    yield driver
    driver.quit()


def hostile_names(address: str) -> list[str]:
    return [
        f"<script>document.title='ran';fetch('{address}/script')</script>",
        f"</th></tr></table><img src={address}/img onerror=document.title='ran'>",
        f'"><svg onload="document.title=\'ran\'"><image href="{address}/svg"/></svg>',
        f"<link rel=stylesheet href={address}/css><style>@import '{address}/import';*{{background:url({address}/bg)}}",
        f"<iframe src={address}/frame></iframe><meta http-equiv=refresh content='0;url={address}/refresh'>",
        "\x1b]0;ran\x07\x1b[31mred\u202egnp",
    ]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, listener: tuple[str, list[str]]) -> Path:
    settings = read_settings({"CONDMAT_DATA": str(tmp_path_factory.mktemp("data"))})
    lake = Lake(str(settings.lake))
    names = hostile_names(listener[0])
    write_problems(lake, ("A1", "B1"))
    write_scores(lake, *(Evaluation(name, variant=name) for name in names), categories=("A1", "B1"))
    build_reports(settings)
    card = Card("A1", names[1], 1, names[0], names[2], names[3], ())
    settings.page.parent.mkdir()
    write_replies(lake, listener[0])
    transcripts = write_transcripts(lake, settings.page.parent)
    gallery = [Domain("A", names[0], (card,))]
    settings.page.write_text(render(read_report(settings.reports_database), gallery, transcripts))
    return settings.page


def write_replies(lake: Lake, address: str) -> None:
    """A hostile reply and a hostile error to every problem that has a score."""
    hostile = "\n".join(["</pre></section></body>", *hostile_names(address), "<!-- ", "]]>", "<plaintext>"])
    for key in lake.keys(DIRECT_SCORES):
        rows = lake.read(DIRECT_SCORES, key).to_pylist()
        names = [column.name for column in DIRECT_RESPONSES.columns]
        shown = {**UNSERVED, "reply": hostile, "error": hostile[:-20]}
        shown |= {"served_model": hostile_names(address)[1], "finish": hostile_names(address)[2], "entrant_hash": "x"}
        replies = [{name: {**row, **shown}[name] for name in names} for row in rows]
        lake.write(DIRECT_RESPONSES, key, DIRECT_RESPONSES.rows(replies), {})


def test_hostile_names_do_nothing(
    browser: webdriver.Chrome, page: Path, listener: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, heard = listener
    browser.get_log("performance")
    browser.get(page.as_uri())
    assert browser.title == "CME-SpectrumBench: results"
    body = browser.find_element(By.TAG_NAME, "body").text
    for name in hostile_names(address)[:5]:
        assert name in body, "shown as what it is"
    assert "⟨U+001B⟩]0;ran⟨U+0007⟩" in body
    for tag in ("script", "iframe", "link", "object", "embed", "form", "audio", "video"):
        assert browser.find_elements(By.TAG_NAME, tag) == []
    assert len(browser.find_elements(By.TAG_NAME, "meta")) == 5
    asked = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = {m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"}
    assert {url for url in urls if not url.startswith("data:")} == {page.as_uri()}
    assert heard == []
    assert [entry["message"] for entry in browser.get_log("browser")] == []
    assert browser.save_screenshot(str(tmp_path / "page.png"))


def test_hostile_replies_do_nothing(
    browser: webdriver.Chrome, page: Path, listener: tuple[str, list[str]], tmp_path: Path
) -> None:
    """From the leaderboard to an evaluation, to its replies, and back."""
    address, heard = listener
    browser.get(page.as_uri())
    links = browser.find_elements(By.CSS_SELECTOR, "table.board th a")
    assert len(links) == len(hostile_names(address))
    browser.get_log("performance")
    links[0].click()
    assert browser.title == "Transcripts"
    assert len(browser.find_elements(By.CSS_SELECTOR, "tbody tr")) == 10
    browser.find_element(By.LINK_TEXT, "A1-L3").click()
    assert browser.title == "Transcripts of A1"
    for pre in browser.find_elements(By.TAG_NAME, "pre"):
        for name in hostile_names(address)[:5]:
            assert name in pre.text, "shown as what it is"
        assert "⟨U+001B⟩]0;ran⟨U+0007⟩" in pre.text
    assert len(browser.find_elements(By.TAG_NAME, "section")) == 5
    for tag in ("script", "iframe", "link", "object", "embed", "form", "img", "svg", "plaintext"):
        assert browser.find_elements(By.TAG_NAME, tag) == []
    width = browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0
    browser.save_screenshot(str(tmp_path / "transcript.png"))
    browser.find_element(By.PARTIAL_LINK_TEXT, "results").click()
    assert browser.title == "CME-SpectrumBench: results"
    asked = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = {m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"}
    assert all(url.startswith(("data:", page.parent.as_uri())) for url in urls)
    assert heard == []
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def test_layout_at_both_widths(browser: webdriver.Chrome, page: Path) -> None:
    """Nothing hangs over the edge: wide tables scroll within themselves."""
    for width in (1360, 420):
        browser.set_window_size(width, 1200)
        browser.get(page.as_uri())
        scroll, client = browser.execute_script(
            "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert scroll <= client


def test_every_picture_and_table_has_words(browser: webdriver.Chrome, page: Path) -> None:
    browser.get(page.as_uri())
    for drawing in browser.find_elements(By.TAG_NAME, "svg"):
        assert drawing.get_attribute("aria-label") or drawing.get_attribute("aria-hidden") == "true"
    for table in browser.find_elements(By.TAG_NAME, "table"):
        assert table.find_elements(By.CSS_SELECTOR, "thead th[scope]")
    levels = [int(h.tag_name[1]) for h in browser.find_elements(By.CSS_SELECTOR, "h1,h2,h3,h4")]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
