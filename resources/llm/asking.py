"""Asking a model as its entry says: at once or by batch, or not at all while its key is missing."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager

from resources.llm.answer import Answer, Tally
from resources.llm.batched import replies_by_batch
from resources.llm.budget import Budget
from resources.llm.capabilities import UnfitEntry
from resources.llm.client import Client
from resources.llm.database import LedgerError
from resources.llm.ledger import Ledger
from resources.llm.outcome import LONGEST_MESSAGE
from resources.llm.probing import ProbeFailed, fitted
from resources.llm.request import ChatRequest
from resources.llm.run import ask_all
from resources.llm.spending import announce
from resources.model_entry import ModelEntry
from resources.outcomes import Status

SECONDS_BETWEEN_LINES = 5.0
SECONDS_WITHOUT_NEWS = 60.0


async def answers_of(
    entry: ModelEntry,
    requests: Callable[[], Iterable[ChatRequest]],
    ledger: Ledger,
    keys: Mapping[str, str],
    budget: Budget,
    log: logging.Logger,
) -> AsyncGenerator[Answer, None]:
    """An answer to each of `requests()`, in any order; counts, tokens and dollars go to `log` meanwhile.

    Without the entry's key among `keys`, or after a fault of whatever kind, each ends as the provider's failure would,
    to be asked another time. Raises LedgerError. `requests` gives the same requests each time.
    """
    left = dict.fromkeys(requests())
    try:
        async with aclosing(_answers_of(entry, requests, ledger, keys, budget, log)) as answers:
            async for answer in answers:
                left.pop(answer.request, None)
                yield answer
    except LedgerError:
        raise
    except Exception as error:  # of this model; the others, and what follows, go on
        log.exception("%s: not asked any further", entry.name)
        for request in left:
            yield Answer(request, "", Status.PROVIDER_ERROR, error=fault_line(error))


def fault_line(error: Exception) -> str:
    """A fault of whatever kind in one line; of several at once, the first."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_MESSAGE]


async def _answers_of(
    entry: ModelEntry,
    requests: Callable[[], Iterable[ChatRequest]],
    ledger: Ledger,
    keys: Mapping[str, str],
    budget: Budget,
    log: logging.Logger,
) -> AsyncGenerator[Answer, None]:
    if entry.key_env and not keys.get(entry.key_env, "").strip():
        why = entry.why_off(keys) or ""
        log.warning("%s", why)
        for request in requests():
            yield Answer(request, "", Status.PROVIDER_ERROR, error=why)
        return
    announce(entry, budget, log)
    try:
        entry = await fitted(entry, ledger, keys, budget, log)
    except (ProbeFailed, UnfitEntry) as error:
        log.warning("%s", error)
        for request in requests():
            yield Answer(request, "", error.status, error=str(error))
        return
    if entry.batch:
        answers = replies_by_batch(requests, entry, ledger, keys, budget)
    else:
        answers = ask_all(list(requests()), entry, ledger, keys, budget=budget, progress=Lines(entry.name, log))
    async with aclosing(answers):
        async for answer in answers:
            yield answer


@asynccontextmanager
async def client_for(
    entry: ModelEntry, ledger: Ledger, keys: Mapping[str, str], budget: Budget, log: logging.Logger
) -> AsyncIterator[Client]:
    """A client of the model, asked as it takes it, for requests that follow from each other.

    Says first when it may cost money. Raises ProbeFailed and UnfitEntry.
    """
    announce(entry, budget, log)
    async with Client(await fitted(entry, ledger, keys, budget, log), ledger, keys, budget) as client:
        yield client


class Lines:
    """Progress in a log: done of how many, tokens, dollars, errors by kind.

    A line every few seconds, and while nothing is answered one a minute, so that a slow model is told from a dead run.
    """

    def __init__(self, model: str, log: logging.Logger) -> None:
        self._model, self._log, self._seen, self._told = model, log, 0, 0
        self._answered = self._said = time.monotonic()

    def __call__(self, tally: Tally) -> None:
        now = time.monotonic()
        if tally.done > self._seen:
            self._seen, self._answered = tally.done, now
        news = tally.done > self._told
        every = SECONDS_BETWEEN_LINES if news else SECONDS_WITHOUT_NEWS
        if (news and tally.done == tally.total) or now - self._said > every:
            waiting = "" if news else f"; no answer for {now - self._answered:.0f} s"
            self._log.info("%s: %s%s", self._model, tally, waiting)
            self._told, self._said = tally.done, now
