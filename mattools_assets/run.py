"""`python -m mattools_assets.run`: bring MatTools up to date, models with a key included, and print its tables.

Source, call graph, keyless documents, the questions at hand and their baselines, this project's tool-usage questions
with their reference solutions, reports. What is good already is left alone, so a second run does nothing. Runs go
through Dagster on the same instance as `make ui`, which shows them.
"""

from __future__ import annotations

import sys
import warnings

from resources.arguments import take_none


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0, or 1 after a line that says what is wrong and how to mend it."""
    take_none("mattools_assets.run", __doc__, arguments)
    # Dagster's notes on its own beta parameters are for this project's developers.
    warnings.filterwarnings("ignore", module="dagster.*")
    from resources.console import quiet_libraries

    quiet_libraries()
    import dagster as dg

    from dbt_reports.bring_up_to_date import ReportsFailed, bring_reports_up_to_date
    from mattools_assets.bring_up_to_date import Refused, bring_up_to_date
    from mattools_assets.entrants import PROTOCOLS, check_doc_source
    from mattools_assets.left_out import unanswered
    from mattools_assets.qa.published import PublishedError
    from mattools_assets.source.errors import SourceError
    from mattools_assets.summary import print_summary
    from mattools_assets.tool_usage.entrants import PROTOCOL as TOOLS
    from mattools_assets.tool_usage.evaluating import evaluations
    from mattools_assets.tool_usage.question_sets import ToolUsageError
    from mattools_assets.tools_up_to_date import bring_tools_up_to_date
    from resources.dagster_home import DagsterHomeError, explaining_storage_errors, open_instance
    from resources.found_models import registry_of
    from resources.interrupts import repeated_when_lost, stopped
    from resources.lake import Lake, LakeError
    from resources.registry import RegistryError, not_asked, read_environment
    from resources.settings import SettingError, read_settings

    one_line_errors = (
        *(SettingError, RegistryError, DagsterHomeError, LakeError),
        *(SourceError, PublishedError, ToolUsageError, Refused, ReportsFailed),
    )
    try:
        settings = read_settings()
        registry = registry_of(settings)
        check_doc_source(settings, registry.entries)
        environment = read_environment(settings.models_file)
        for line in not_asked(registry.entries, {*PROTOCOLS, TOOLS}, environment):
            print(line, file=sys.stderr)
        entries = registry.runnable(environment)
        home = settings.dagster_home
        with (
            repeated_when_lost(dg.DagsterExecutionInterruptedError),
            explaining_storage_errors(home),
            open_instance(home) as instance,
        ):
            knowledge = bring_up_to_date(settings, entries, instance)
            tools = bring_tools_up_to_date(settings, evaluations(settings, entries), instance)
            for line in tools.left_out:
                print(line, file=sys.stderr)
            built = bring_reports_up_to_date(settings, instance)
        print_summary(settings, (knowledge, tools), reports_built=built)
        for line in unanswered(Lake(settings.lake), entries, settings):
            print(line)
        if knowledge.refused or tools.refused:
            return 1
    except one_line_errors as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, dg.DagsterExecutionInterruptedError):
        return stopped()
    return 0


if __name__ == "__main__":
    sys.exit(main())
