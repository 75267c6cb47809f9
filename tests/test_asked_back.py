"""Beside the person: questions back, links, notices of a changed judgement, and nothing of it for clients that show only text."""

import asyncio
import json
import math
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import ElicitRequestFormParams, ElicitResult
from rl_advisor.server import build, following
from rl_advisor.server.dispatch import Dispatcher
from rl_advisor.tools.workers import isolated

from doors import DATA, plain_run, with_client

COLLAPSES = Path(__file__).parents[1] / "examples" / "grpo-run"

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


def monitored(folder: Path, seed: int) -> Path:
    """A run of unknown length that rose and slows down."""
    rng, run = random.Random(seed), folder / f"seed-{seed}"  # noqa: S311 - no secret is made
    run.mkdir()
    rows = "".join(f"{10 * (1 - math.exp(-i / 60)) + rng.gauss(0, 2):.3f},{20 + i % 3},{i}.0\n" for i in range(300))
    (run / "monitor.csv").write_text('#{"t_start": 0.0, "env_id": "X-v0"}\nr,l,t\n' + rows)
    return run


def columned(folder: Path, seed: int) -> Path:
    """A table of two columns, one that rises and one that does not, either of which may be the outcome."""
    rng, run = random.Random(seed), folder / f"two-{seed}"  # noqa: S311 - as above
    run.mkdir()
    rows = "".join(f"{i * 10},{i / 100 + rng.gauss(0, 0.03):.3f},{0.5 + rng.gauss(0, 0.03):.3f}\n" for i in range(100))
    (run / "log.csv").write_text("step,success_a,success_b\n" + rows)
    return run


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run for each kind of question, the first of some that leaves it open."""
    folder, found = tmp_path_factory.mktemp("asking"), {}
    for make, argument in ((monitored, "planned"), (columned, "mapping")):
        for run in (make(folder, seed) for seed in range(12)):
            told = isolated.answer({"verb": "assess_run", "run": run}).get("ask", [])
            if [a["argument"] for a in told] == [argument]:
                found[argument] = run
                break
    return found


class Person:
    """Answers forms, and remembers what was asked."""

    def __init__(self, action: str, **content: Any) -> None:
        """Answer each form so."""
        self.asked: list[ElicitRequestFormParams] = []
        self._said = ElicitResult(action=action, content=content or None)

    async def __call__(self, _: Any, params: ElicitRequestFormParams) -> ElicitResult:
        """The answer to a form."""
        self.asked.append(params)
        return self._said


def judged(run: Path, mode: str = "auto", person: Person | None = None, **more: Any) -> Any:
    """The server's answer about a run, beside a person where there is one."""
    return with_client(
        [run.parent],
        lambda c: c.call_tool("assess_run", {"run": run.name, **more}),
        mode=mode,
        elicitation_callback=person,
    )


@ERAS
def test_the_plan_is_asked_for_where_it_decides(asking: dict[str, Path], mode: str) -> None:
    run, near = asking["planned"], Person("accept", planned=6_400)
    answer = judged(run, mode, near)
    assert "How many steps are planned?" in near.asked[0].message
    assert near.asked[0].requested_schema["properties"]["planned"]["type"] == "integer"
    assert answer.structured_content == judged(run, planned=6_400).structured_content
    assert "/6400 steps" in answer.structured_content["at"] and "ask" not in answer.structured_content


@ERAS
def test_the_outcome_is_asked_for_where_two_are_near(asking: dict[str, Path], mode: str) -> None:
    run = asking["mapping"]
    before = judged(run).structured_content
    other = before["ask"][0]["choices"][1]
    person = Person("accept", mapping=other)
    after = judged(run, mode, person).structured_content
    assert person.asked[0].requested_schema["properties"]["mapping"]["enum"] == before["ask"][0]["choices"]
    assert after == judged(run, mapping={"reward/mean": other}).structured_content
    assert (after["verdict"], after["call"]) != (before["verdict"], before["call"])


@ERAS
@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_refusal_changes_nothing(asking: dict[str, Path], mode: str, action: str) -> None:
    for run in asking.values():
        assert judged(run, mode, Person(action)).structured_content == judged(run).structured_content


def test_whoever_cannot_be_asked_finds_the_questions_in_the_text(asking: dict[str, Path]) -> None:
    for argument, run in asking.items():
        (open_,) = json.loads(judged(run).content[0].text)["ask"]
        assert open_["argument"] == argument and open_["question"].endswith((".", "?")) and open_["decides"]


