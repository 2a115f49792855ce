"""Questions on tool usage drafted from a library's unit tests, their proof and their review."""

import dagster as dg

from mattools_assets.triplets.tables import UNIT_TESTS, make_unit_tests
from mattools_assets.triplets.unit_tests import Suite
from resources.freshness import Step
from resources.materializing import Context, InLake, InSettings, store
from resources.settings import Settings

GROUP = "mattools_triplets"
NO_SUITE = "CONDMAT_TEST_SUITE is not set: no unit tests; name the folder of a test suite"
STEP = Step(UNIT_TESTS, (), "1")


def triplets_defs(_settings: Settings) -> dg.Definitions:
    """The assets, checks and automation of this part."""
    return dg.Definitions(assets=[_unit_tests()])


def _unit_tests() -> dg.AssetsDefinition:
    @dg.asset(
        name=UNIT_TESTS.name,
        description=UNIT_TESTS.description,
        group_name=GROUP,
        kinds={"python", "parquet"},
        code_version=STEP.code_version,
    )
    def unit_tests(context: Context, lake: InLake, settings: InSettings) -> None:
        if settings.test_suite is None:
            context.log.warning(NO_SUITE)
            lake.write(UNIT_TESTS, {}, UNIT_TESTS.rows([]), {})
            return
        store(context, lake, STEP, None, {}, make_unit_tests(Suite(settings.test_suite)))

    return unit_tests
