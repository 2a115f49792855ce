"""What of all that is logged during a run comes to the terminal."""

from __future__ import annotations

import subprocess
import sys

RUN = """
from resources.console import quiet_libraries
quiet_libraries()
import logging
import dagster as dg
import wordllama  # whose import has everybody's notes printed
from resources.console import plain_console
from resources.materializing import Context, logged

@dg.asset
def thing(context: Context):
    context.log.info("1 of 2 done")
    dg.get_dagster_logger().warning("a warning of the asset")
    logging.getLogger("httpx2").info("POST")
    logging.getLogger("httpx2").warning("a warning of a library")
    stage = logging.getLogger("mattools_assets.stages.one")
    with logged(context, "mattools_assets.stages"):
        stage.info("2 of 2 done")
        stage.warning("a warning of a stage")
    stage.warning("a warning of a stage outside of a run's log")

definitions = dg.Definitions(assets=[thing], loggers={"console": plain_console})
definitions.resolve_implicit_global_asset_job_def().execute_in_process(run_config={"loggers": {"console": {}}})
"""


def test_what_assets_say_is_printed_once_and_of_libraries_only_warnings() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", RUN], capture_output=True, text=True, check=True)
    assert (done.stdout + done.stderr).splitlines() == [
        "1 of 2 done",
        "warning: a warning of the asset",
        "warning: a warning of a library",
        "2 of 2 done",
        "warning: a warning of a stage",
        "warning: a warning of a stage outside of a run's log",
    ]
