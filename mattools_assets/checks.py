"""Asset checks of the knowledge side. Each looks at all partitions that are there."""

from collections.abc import Iterable, Mapping
from itertools import islice

import dagster as dg

from mattools_assets import invariants
from mattools_assets.docs.tables import LLM_DOCS
from mattools_assets.qa.questions import LETTERS, QA_CODE, QA_DOC, QA_HANDWRITTEN, QA_PUBLISHED
from mattools_assets.qa.scores import QA_ACCURACY, QA_SCORES
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES, SOURCE_PROBLEMS
from resources.lake import LakeTable
from resources.materializing import InLake

SHOWN_LINES = 20


def build_checks() -> list[dg.AssetChecksDefinition]:
    """All checks of the knowledge side."""

    @dg.asset_check(asset=CODE_OBJECTS.name, description="The published source has as many objects as were published.")
    def counts(lake: InLake) -> dg.AssetCheckResult:
        return _result(invariants.wrong_counts(lake), invariants.object_counts(lake))

    @dg.asset_check(asset=CODE_OBJECTS.name, description="Every file is an object, and every object's id is its own.")
    def nothing_lost(lake: InLake) -> dg.AssetCheckResult:
        lost = [f"{file}: is no object" for file in invariants.lost_files(lake)]
        return _result([*lost, *invariants.doubled_objects(lake)])

    @dg.asset_check(asset=SOURCE_PROBLEMS.name, description="Files that could not be read as they should, worst first.")
    def broken_files(lake: InLake) -> dg.AssetCheckResult:
        return _result(invariants.source_findings(lake), severity=dg.AssetCheckSeverity.WARN)

    @dg.asset_check(asset=REFERENCES.name, description="References join objects, and callees come first.")
    def callees_first(lake: InLake) -> dg.AssetCheckResult:
        return _result(invariants.broken_references(lake))

    @dg.asset_check(asset=LLM_DOCS.name, description="Every object has its document; those to be asked for again.")
    def complete(lake: InLake) -> dg.AssetCheckResult:
        return _result(invariants.unfinished_documents(lake), severity=dg.AssetCheckSeverity.WARN)

    @dg.asset_check(asset=QA_ACCURACY.name, description="Accuracies lie in their intervals; none without an answer.")
    def within_range(lake: InLake) -> dg.AssetCheckResult:
        return _result(invariants.broken_accuracies(lake))

    @dg.asset_check(asset=QA_SCORES.name, description="Who always answers A is right exactly where A is right.")
    def position_control(lake: InLake) -> dg.AssetCheckResult:
        return _result(invariants.wrong_position_bias(lake))

    checks = [counts, nothing_lost, broken_files, callees_first, complete, within_range, position_control]
    for table in (QA_CODE, QA_DOC, QA_PUBLISHED, QA_HANDWRITTEN):
        checks += [_gates_check(table), _balance_check(table)]
    return [*checks, *map(_kept_check, (QA_CODE, QA_DOC))]


def _gates_check(table: LakeTable) -> dg.AssetChecksDefinition:
    @dg.asset_check(asset=table.name, description="Four options, one right, no id twice; written ones pass all gates.")
    def gates(lake: InLake) -> dg.AssetCheckResult:
        return _result(invariants.broken_questions(lake, table))

    return gates


def _kept_check(table: LakeTable) -> dg.AssetChecksDefinition:
    @dg.asset_check(asset=table.name, description="Of what a model writes at least half is kept; the others, and why.")
    def mostly_kept(lake: InLake) -> dg.AssetCheckResult:
        return _result(invariants.scarce_questions(lake, table), severity=dg.AssetCheckSeverity.WARN)

    return mostly_kept


def _balance_check(table: LakeTable) -> dg.AssetChecksDefinition:
    @dg.asset_check(asset=table.name, description="The right letters are equally frequent, as far as chance allows.")
    def letters_balanced(lake: InLake) -> dg.AssetCheckResult:
        counts = {
            f"{origin} {kind.value} {letter}": count
            for (origin, kind), found in invariants.letter_counts(lake, table).items()
            for letter, count in zip(LETTERS, found, strict=True)
        }
        # The published set is as it is: its imbalance is a finding, not a fault.
        severity = dg.AssetCheckSeverity.WARN if table == QA_PUBLISHED else dg.AssetCheckSeverity.ERROR
        return _result(invariants.unbalanced_letters(lake, table), counts, severity)

    return letters_balanced


def _result(
    broken: Iterable[str],
    numbers: Mapping[str, float] | None = None,
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR,
) -> dg.AssetCheckResult:
    lines = list(islice(broken, SHOWN_LINES + 1))
    shown = "\n".join(lines[:SHOWN_LINES]) + ("\n…" if len(lines) > SHOWN_LINES else "")
    return dg.AssetCheckResult(
        passed=not lines, severity=severity, description=shown or "nothing found", metadata=dict(numbers or {})
    )
