"""The host's side without a sandbox: limits, verdicts, file names, the pool's rule for lost workers, refusals."""

from __future__ import annotations

import ast
import math
import threading
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.outcomes import Status
from resources.sandbox import bubblewrap, docker_engine, environments, owner, selection
from resources.sandbox.execution import Execution, from_reply, printable
from resources.sandbox.limits import Limits
from resources.sandbox.pool import Sandbox, SandboxUnavailable, check_files, check_names
from resources.sandbox.worker import Worker, WorkerLost
from resources.settings import read_settings

SOURCE = Path(environments.__file__).parent


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
@pytest.mark.parametrize("value", [0, -1, math.inf, math.nan])
def test_a_limit_is_a_finite_number_above_zero(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"limit {name}="):
        Limits(**{name: value})


def test_time_by_the_clock_is_longer_than_processor_time() -> None:
    assert Limits().wall_s > 2 * Limits().cpu_s


REPLY = {
    "prepared": True, "reason": "exited", "exit_code": 0, "memory_kills": 0, "wall_s": 1.0, "cpu_s": 0.5,
    "peak_memory": 7, "submitted": False, "names": [], "notes": [], "retire": False,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, Status.OK),
        ({"exit_code": 1}, Status.CODE_ERROR),
        ({"exit_code": 77}, Status.CODE_MEMORY),
        ({"exit_code": 78}, Status.CODE_ERROR),
        ({"exit_code": -11}, Status.CODE_ERROR),
        ({"exit_code": -9}, Status.CODE_ERROR),
        ({"exit_code": -9, "memory_kills": 1}, Status.CODE_MEMORY),
        ({"exit_code": -24}, Status.CODE_TIMEOUT),
        ({"exit_code": None}, Status.CODE_ERROR),
        ({"reason": "wall_s", "exit_code": -9}, Status.CODE_TIMEOUT),
        ({"reason": "cpu_s", "exit_code": -9}, Status.CODE_TIMEOUT),
        ({"reason": "memory", "exit_code": -9}, Status.CODE_MEMORY),
        ({"reason": "disk", "exit_code": -9}, Status.CODE_ERROR),
        ({"reason": "output", "exit_code": -9}, Status.CODE_ERROR),
        ({"prepared": False, "exit_code": 1}, Status.SANDBOX_ERROR),
    ],
)
def test_every_way_to_end_has_one_status(changes: dict[str, Any], status: Status) -> None:
    assert from_reply({**REPLY, **changes}, [b"", b"", b""], 100).status is status


def test_a_result_that_cannot_be_read_is_the_scripts_error_unless_it_had_one() -> None:
    assert from_reply({**REPLY, "submitted": True}, [b"", b"", b"[NaN]"], 100).status is Status.CODE_ERROR
    reply = {**REPLY, "submitted": True, "reason": "wall_s"}
    assert from_reply(reply, [b"", b"", b"[NaN]"], 100).status is Status.CODE_TIMEOUT


@given(st.binary())
def test_stored_text_has_no_control_characters(data: bytes) -> None:
    assert all(
        character.isprintable() or character in "\n\t " or ord(character) > 0x9F for character in printable(data)
    )


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_ordinary_text_is_stored_unchanged(text: str) -> None:
    assert printable(text.encode()) == text


def test_input_files_must_fit() -> None:
    with pytest.raises(ValueError, match="has 11 bytes, the limit is 10"):
        check_files({"a": b"x" * 11}, Limits(file_size=10))
    with pytest.raises(ValueError, match="half of the disk limit"):
        check_files({"a": b"x" * 6, "b": b"x" * 6}, Limits(file_size=10, disk=20))


@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b/c", "d", "a/b"), ("x/y/z", "x")])
def test_a_file_cannot_be_the_folder_of_another(names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"is the folder of .*; rename one"):
        check_names(names)
    check_names([name.replace("/", "_") for name in names])


class Losing(Worker):
    """A worker that is lost whenever it runs the script `bad`."""

    def __init__(self) -> None:
        self.executions, self.usable = 0, True

    def wait_until_ready(self) -> None:
        pass

    def close(self) -> None:
        self.usable = False

    def execute(self, code: bytes, files: Mapping[str, bytes], limits: Limits) -> Execution:
        del files, limits
        self.executions += 1
        if code == b"bad":
            self.usable = False
            raise WorkerLost("the sandbox worker has ended")
        return from_reply({**REPLY, "submitted": True}, [b"", b"", b"1"], 100)


