"""Dagster's conditions under which replies and scores run by themselves; `automation` says what follows from them."""

import dagster as dg

Condition = dg.AutomationCondition


def ask_once() -> dg.AutomationCondition:
    """For replies: partitions that have been added since, once, when their prompts are there."""
    return Condition.on_missing()


def follow_replies(responses: str) -> dg.AutomationCondition:
    """For scores: new replies and a new scorer, once each."""
    new_replies = Condition.asset_matches(responses, Condition.newly_updated())
    reason = Condition.missing().newly_true() | Condition.code_version_changed() | new_replies
    handled = Condition.newly_requested() | Condition.newly_updated()
    quiet = ~Condition.any_deps_missing() & ~Condition.any_deps_in_progress() & ~Condition.in_progress()
    return (reason.since(handled) & quiet).with_label("follow_replies")
