"""What asking would cost, as an asset: materialized before any call, it asks nobody."""

import dagster as dg

from cme_assets import schemas
from cme_assets.estimate import chosen, estimates
from cme_assets.partitions import GROUP
from resources.found_models import registry_of
from resources.llm.estimate import Estimate
from resources.materializing import Context, InSettings

NAME = "cost_estimate"
_HEAD = (
    "| model | requests | answered | prompt tokens | answer tokens | USD | with caching | by batch | at most |",
    "|---|---|---|---|---|---|---|---|---|",
)


def estimate_asset() -> dg.AssetsDefinition:
    """The estimate of every enabled model, with or without its key."""

    @dg.asset(
        name=NAME,
        deps=[schemas.PROMPTS.name],
        description="What asking each enabled model what it has not answered yet would cost. Nobody is asked.",
        group_name=GROUP,
        kinds={"python"},
        code_version="1",
    )
    def cost_estimate(context: Context, settings: InSettings) -> None:
        found = [each for each, _ in estimates(settings, chosen(registry_of(settings), ()))]
        known = [each.usd for each in found if each.usd is not None]
        context.add_output_metadata(
            {
                "estimate": dg.MetadataValue.md("\n".join([*_HEAD, *map(_line, found)])),
                "requests": sum(each.requests for each in found),
                "USD of those with a price": float(sum(known)),
                "without a price": len(found) - len(known),
            }
        )

    return cost_estimate


def _line(found: Estimate) -> str:
    counts = (found.requests, found.answered, found.prompt_tokens, found.completion_tokens)
    money = [_usd(each) for each in (found.usd, found.usd_cached, found.usd_batch, found.usd_most)]
    return "| " + " | ".join([found.model, *(f"{count:,}" for count in counts), *money]) + " |"


def _usd(amount: float | None) -> str:
    return "" if amount is None else f"{amount:,.2f}"
