"""`python -m cme_assets.run`: bring up to date whatever can run, models with a key included; print the leaderboard.

What is good already is left alone, so a second run does nothing. Runs go through Dagster on the same instance as
`make ui`, which shows them. Heavy imports are inside functions: worker processes import this module again.
"""

from __future__ import annotations

import sys
import warnings

from resources.arguments import take_none


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0, or 1 after one line that says what is wrong and how to mend it."""
    take_none("cme_assets.run", __doc__, arguments)
    # Dagster's notes on its own beta parameters are for this project's developers.
    warnings.filterwarnings("ignore", module="dagster.*")
    from cme_assets.tasks.category import CategoryError
    from resources.console import quiet_libraries

    quiet_libraries()
    try:
        return _run()
    except CategoryError as error:  # of the catalogue, which the imports load
        print(f"error: {error}", file=sys.stderr)
        return 1


def _run() -> int:
    import dagster as dg

    from cme_assets.bring_up_to_date import bring_up_to_date
    from cme_assets.left_out import left_out, unanswered
    from cme_assets.protocols.protocol import ProtocolError
    from cme_assets.summary import print_summary
    from dbt_reports.bring_up_to_date import ReportsFailed, bring_reports_up_to_date
    from resources.dagster_home import DagsterHomeError, explaining_storage_errors, open_instance
    from resources.found_models import registry_of
    from resources.interrupts import repeated_when_lost, stopped
    from resources.lake import Lake, LakeError
    from resources.registry import RegistryError, read_environment
    from resources.settings import SettingError, read_settings
    from resources.workers import WorkerError

    one_line_errors = (
        *(SettingError, RegistryError, DagsterHomeError, LakeError, WorkerError, ProtocolError),
        ReportsFailed,
    )
    try:
        settings = read_settings()
        registry = registry_of(settings)
        environment = read_environment(settings.models_file)
        for line in left_out(registry, environment, settings):
            print(line, file=sys.stderr)
        home = settings.dagster_home
        with (
            repeated_when_lost(dg.DagsterExecutionInterruptedError),
            explaining_storage_errors(home),
            open_instance(home) as instance,
        ):
            entries = registry.runnable(environment)
            done = bring_up_to_date(settings, entries, instance)
            built = bring_reports_up_to_date(settings, instance)
        print_summary(settings, done, reports_built=built)
        for line in unanswered(Lake(settings.lake), entries, settings):
            print(line)
        if done.refused:
            return 1
    except one_line_errors as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, dg.DagsterExecutionInterruptedError):
        return stopped()
    return 0


if __name__ == "__main__":
    sys.exit(main())
