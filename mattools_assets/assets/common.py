"""How the knowledge side's assets are declared and what they share."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import dagster as dg

from mattools_assets.qa.published import PublishedError
from mattools_assets.source.errors import SourceError
from resources.freshness import Step
from resources.lake import LakeError, LakeTable
from resources.llm.database import LedgerError
from resources.materializing import Context, logged
from resources.settings import SettingError

GROUP = "mattools_knowledge"
Results = Iterator[dg.MaterializeResult]


def declared(
    step: Step,
    partitions: dg.PartitionsDefinition | None = None,
    condition: dg.AutomationCondition | None = None,
    more: Sequence[dg.AssetDep] = (),
) -> Callable[[Callable[..., None]], dg.AssetsDefinition]:
    """Declares the asset of `step`, whose name, inputs, version and description follow from it."""
    return dg.multi_asset(
        name=step.table.name,
        specs=[spec(step, condition, more)],
        partitions_def=partitions,
        backfill_policy=None if partitions is None else dg.BackfillPolicy.single_run(),
    )


def spec(step: Step, condition: dg.AutomationCondition | None = None, more: Sequence[dg.AssetDep] = ()) -> dg.AssetSpec:
    """The asset of `step` as Dagster knows it; `more` are inputs that the step does not name."""
    gathered = getattr(step, "gathered", ())
    return dg.AssetSpec(
        step.table.name,
        deps=[*(table.name for table in step.inputs), *(_all_of(table) for table in gathered), *more],
        description=step.table.description,
        group_name=GROUP,
        kinds={"python", "parquet"},
        code_version=step.code_version,
        automation_condition=condition,
    )


def _all_of(table: LakeTable) -> dg.AssetDep:
    return dg.AssetDep(table.name, partition_mapping=dg.AllPartitionMapping() if table.keys else None)


def results(steps: Iterable[Step]) -> Results:
    """What an asset that makes several tables gives back once they are stored."""
    return (dg.MaterializeResult(step.table.name) for step in steps)


@contextmanager
def telling(context: Context) -> Iterator[None]:
    """Progress of the stages in the run's log; what a user can mend as one line, without a traceback."""
    try:
        with logged(context, "mattools_assets.stages"):
            yield
    except (SourceError, PublishedError, LakeError, LedgerError, SettingError) as error:
        raise dg.Failure(str(error)) from None
