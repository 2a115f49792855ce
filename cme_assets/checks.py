"""Asset checks: what must hold for the tables in the lake. Each looks at all partitions that are there."""

from collections.abc import Mapping, Sequence

import dagster as dg

from cme_assets import invariants
from cme_assets.partitions import selected_categories
from cme_assets.protocols import PROTOCOLS
from cme_assets.protocols.protocol import Protocol
from resources.materializing import InLake, InSettings

COUNTS = {
    "full": {"categories": 38, "problems": 190, "tier 1": 15, "tier 2": 12, "tier 3": 11},
    "fast": {"categories": 2, "problems": 10, "tier 1": 1, "tier 2": 1, "tier 3": 0},
}
"""How many categories and problems a profile has, and how many categories in each tier. The full ones are published."""

KNOW_NOTHING = ("centre", "argmax")
LEAKAGE_LIMIT = 0.1
"""What these may score over all categories; more, and the axes or the noise would give answers away."""

SHOWN_LINES = 20


def build_checks() -> list[dg.AssetChecksDefinition]:
    """All checks of this location."""

    @dg.asset_check(asset="problems", description="As many categories, problems and tiers as were published.")
    def counts(lake: InLake, settings: InSettings) -> dg.AssetCheckResult:
        found = invariants.count_problems(lake, selected_categories(settings))
        expected = COUNTS[settings.profile]
        broken = [
            f"{name}: {found[name]} instead of {count}" for name, count in expected.items() if found[name] != count
        ]
        return _result(broken, {name: found[name] for name in expected})

    @dg.asset_check(asset="spectra", description="Physical identities hold, and levels share their draws.")
    def identities(lake: InLake) -> dg.AssetCheckResult:
        return _result([*invariants.broken_physics(), *invariants.broken_spectra(lake)])

    @dg.asset_check(asset="noisy_spectra", description="Noise is never negative and its mean is the level's.")
    def noise(lake: InLake) -> dg.AssetCheckResult:
        return _result(invariants.broken_noise(lake))

    @dg.asset_check(asset="prompts", description="The prompts' tables read back to the maps; questions hold no answer.")
    def round_trip(lake: InLake) -> dg.AssetCheckResult:
        return _result(invariants.broken_tables(lake))

    checks = [counts, identities, noise, round_trip]
    for protocol in PROTOCOLS:
        checks.append(_range_check(protocol))
    return [*checks, _leakage_check()]


def _range_check(protocol: Protocol) -> dg.AssetChecksDefinition:
    table = protocol.scores.table

    @dg.asset_check(asset=table.name, description="Every score is between 0 and 1.")
    def within_range(lake: InLake) -> dg.AssetCheckResult:
        return _result(invariants.scores_out_of_range(lake, table))

    return within_range


def _leakage_check() -> dg.AssetChecksDefinition:
    direct = next(protocol for protocol in PROTOCOLS if protocol.name == "direct")

    @dg.asset_check(asset=direct.scores.table.name, description="Who looks at next to nothing scores next to nothing.")
    def leakage(lake: InLake, settings: InSettings) -> dg.AssetCheckResult:
        # Two categories are no sample: the most intense pixel of each row is a fair answer to one of them.
        means = invariants.mean_scores(lake, direct.scores.table) if settings.profile == "full" else {}
        shown = {f"{model} at {size}": score for (model, size), score in means.items() if model in KNOW_NOTHING}
        return _result([f"{who} scores {s:.3f} overall" for who, s in shown.items() if s >= LEAKAGE_LIMIT], shown)

    return leakage


def _result(broken: Sequence[str], numbers: Mapping[str, float] | None = None) -> dg.AssetCheckResult:
    shown = "\n".join(broken[:SHOWN_LINES]) + ("\n…" if len(broken) > SHOWN_LINES else "")
    return dg.AssetCheckResult(passed=not broken, description=shown or "nothing found", metadata=dict(numbers or {}))
