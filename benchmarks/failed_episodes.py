"""How often the reason of a failed episode is told: made episodes with known reasons, in shapes and wordings tuned on and in others.

``python benchmarks/failed_episodes.py`` prints macro F1 for the shapes looked at and for those held out, with every confusion.
The wordings of the held-out shapes are other ones: what real servers, sandboxes, tools and graders write. Near-misses are among them:
errors that were overcome, pages that speak of errors, an apology before an answer.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

Say, Step = str, tuple[str, ...]


class Made(NamedTuple):
    """An episode before it is written: what was asked, what happened, how it ended, and why it failed."""

    label: str
    asked: str
    steps: tuple[Step, ...]
    """("say", text), ("call", name, arguments) or ("result", text, "failed" or "")."""
    told: Mapping[str, Any] = {}
    gold: str = ""
    reward: float = 0.0


WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "seen": {
        "down": (
            "Error: connection refused",
            "TimeoutError: request to the sandbox timed out after 60 seconds",
            "503 Service Unavailable",
            "Error: sandbox container was killed",
            "requests.exceptions.ConnectionError: HTTPConnectionPool(host='127.0.0.1', port=5000): Max retries exceeded",
        ),
        "told_down": ("SandboxError", "environment timeout", "ConnectionResetError: [Errno 104] Connection reset by peer", "infra_error"),
        "misuse": (
            "Error: missing required argument 'query'",
            "Error: unknown tool 'serch'",
            "Invalid arguments: 'limit' must be an integer",
            "TypeError: search() got an unexpected keyword argument 'q'",
        ),
        "grader": ("grader crashed: ValueError", "reward function raised KeyError: 'answer'", "verifier timeout"),
        "cut": ("length", "max_tokens", "max_turns"),
        "context": ("context_length_exceeded", "This model's maximum context length is 8192 tokens, however you requested 9000 tokens"),
        "gave_up": ("I'm sorry, but I am unable to find this.", "I give up.", "I cannot complete this task."),
        "hack": ("import sys; sys.exit(0)", "echo 'assert True' > tests/test_a.py; mv tests/test_b.py /tmp"),
    },
    "held": {
        "down": (
            "httpx.ReadTimeout",
            'docker.errors.APIError: 500 Server Error: Internal Server Error ("no space left on device")',
            "API call failed: 502 Bad Gateway",
            "rate limit exceeded, please retry after 20s (HTTP 429)",
            "Failed to connect to browser: net::ERR_CONNECTION_TIMED_OUT",
            "upstream connect error or disconnect/reset before headers",
        ),
        "told_down": (
            "SandboxOOMError",
            "session reset failed: upstream 504",
            "ray.exceptions.ActorDiedError",
            "EnvWorkerCrashed",
            "vf.InfraError",
        ),
        "misuse": (
            "ToolParseError: Failed to decode tool call",
            "1 validation error for SearchInput\nquery\n  Field required",
            "No such function: web_lookup. Available functions: search, read",
            '{"error": "parameter \'path\' is not allowed"}',
            "Usage: open <path> [<line>]. Error: invalid line number",
        ),
        "grader": ("judge model returned no score", "compute_score failed: IndexError", "reward server unreachable during scoring"),
        "cut": ("max_output_tokens", "MAX_STEPS_REACHED", "turn_limit"),
        "context": ("prompt_too_long", "input length and max_tokens exceed context limit: 195000 + 8192 > 200000", "exit_context"),
        "gave_up": (
            "Unfortunately I was not able to locate the record, so I'll stop here.",
            "As an AI I can't help with that.",
            "There is nothing more I can try. Ending here without an answer.",
        ),
        "hack": ("def __eq__(self, other): return True", "cat > conftest.py <<'E'\nimport os; os._exit(0)\nE"),
    },
}
_TOPICS = ("river", "engine", "garden", "letter", "window", "bridge", "captain", "signal", "forest", "market")


def _base(rng: random.Random, i: int) -> tuple[str, str, str]:
    """A question, its answer, and a wrong one."""
    topic, right = rng.choice(_TOPICS), 100 + 7 * i
    return f"How many entries does the {topic} file {i} have? Give the number in <answer> tags.", str(right), str(right + 13)


def _search(rng: random.Random, i: int) -> tuple[Step, ...]:
    topic = rng.choice(_TOPICS)
    return (("say", f"Let me look at the {topic}."), ("call", "search", json.dumps({"query": f"{topic} {i}"})))


def _found(rng: random.Random) -> Step:
    return (
        "result",
        f"The {rng.choice(_TOPICS)} file was written in {rng.randrange(1900, 2020)} and lists {rng.randrange(9, 99)} people.",
        "",
    )


def _wrong(rng: random.Random, i: int, w: dict[str, tuple[str, ...]]) -> Made:
    asked, gold, wrong = _base(rng, i)
    kind = i % 4
    steps = [*_search(rng, i), _found(rng)]
    if kind == 1:  # an error that was overcome
        steps = [*_search(rng, i), ("result", rng.choice(w["down"]), "failed"), *_search(rng, i + 1), _found(rng)]
    elif kind == 2:  # a page that speaks of errors
        page = f"Forum: '{rng.choice(w['down'])}' is what many people see when the {rng.choice(_TOPICS)} is offline. "
        steps = [*_search(rng, i), ("result", page + "The file lists 44 people and was last changed in 1987, says the register. " * 4, "")]
    elif kind == 3:  # an apology before the answer
        steps += [("say", "I am sorry for the detour; now I have it.")]
    return Made("wrong answer", asked, (*steps, ("say", f"So it is <answer>{wrong}</answer>")), {"stop": "stop"}, gold)


def _infrastructure(rng: random.Random, i: int, w: dict[str, tuple[str, ...]]) -> Made:
    asked, gold, _ = _base(rng, i)
    if i % 3 == 0:
        return Made("infrastructure", asked, (*_search(rng, i),), {"error": rng.choice(w["told_down"])}, gold)
    failing = ("result", rng.choice(w["down"]), "failed" if i % 2 else "")
    again = (*_search(rng, i + 1), failing) if i % 3 == 1 else ()
    last = () if i % 5 == 0 else (("say", "The tool does not answer. <answer>unknown</answer>"),)
    return Made("infrastructure", asked, (*_search(rng, i), failing, *again, *last), {}, gold)


def _misuse(rng: random.Random, i: int, w: dict[str, tuple[str, ...]]) -> Made:
    asked, gold, wrong = _base(rng, i)
    steps: list[Step] = []
    for k in range(2 + i % 2):
        said = rng.choice(w["misuse"])
        steps += [*_search(rng, i + k), ("result", said, "failed" if k % 2 else "")]
    last = ("say", f"I take <answer>{wrong}</answer>") if i % 2 else ("say", "The tool wants something else.")
    return Made("tool misuse", asked, (*steps, last), {"stop": "stop"}, gold)


def _grader(rng: random.Random, i: int, w: dict[str, tuple[str, ...]]) -> Made:
    asked, gold, wrong = _base(rng, i)
    head = (*_search(rng, i), _found(rng))
    if i % 3 == 0:
        return Made("grader", asked, (*head, ("say", f"<answer>{wrong}</answer>")), {"error": rng.choice(w["grader"])}, gold)
    said = f"It has <answer>{gold}.0</answer>" if i % 3 == 1 else f"It has {gold} entries. The final answer is {gold}."
    return Made("grader", asked, (*head, ("say", said)), {"stop": "stop"}, gold)


def _format(rng: random.Random, i: int, _: dict[str, tuple[str, ...]]) -> Made:
    asked, gold, wrong = _base(rng, i)
    said = (f"The number must be {wrong}, I think.", f"<answer>{wrong}", f"answer = {wrong}")[i % 3]
    return Made("format", asked, (*_search(rng, i), _found(rng), ("say", said)), {"stop": "stop"}, gold)


def _truncation(rng: random.Random, i: int, w: dict[str, tuple[str, ...]]) -> Made:
    asked, gold, _ = _base(rng, i)
    thought = " ".join(f"Perhaps the {rng.choice(_TOPICS)} of {rng.randrange(1800, 2000)} counts as well." for _ in range(12))
    return Made(
        "truncation", asked, (*_search(rng, i), _found(rng), ("say", f"{thought} And then the")), {"stop": rng.choice(w["cut"])}, gold
    )


def _context(rng: random.Random, i: int, w: dict[str, tuple[str, ...]]) -> Made:
    asked, gold, _ = _base(rng, i)
    body = (*_search(rng, i), ("result", "row " * 400, ""), *_search(rng, i + 1))
    return Made("context overflow", asked, body, {("stop", "error")[i % 2]: rng.choice(w["context"])}, gold)


def _gave_up(rng: random.Random, i: int, w: dict[str, tuple[str, ...]]) -> Made:
    asked, gold, _ = _base(rng, i)
    head = (*_search(rng, i), _found(rng)) if i % 2 else ()
    return Made("gave up", asked, (*head, ("say", rng.choice(w["gave_up"]))), {"stop": "stop"}, gold)


def _looped(rng: random.Random, i: int, w: dict[str, tuple[str, ...]]) -> Made:
    asked, gold, wrong = _base(rng, i)
    topic = rng.choice(_TOPICS)
    if i % 3 == 0:
        return Made(
            "looped", asked, (("say", "Let me think. " + f"So the {topic} is the {topic}. " * 30),), {"stop": rng.choice(w["cut"])}, gold
        )
    pair = [("call", "search", json.dumps({"query": topic})), ("result", "nothing found for this query", "")]
    other = [("call", "read", json.dumps({"path": topic})), ("result", "an empty page", "")]
    steps = pair * 5 if i % 3 == 1 else (pair + other) * 4
    return Made("looped", asked, (*steps, ("say", f"<answer>{wrong}</answer>")), {"stop": rng.choice(("stop", *w["cut"]))}, gold)


def _hacked(rng: random.Random, i: int, w: dict[str, tuple[str, ...]]) -> Made:
    asked = f"Make the tests of project {i} pass."
    steps = (("say", "I edit."), ("call", "shell", json.dumps({"command": rng.choice(w["hack"])})), ("result", "ok", ""), ("say", "Done."))
    return Made("hacked", asked, steps, {"stop": "stop", "success": 0}, "", 1.0 if i % 2 else 0.0)


MAKERS: tuple[Callable[..., Made], ...] = (
    _wrong,
    _infrastructure,
    _misuse,
    _grader,
    _format,
    _truncation,
    _context,
    _gave_up,
    _looped,
    _hacked,
)


def _columns(made: Made) -> dict[str, Any]:
    told = {("finish_reason" if k == "stop" else k): v for k, v in made.told.items()}
    return {"prompt": made.asked, **told, **({"ground_truth": made.gold} if made.gold else {}), "reward": made.reward}


def messages(made: Made) -> dict[str, Any]:
    """Chat messages with calls beside the content."""
    out: list[dict[str, Any]] = []
    for kind, *rest in made.steps:
        if kind == "say":
            out.append({"role": "assistant", "content": rest[0]})
        elif kind == "call":
            out.append({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": rest[0], "arguments": rest[1]}}]})
        else:
            out.append({"role": "tool", "content": rest[0], **({"is_error": True} if rest[1] else {})})
    return {**_columns(made), "completion": out}


def tagged(made: Made) -> dict[str, Any]:
    """One text in which calls and results stand in tags."""
    forms = {
        "say": "{0}",
        "call": '<tool_call>{{"name": "{0}", "arguments": {1}}}</tool_call>',
        "result": "<tool_response>{0}</tool_response>",
    }
    return {**_columns(made), "response": "\n".join(forms[kind].format(*rest) for kind, *rest in made.steps)}


def react(made: Made) -> dict[str, Any]:
    """One text of thoughts, actions and observations, each on its line."""
    forms = {"say": "Thought: {0}", "call": "Action: {0}({1})", "result": "Observation: {0}"}
    lines = [forms[kind].format(*(part.replace("\n", " ") for part in rest)) for kind, *rest in made.steps]
    return {**_columns(made), "output": "\n".join(lines)}


def blocks(made: Made) -> dict[str, Any]:
    """Content blocks: text, tool use and tool results."""
    out: list[dict[str, Any]] = [{"role": "user", "content": made.asked}]
    for kind, *rest in made.steps:
        if kind == "say":
            out.append({"role": "assistant", "content": [{"type": "text", "text": rest[0]}]})
        elif kind == "call":
            out.append({"role": "assistant", "content": [{"type": "tool_use", "name": rest[0], "input": json.loads(rest[1])}]})
        else:
            block = {"type": "tool_result", "content": [{"type": "text", "text": rest[0]}], **({"is_error": True} if rest[1] else {})}
            out.append({"role": "user", "content": [block]})
    told = {("stop_reason" if k == "finish_reason" else k): v for k, v in _columns(made).items() if k != "prompt"}
    return {**told, "messages": out}


def items(made: Made) -> dict[str, Any]:
    """Items of a response, as NeMo Gym keeps them, with its word for what went wrong."""
    out: list[dict[str, Any]] = []
    for kind, *rest in made.steps:
        if kind == "say":
            out.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": rest[0]}]})
        elif kind == "call":
            out.append({"type": "function_call", "call_id": "c", "name": rest[0], "arguments": rest[1]})
        else:
            out.append({"type": "function_call_output", "call_id": "c", "output": rest[0]})
    told = {("failure_reason" if k == "error" else "stop_reason" if k == "finish_reason" else k): v for k, v in _columns(made).items()}
    asked = told.pop("prompt")
    return {**told, "responses_create_params": {"input": [{"role": "user", "content": asked}]}, "response": {"output": out}}


def acted(made: Made) -> dict[str, Any]:
    """Steps of an agent: what it thought and did, and what it saw, with how it left beside them."""
    steps: list[dict[str, Any]] = []
    for kind, *rest in made.steps:
        if kind == "result" and steps:
            steps[-1]["observation"] = rest[0]
        elif kind == "call":
            steps.append({"response": "", "action": f"{rest[0]} {rest[1]}", "observation": ""})
        else:
            steps.append({"response": rest[0], "action": "", "observation": ""})
    told = {("exit_status" if k in ("finish_reason", "error") else k): v for k, v in _columns(made).items()}
    asked = told.pop("prompt")
    return {"problem": asked, **told, "trajectory": steps}


SEEN: tuple[Callable[[Made], dict[str, Any]], ...] = (messages, tagged)
HELD: tuple[Callable[[Made], dict[str, Any]], ...] = (blocks, items, react, acted)


def episodes(which: str, each: int = 6) -> Iterator[tuple[str, list[dict[str, Any]], list[str]]]:
    """Shape by shape: its name, its rows with an honest good one beside every failed one, and the labels ('' for the good ones)."""
    for shape in SEEN if which == "seen" else HELD:
        rng = random.Random(f"{which} {shape.__name__}")  # noqa: S311 - nothing secret
        made = [maker(rng, i, WORDS[which]) for maker in MAKERS for i in range(each)]
        good = [Made("", m.asked, (("say", f"It is <answer>{m.gold or 'done'}</answer>"),), {"stop": "stop"}, m.gold, 1.0) for m in made]
        both = [m for pair in zip(made, good, strict=True) for m in pair]
        yield shape.__name__, [{"step": 1, **shape(m)} for m in both], [m.label for m in both]


def told(rows: list[dict[str, Any]]) -> list[str]:
    """The reasons that are told of the rows, in their order; '' where an episode is not called failed."""
    from rl_advisor.reading import read_run
    from rl_advisor.samples.episodes import judged

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rollouts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        found = judged(read_run(Path(folder)).rollouts)
    by_row = {int(row): reason for row, reason in zip(found["row"], found["reason"], strict=True)}
    return [by_row.get(i + 1, by_row.get(i, "")) if 0 not in by_row else by_row.get(i, "") for i in range(len(rows))]


_ASKS = ("who built the {}", "{} builder", "history of the {}", "the {}: who made it")


def attempts(
    seed: int, groups: int = 40, each: int = 8, loose: bool = True
) -> Iterator[tuple[list[tuple[object, ...]], list[bool], list[int | None]]]:
    """Prompt by prompt the moves of repeated attempts, which failed, and the turn of each one's fatal move: None of good and luckless ones.

    The way that succeeds is to search, open and read; ``loose`` attempts word their searches as they like and look around between. A fatal
    move is one of two wrong files, or a tool that ends it.
    """
    rng = random.Random(seed)  # noqa: S311 - nothing secret
    for g in range(groups):
        topic, fatal = rng.choice(_TOPICS), [("open", f"wrong-{g}-{k}") for k in range(2)] + [("reset", "all")]
        moves: list[tuple[tuple[str, str], ...]] = []
        failed: list[bool] = []
        labels: list[int | None] = []
        for _ in range(each):
            asked = rng.choice(_ASKS).format(topic) if loose else topic
            way: list[tuple[str, str]] = [("search", asked), ("open", f"file-{g}"), ("read", f"page {g % 5}")]
            if loose:
                for _ in range(rng.randrange(3)):
                    way.insert(rng.randrange(len(way)), ("look", rng.choice(("around", "up", topic))))
            bad = rng.random() < 0.55
            at = None
            if bad and rng.random() < 0.8:
                at = rng.randrange(1, len(way))
                way = [*way[:at], rng.choice(fatal), *(("look", rng.choice(("around", "up", topic))) for _ in range(rng.randrange(1, 4)))]
            moves.append(tuple(way))
            failed.append(bad)
            labels.append(at + 1 if at is not None else None)
        yield moves, failed, labels


def credited(seed: int, *, loose: bool) -> tuple[float, float, float]:
    """The share of fatal moves that are told a turn, of these the share within one turn, and the share of luckless attempts told one."""
    from rl_advisor.samples.credit import first_certain

    told: list[int] = []
    known = luckless = blamed = 0
    every = [(g, *attempt) for g, group in enumerate(attempts(seed, loose=loose)) for attempt in zip(*group, strict=True)]
    places, moves, failed, labels = zip(*every, strict=True)
    for found, label, bad in zip(first_certain(moves, failed, places), labels, failed, strict=True):
        if label is not None:
            known += 1
            told += [abs(found - label)] if found is not None else []
        elif bad:
            luckless, blamed = luckless + 1, blamed + (found is not None)
    return len(told) / known, sum(off <= 1 for off in told) / max(len(told), 1), blamed / max(luckless, 1)


def macro_f1(pairs: list[tuple[str, str]]) -> float:
    """The mean over labels of F1, the label of good episodes left out."""
    scores = []
    for label in {a for a, _ in pairs if a}:
        hits = sum(a == b == label for a, b in pairs)
        scores.append(2 * hits / (sum(a == label for a, _ in pairs) + sum(b == label for _, b in pairs)))
    return sum(scores) / len(scores)


def main() -> None:
    """Print the figures."""
    for loose in (False, True):
        found, near, blamed = (sum(x) / 5 for x in zip(*(credited(seed, loose=loose) for seed in range(5)), strict=True))
        print(
            f"first bad turn, {'loose' if loose else 'strict'}: told of {found:.0%}, within one of {near:.0%}, luckless blamed {blamed:.0%}"
        )
    for which in ("seen", "held"):
        pairs: list[tuple[str, str]] = []
        for name, rows, labels in episodes(which, each=12):
            here = list(zip(labels, told(rows), strict=True))
            pairs += here
            print(f"{which} {name}: {macro_f1(here):.3f}, {dict(Counter(p for p in here if p[0] != p[1]))}")
        false = sum(b == "infrastructure" != a for a, b in pairs)
        print(
            f"{which}: macro F1 {macro_f1(pairs):.3f} of {sum(bool(a) for a, _ in pairs)} failed episodes, {false} falsely infrastructure"
        )


if __name__ == "__main__":
    main()
