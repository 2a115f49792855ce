"""What agents are told: the task, the files that their script finds, and how their scripts fared on the examples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cme_assets.closed_book import ClosedBookProblem, Exhibit
from cme_assets.prompts import MEASURED, facts, instrument_text, task_text
from cme_assets.protocols.agent_files import FACTS_FILE, MAP_FILE, submitted_numbers
from resources.agent_limits import AgentLimits
from resources.llm.request import Message
from resources.outcomes import Status
from resources.sandbox.execution import Execution

SHOWN_OUTPUT = 3_000
SHOWN_VALUES = 300
EXCERPT = 5

RUN_SCRIPT = {
    "type": "function",
    "function": {
        "name": "run_script",
        "description": "Runs a Python script on each of the three example maps and reports its output and residuals.",
        "parameters": {
            "type": "object",
            "properties": {"script": {"type": "string", "description": "the whole script"}},
            "required": ["script"],
        },
    },
}


def code_messages(problem: ClosedBookProblem, limits: AgentLimits) -> list[Message]:
    """The one message of the code protocol."""
    closing = (
        "Reply with the whole script in one fenced block that begins with ```python; if there are several, the last "
        "one counts. It is run once, on the question's map, and what it submits is your answer."
    )
    return [{"role": "user", "content": "\n\n".join([_opening(problem, limits), closing]) + "\n"}]


def react_messages(problem: ClosedBookProblem, limits: AgentLimits, tools: bool) -> list[Message]:
    """The first message of the ReAct protocol; `tools` says whether scripts are run by tool calls."""
    way = (
        "call run_script with a script"
        if tools
        else "reply with one script in a fenced block that begins with ```python"
    )
    closing = (
        f"To try a script, {way}: it is run on each example's map by itself, and you see what it printed, what it "
        f"submitted and the residuals against the known answers. Revise it until you are content, then reply without a "
        f"script: the last one that was tried is run on the question's map alone, and what it submits is your answer. "
        f"You have {limits.steps} replies in all, the closing one included, {limits.tokens} tokens to write and "
        f"{limits.seconds:g} seconds of processor time for your trials."
    )
    return [{"role": "user", "content": "\n\n".join([_opening(problem, limits), closing]) + "\n"}]


def trial_report(problem: ClosedBookProblem, executions: Sequence[Execution], replies_left: int) -> str:
    """What a script did on the examples that it was run on; the first failure ended the trial."""
    parts = [
        _outcome(number, example, execution)
        for number, (example, execution) in enumerate(zip(problem.examples, executions, strict=False), start=1)
    ]
    if len(executions) < len(problem.examples):
        parts.append("It was not run on the other examples.")
    return "\n\n".join([*parts, f"Replies left: {replies_left}."])


def _opening(problem: ClosedBookProblem, limits: AgentLimits) -> str:
    examples = [
        "\n".join([f"Example {number}", *facts(example), f"Known answer: {_numbers(example.answer or ())}"])
        for number, example in enumerate(problem.examples, start=1)
    ]
    question = "\n".join(["Question", *facts(problem.test)])
    return "\n\n".join([_task(problem), _files(problem, limits), *examples, question])


def _task(problem: ClosedBookProblem) -> str:
    return "\n".join(
        [
            "Write a Python script that reads one measured map and computes a quantity from it.",
            f"Each map is {MEASURED[problem.map_kind]}.",
            problem.observed,
            instrument_text(problem),
            task_text(problem),
        ]
    )


def _files(problem: ClosedBookProblem, limits: AgentLimits) -> str:
    return "\n".join(
        [
            "The script finds two files in its working folder:",
            f"* {MAP_FILE}: first line a label and the column values, then a line a row: the row value and the "
            "intensities, integers scaled so that the largest is 1000. The upper left corner of example 1:",
            _excerpt(problem.examples[0]),
            f"* {FACTS_FILE}: an object with `given` (what is stated about the map: a list of objects with name, value "
            'and unit), `listed` (null, or an object with `axis`, "row" or "column", and the `values` for which an '
            "array is asked), `wanted` (how many numbers the answer has), `fwhm_rows` and `fwhm_columns` (full widths "
            "at half maximum of the instrument's kernels).",
            "It hands its answer over by calling submit(values) with a list of numbers; submit is there without an "
            "import. It has Python 3.11 with numpy, scipy, pandas, lmfit and scikit-image, no network, "
            f"{limits.script_seconds:g} seconds of processor time and {limits.script_mebibytes} MiB of memory for each "
            "map.",
        ]
    )


def _excerpt(exhibit: Exhibit) -> str:
    lines = exhibit.table.text.split("\n")[:EXCERPT]
    shown = [",".join([*line.split("\t")[:EXCERPT], "…"]) for line in lines]
    return "\n".join(["```", *shown, "…", "```"])


def _outcome(number: int, example: Exhibit, execution: Execution) -> str:
    ending = str(execution.status) + (f" ({execution.detail})" if execution.detail else "")
    lines = [f"Example {number}: {ending}, {execution.cpu_s:.1f} s"]
    for name, text in (("printed", execution.stdout), ("errors", execution.stderr)):
        if text.strip():
            lines += [f"{name}:", _shortened(text)]
    if execution.status is Status.OK:
        lines += _residuals(execution, example.answer or ())
    return "\n".join(lines)


def _residuals(execution: Execution, answer: Sequence[float]) -> list[str]:
    if not execution.submitted:
        return ["nothing was submitted; call submit(values)"]
    values = submitted_numbers(execution.result)
    if values is None:
        return ["what was submitted is not a list of numbers"]
    lines = [f"submitted: {_numbers(values)}", f"known answer: {_numbers(answer)}"]
    if len(values) != len(answer):
        return [*lines, f"{len(values)} numbers were submitted where {len(answer)} are asked"]
    return [*lines, f"residuals: {_numbers(np.subtract(values, answer).tolist())}"]


def _numbers(values: Sequence[float]) -> str:
    shown = ", ".join(f"{value:.6g}" for value in values[:SHOWN_VALUES])
    return f"[{shown}{', …' if len(values) > SHOWN_VALUES else ''}]"


def _shortened(text: str) -> str:
    """The beginning and the end: errors stand last."""
    if len(text) <= SHOWN_OUTPUT:
        return text.rstrip("\n")
    half = SHOWN_OUTPUT // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:].rstrip()}"
