"""Every provider, streaming and not, against replies that are meant to break whoever reads them.

Each fault is asked beside a plain question, so that it is seen to be one request's trouble and nobody else's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.llm.answer import Answer
from resources.llm.ledger import Ledger
from resources.llm.outcome import http_failure, network_failure
from resources.llm.request import ChatRequest
from resources.llm.run import ask_all
from resources.model_entry import ModelEntry, Parameters
from resources.outcomes import Status
from tests.servers.faulty import running
from tests.servers.hostile import KINDS, HostileServer

from .conftest import ENVIRONMENT, KEY, QUICK

pytestmark = pytest.mark.usefixtures("short_pauses")

STREAMED = Parameters(max_output_tokens=20_000)
# Fault, status, and how many tries the server must have seen.
CASES = [
    *((f"finish_{name}", Status.OK, 1) for name in KINDS),
    ("deep_body", Status.PROVIDER_ERROR, QUICK.errors),
    ("deep_error", Status.PROVIDER_ERROR, QUICK.errors),
    ("deep_refusal", Status.PROVIDER_ERROR, 1),
    ("lines_of_refusal", Status.REFUSED, 1),
    ("status_line", Status.PROVIDER_ERROR, QUICK.errors),
    ("status_line*1", Status.OK, 2),
    ("long_header", Status.PROVIDER_ERROR, QUICK.errors),
    ("long_header*1", Status.OK, 2),
    ("escaped_key", Status.OK, 1),
    ("bomb", Status.PROVIDER_ERROR, 1),
    ("bomb_of_errors", Status.PROVIDER_ERROR, 1),
    ("half", Status.OK, 1),
    ("pair", Status.OK, 1),
]
ONLY_STREAMED = [
    ("endless", Status.PROVIDER_ERROR, 1),
    *((f"odd_error_{kind}*1", Status.OK, 2) for kind in ("number", "half", "nested", "deep")),
]
ONLY_WHOLE = [
    ("tool_calls_number", Status.OK, 1),
    ("partial_content", Status.OK, 1),
    ("marked", Status.OK, 1),
]
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
PROVIDERS = pytest.mark.parametrize("provider", ["openai", "anthropic"])


@STREAMS
@PROVIDERS
async def test_no_reply_does_more_than_end_its_request(
    provider: str,
    stream: bool,
    ledger: Ledger,
    entry_for: Callable[..., ModelEntry],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("resources.llm.sending.MOST_BYTES", 2_000_000)
    cases = CASES + (ONLY_STREAMED if stream else ONLY_WHOLE)
    server = HostileServer()
    with running(server) as address:
        entry = entry_for(provider, address, **({"parameters": STREAMED} if stream else {}))
        questions = [f"q{i} [fault:{fault}]" for i, (fault, _, _) in enumerate(cases)]
        answers = await asked([*questions, "plain"], entry, ledger)
        again = await asked([*questions, "plain"], entry, ledger, errors=1)
    assert answers["plain"].text == "answer to plain"
    seen = [prompt.split()[0] for _, prompt in server.log.asked]
    for i, (fault, status, tries) in enumerate(cases):
        answer = answers[f"q{i}"]
        assert (fault, answer.status) == (fault, status), answer.error
        assert (fault, answer.attempts) == (fault, tries)
        assert answer.finish is None or isinstance(answer.finish, str)
        assert KEY not in repr(answer)
        assert (answer.error or "").isprintable()
        if status is Status.OK:
            assert (fault, seen.count(f"q{i}")) == (fault, tries)
            assert answer.text
            # What the ledger keeps is read again as it was the first time.
            assert (again[f"q{i}"].text, again[f"q{i}"].from_ledger) == (answer.text, True)
    assert answers[_name(cases, "pair")].text == "\N{GRINNING FACE} whole"


def _name(cases: list[tuple[str, Status, int]], fault: str) -> str:
    return f"q{[case[0] for case in cases].index(fault)}"


async def asked(prompts: list[str], entry: ModelEntry, ledger: Ledger, errors: int = QUICK.errors) -> dict[str, Answer]:
    """Answers by the first word of their prompt."""
    requests = [ChatRequest([{"role": "user", "content": prompt}]) for prompt in prompts]
    policy = replace(QUICK, errors=errors)
    found = [a async for a in ask_all(requests, entry, ledger, ENVIRONMENT, policy=policy)]
    assert len(found) == len(prompts)
    return {str(answer.request.messages[0]["content"]).split()[0]: answer for answer in found}


@given(
    st.text(),
    st.sampled_from(["\x1b[2J", "\x9b31m", "\u202e", "\u2066", "\u200b", "\u2028", "\r\n", "\ud800", "\ue000"]),
)
def test_what_a_provider_says_of_an_error_is_one_line_that_acts_on_no_terminal(text: str, hostile: str) -> None:
    said = text + hostile + text
    for failure in (
        http_failure(500, orjson.dumps({"error": {"message": said.encode("utf-8", "replace").decode()}})),
        network_failure("connection", OSError(said)),
    ):
        assert failure.message.isprintable()
        assert len(failure.message) < 600
