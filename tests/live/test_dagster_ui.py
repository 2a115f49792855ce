"""`make ui` in a browser: the assets of all three locations, and the picture of a materialization."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from cme_assets.partitions import GROUP
from tests.fast_graph import fast_settings

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
LARGEST_IMAGE = 300_000
SECONDS_TO_START = 300
SECONDS_TO_SHOW = 120
ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--window-size=1800,1100"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a user who has run `make run` on the fast profile."""
    settings = fast_settings(tmp_path_factory.mktemp("ui"), ("reference-rowwise", "centre", "argmax"))
    own = {"CONDMAT_DATA": str(settings.data), "CONDMAT_PROFILE": "fast", "CONDMAT_MODELS": str(settings.models_file)}
    environment = {name: value for name, value in os.environ.items() if name != "DAGSTER_HOME"} | own
    subprocess.run([sys.executable, "-m", "cme_assets.run"], cwd=ROOT, env=environment, check=True, timeout=900)
    return environment


@pytest.fixture(scope="module")
def address(environment: dict[str, str]) -> Iterator[str]:
    """The UI as `make ui` starts it, until the tests are over; then nothing of it is left."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "resources.ui", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
    try:
        wait_for_locations(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}"
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 5  # dg, webserver, daemon, code servers
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        _, alive = psutil.wait_procs(family, timeout=10)
        assert alive == []
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in (*ARGUMENTS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver") or ""))
    driver.set_page_load_timeout(SECONDS_TO_SHOW)
    yield driver
    driver.quit()


def ask(address: str, query: str) -> dict:
    """The data of a GraphQL query."""
    request = urllib.request.Request(
        f"{address}/graphql", json.dumps({"query": query}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["data"]


LOCATIONS = """{ workspaceOrError { ... on Workspace { locationEntries { name loadStatus locationOrLoadError {
    __typename ... on PythonError { message } } } } } }"""


def wait_for_locations(address: str, process: subprocess.Popen[bytes]) -> None:
    """Until all three locations are loaded, without errors."""
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline:
        assert process.poll() is None, "the UI ended while it started"
        try:
            entries = ask(address, LOCATIONS)["workspaceOrError"]["locationEntries"]
        except OSError:
            entries = []
        if len(entries) == 3 and all(entry["loadStatus"] == "LOADED" for entry in entries):
            kinds = {entry["name"]: entry["locationOrLoadError"] for entry in entries}
            assert all(kind["__typename"] == "RepositoryLocation" for kind in kinds.values()), kinds
            return
        time.sleep(1)
    pytest.fail(f"the code locations were not loaded within {SECONDS_TO_START} s")


def shown(browser: webdriver.Chrome, text: str) -> WebElement:
    """The first visible element with this text in it."""
    path = f"//*[contains(normalize-space(text()), '{text}')]"

    def find(driver: webdriver.Chrome) -> WebElement | None:
        return next((element for element in driver.find_elements(By.XPATH, path) if element.is_displayed()), None)

    return WebDriverWait(browser, SECONDS_TO_SHOW).until(find, f"nothing on the page says {text!r}")


def keep(browser: webdriver.Chrome, name: str) -> None:
    """Save the page as the README shows it."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    image = IMAGES / f"{name}.png"
    assert browser.save_screenshot(str(image))
    assert image.stat().st_size < LARGEST_IMAGE


def test_every_location_has_its_assets_or_says_that_it_has_none(address: str) -> None:
    nodes = ask(address, "{ assetNodes { assetKey { path } repository { location { name } } } }")["assetNodes"]
    by_location: dict[str, set[str]] = {}
    for node in nodes:
        by_location.setdefault(node["repository"]["location"]["name"], set()).add("/".join(node["assetKey"]["path"]))
    chain = {"problems", "spectra", "noisy_spectra", "prompts", "direct_responses", "direct_scores"}
    assert chain <= by_location["cme_assets"]
    assert {"cme_leaderboard", "leaderboard_page"} <= by_location["dbt_reports"]


def test_the_asset_graph_shows_the_groups_of_all_locations(address: str, browser: webdriver.Chrome) -> None:
    browser.get(f"{address}/asset-groups")
    for group in (GROUP, "mattools_knowledge", "mattools_tool_usage", "reports", "page"):
        shown(browser, group)
    time.sleep(3)  # the graph is drawn with a transition
    keep(browser, "asset-graph")


def test_a_group_shows_the_chain_from_problems_to_scores(address: str, browser: webdriver.Chrome) -> None:
    browser.get(f"{address}/locations/__repository__@cme_assets/asset-groups/{GROUP}/lineage")
    for name in ("problems", "noisy_spectra", "direct_responses", "direct_scores"):
        shown(browser, name)


def test_the_run_of_make_run_is_there_with_its_partitions(address: str, browser: webdriver.Chrome) -> None:
    browser.get(f"{address}/assets/prompts?view=partitions")
    shown(browser, "Materialized")
    runs = ask(address, "{ runsOrError { ... on Runs { results { status } } } }")["runsOrError"]["results"]
    assert {run["status"] for run in runs} == {"SUCCESS"}


def test_a_materialization_shows_its_maps(address: str, browser: webdriver.Chrome) -> None:
    browser.get(f"{address}/assets/noisy_spectra?view=events&partition=B1")
    shown(browser, "Show Markdown").click()
    path = "//img[starts-with(@src, 'data:image/png;base64,')]"
    wait = WebDriverWait(browser, SECONDS_TO_SHOW)
    pictures = wait.until(lambda driver: [i for i in driver.find_elements(By.XPATH, path) if i.is_displayed()])
    widths = [browser.execute_script("return arguments[0].naturalWidth", picture) for picture in pictures]
    assert all(width >= 100 for width in widths)
    keep(browser, "materialization")


def test_the_group_has_no_first_visit_dialog(address: str, browser: webdriver.Chrome) -> None:
    browser.get(f"{address}/asset-groups")
    shown(browser, GROUP)
    assert browser.find_elements(By.XPATH, "//*[contains(text(), 'Join the Dagster')]") == []