class Starting:
    """A backend that starts such workers, at most `most` of them; two may be asked for at the same time."""

    name = "double"

    def __init__(self, most: int) -> None:
        self.left = threading.Semaphore(most)

    def start(self) -> Worker:
        if not self.left.acquire(blocking=False):
            raise OSError("no more workers")
        return Losing()


def test_a_script_that_destroys_every_worker_has_failed_itself() -> None:
    with Sandbox(Starting(most=9), Limits(), workers=1) as box:
        execution = box.run("bad")
        assert execution.status is Status.CODE_ERROR
        assert "lost 2 times" in execution.detail
        assert box.run("good").status is Status.OK


def test_when_an_innocent_script_does_not_run_either_it_is_the_sandbox() -> None:
    with Sandbox(Starting(most=2), Limits(), workers=1) as box:
        assert box.run("bad").status is Status.SANDBOX_ERROR


def test_without_workers_it_is_the_sandbox_and_opening_says_so() -> None:
    with Sandbox(Starting(most=0), Limits(), workers=1) as box:
        assert box.run("good").status is Status.SANDBOX_ERROR
        with pytest.raises(SandboxUnavailable, match="the double sandbox does not start: no more workers"):
            box.warm()


@pytest.mark.parametrize(("workers", "first"), [(1, 1), (2, 2), (8, 2)])
def test_the_first_workers_start_at_the_same_time(workers: int, first: int) -> None:
    at_once = threading.Barrier(first, timeout=20)

    class Together(Starting):
        def start(self) -> Worker:
            at_once.wait()
            return super().start()

    with Sandbox(Together(most=first), Limits(), workers) as box:
        box.warm()
        assert box.run("good").status is Status.OK


def test_opening_fails_when_the_second_worker_does_not_start() -> None:
    with Sandbox(Starting(most=1), Limits(), workers=2) as box:
        with pytest.raises(SandboxUnavailable, match="no more workers"):
            box.warm()
        box.close()
        assert box.run("good").status is Status.SANDBOX_ERROR


def test_auto_prefers_docker_and_says_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    problems: dict[str, str | None] = {"docker": "no engine", "bubblewrap": None}
    monkeypatch.setattr(selection, "problem_with", lambda name, *_: problems[name])
    environment, settings = environments.environment("cme"), read_settings({})
    backend, why = selection.choose(environment, settings, Limits())
    assert isinstance(backend, bubblewrap.Bubblewrap)
    assert why == "bubblewrap is used (docker: no engine)"
    problems["docker"] = None
    assert isinstance(selection.choose(environment, settings, Limits())[0], docker_engine.Docker)
    problems["docker"] = "no engine"
    with pytest.raises(SandboxUnavailable, match=r"without a sandbox\. docker: no engine"):
        selection.choose(environment, read_settings({"CONDMAT_SANDBOX": "docker"}), Limits())


def test_an_owner_is_known_by_more_than_its_number() -> None:
    here = owner.this_process()
    host, number, started = here.split("/")
    assert not owner.is_gone(here)
    assert owner.is_gone(f"{host}/{number}/{float(started) - 5:.2f}")
    assert owner.is_gone(f"{host}/4194305/{started}")
    assert not owner.is_gone(f"another-{host}/4194305/{started}")


@pytest.mark.parametrize("name", environments.ENVIRONMENTS)
def test_every_package_is_pinned_and_no_address_is_written(name: str) -> None:
    lines = environments.environment(name).requirements.read_text().splitlines()
    assert all(line.count("==") == 1 and " " not in line and "/" not in line for line in lines)
    wanted = (environments.REQUIREMENTS / f"{name}.in").read_text().split()
    pins = dict(line.split("==") for line in lines)
    for package in wanted:
        exact, _, version = package.partition("==")
        assert exact.replace(".", "-") in pins
        assert version in ("", pins[exact.replace(".", "-")])


def test_an_unknown_environment_names_those_that_exist() -> None:
    with pytest.raises(KeyError, match="there are cme, mattools"):
        environments.environment("qa")


def test_the_host_neither_evaluates_nor_unpickles() -> None:
    host_side = list(SOURCE.glob("*.py"))
    assert len(host_side) > 10
    for path in host_side:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec", "compile", "__import__"), path
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", "") or ""}
                assert not names & {"pickle", "dill", "cloudpickle", "marshal", "shelve", "yaml"}, path