@ERAS
def test_which_run_is_asked_where_the_name_is_nearly_one(mode: str) -> None:
    person = Person("accept", run="run-01")

    async def ask(client: Client) -> list[Any]:
        return [await client.call_tool("load_run", {"run": name}) for name in ("run-1", "run-01", "another")]

    nearly, exact, strange = with_client([DATA], ask, mode=mode, elicitation_callback=person)
    assert nearly.structured_content == exact.structured_content
    assert len(person.asked) == 1 and strange.is_error
    refused = with_client([DATA], lambda c: c.call_tool("load_run", {"run": "run-1"}), mode=mode, elicitation_callback=Person("decline"))
    assert refused.is_error and refused.content[0].text.endswith("Near by name: run-01.")


def test_nothing_is_asked_where_no_answer_would_differ() -> None:
    person = Person("accept", planned=1)
    judged(DATA / "run-01", "auto", person)
    assert not person.asked


@ERAS
def test_text_is_the_same_whoever_reads_it(mode: str) -> None:
    """A client that shows nothing gets one text; one beside a person the same bytes, then the sentence and a link for that person."""
    plain, beside = (judged(DATA / "run-01", mode, person) for person in (None, Person("decline")))
    assert [block.type for block in plain.content] == ["text"] and plain.content[0].annotations is None
    text, sentence, link = beside.content
    assert (text.text, beside.structured_content) == (plain.content[0].text, plain.structured_content)
    assert [b.annotations.audience for b in (text, sentence, link)] == [["assistant"], ["user"], ["user"]]
    assert sentence.text.startswith("plateaued, stop: ")
    page = with_client([DATA], lambda c: c.read_resource(link.uri)).contents[0]
    assert link.mime_type == page.mime_type == "text/markdown"
    assert page.text.startswith("> What follows quotes a run") and "\n# run-01: plateaued" in page.text


def test_pages_say_what_they_are() -> None:
    """Each page has the type of what stands in it, in the list too; the server has an icon that loads nothing."""

    async def talk(client: Client) -> Any:
        names = ("inventory", "curve", "page.html", "report.md", "curves.png", "curves.png?metric=kl/ref")
        listed = (await client.list_resource_templates()).resource_templates
        return [(await client.read_resource(f"run://run-01/{n}")).contents[0] for n in names], listed, client.server_info

    pages, listed, server = with_client([DATA], talk)
    kinds = ["application/json"] * 2 + ["text/html", "text/markdown"] + ["image/png"] * 2
    assert [p.mime_type for p in pages] == kinds
    assert {t.mime_type for t in listed} == set(kinds)
    import base64

    assert all(base64.b64decode(p.blob).startswith(b"\x89PNG") for p in pages[-2:]) and pages[-1].blob != pages[-2].blob
    assert base64.b64decode(server.icons[0].src.partition(",")[2]).startswith(b"<svg")


LOOKED: set[str] = set()
"""Runs that were judged once."""
_WORKED = Dispatcher.worked


async def _noted(self: Dispatcher, work: Any, asked: dict[str, Any]) -> Any:
    answer = await _WORKED(self, work, asked)
    LOOKED.add(asked["run"])
    return answer


async def both_looked_at() -> None:
    """Wait until the run and the one beside it were judged."""
    while len(LOOKED) < 2:  # noqa: ASYNC110  an event would belong to one of the two loops
        await anyio.sleep(0.02)


@pytest.fixture
def growing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """A run whose log is written up to a step, beside one that stays as it is; both are looked at often."""
    monkeypatch.setattr(following, "EVERY_S", 0.05)
    monkeypatch.setattr(following, "RARELY_S", 0.2)
    monkeypatch.setattr(Dispatcher, "worked", _noted)
    LOOKED.clear()
    run = tmp_path / "run-01"
    shutil.copytree(COLLAPSES, run)
    assert plain_run(tmp_path / "still").exists()
    whole = json.loads((run / "trainer_state.json").read_text())
    for file in [f for f in run.rglob("*") if f.is_file() and f.name != "trainer_state.json"]:
        file.unlink()

    def write(until: int) -> None:
        rows = [r for r in whole["log_history"] if r["step"] <= until]
        (run / "trainer_state.json").write_text(json.dumps({**whole, "log_history": rows, "global_step": until}))

    write(120)
    return write


URIS = ["run://run-01/report.md", "run://still/run-01/report.md"]


def test_a_listener_is_told_when_the_judgement_changes(tmp_path: Path, growing: Callable[[int], None]) -> None:
    """A run cut where it was sound and then written on: one notice, for the page that was named; none for one that stays as it is."""

    async def talk() -> list[str]:
        told: list[str] = []
        async with Client(build([tmp_path])) as client, client.listen(resource_subscriptions=URIS) as changes:
            with anyio.move_on_after(120):
                async with anyio.create_task_group() as group:

                    async def grow() -> None:
                        await both_looked_at()
                        growing(300)

                    group.start_soon(grow)
                    async for change in changes:
                        told.append(change.uri)
                        break
        return told

    assert asyncio.run(talk()) == URIS[:1]
