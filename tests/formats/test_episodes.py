"""Episodes as their writers write them: turns, calls, failures and the numbers beside each turn come out alike."""

import json
from pathlib import Path
from typing import Any

import pytest
from rl_advisor.features.text.turns import Turn
from rl_advisor.reading import read_run

CALL = {"name": "look", "arguments": '{"q": "x"}'}
MESSAGES = [
    {"role": "assistant", "content": "I look.", "tool_calls": [{"function": CALL}]},
    {"role": "tool", "content": "found"},
    {"role": "assistant", "content": "It is x."},
]
NEMO_GYM = {
    "responses_create_params": {"input": [{"role": "user", "content": "find x"}]},
    "response": {
        "output": [
            {"type": "function_call", "call_id": "c", **CALL},
            {"type": "function_call_output", "call_id": "c", "output": "found"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is x."}]},
        ],
        "incomplete_details": {"reason": "max_output_tokens"},
        "usage": {"output_tokens": 61},
    },
    "reward": 0.5,
}
VERIFIERS = {
    "prompt": [{"role": "user", "content": "find x"}],
    "completion": MESSAGES,
    "reward": 0.5,
    "trajectory": [
        {
            "reward": 0.2,
            "advantage": -1.0,
            "tokens": {"completion_ids": [1, 2, 3], "completion_mask": [1, 1, 0], "completion_logprobs": [-1.0, -2.0, -3.0]},
        },
        {"reward": 0.3, "advantage": 1.0, "tokens": {"completion_ids": [4]}},
    ],
}
PROMPTED = {
    "reward": 0.5,
    "trajectory": [
        {"prompt": [{"role": "user", "content": "find x"}], "completion": MESSAGES[:1]},
        {"prompt": [{"role": "user", "content": "find x"}, *MESSAGES[:2]], "completion": MESSAGES[2:]},
    ],
}
GYM = {
    "task": "find x",
    "steps": [
        {"action": "look(x)", "observation": "found", "reward": 0.2, "done": False, "info": {}},
        {"action": "say(x)", "observation": "over", "reward": 0.3, "done": True, "info": {}},
    ],
}
SWE_AGENT = {
    "trajectory": [
        {"action": "ls", "observation": "a.py", "response": "I list.\nls", "thought": "I list.", "state": "{}"},
        {"action": "submit", "observation": "", "response": "submit", "thought": "", "state": "{}"},
    ],
    "info": {"exit_status": "submitted"},
}
HARBOR = {
    "reward": 0.5,
    "steps": [
        {"source": "user", "message": "find x"},
        {
            "source": "agent",
            "message": "I look.",
            "tool_calls": [{"function_name": "look", "arguments": {"q": "x"}}],
            "observation": {"results": [{"content": "found"}]},
            "metrics": {"completion_tokens": 7},
        },
    ],
}
TINKER = {
    "group_idx": 0,
    "traj_idx": 1,
    "iteration": 4,
    "total_reward": 0.5,
    "steps": [{"step_idx": 0, "ac_len": 9, "reward": 0.5, "episode_done": True, "metrics": {"solved": 1.0}}],
}


def row(path: Path, episode: object, name: str = "step_4.jsonl") -> Any:
    (path / name).write_text(json.dumps(episode) + "\n")
    return read_run(path).rollouts.iloc[0]


def roles(episode: Any) -> list[str]:
    return [turn.role for turn in episode["turns"]]


@pytest.mark.parametrize("episode", [NEMO_GYM, VERIFIERS, PROMPTED])
def test_one_call_and_its_answer(tmp_path: Path, episode: dict[str, Any]) -> None:
    """The call, what it brought and the answer are turns; the question is the prompt; the total is the row's own."""
    found = row(tmp_path, episode)
    assert [role for role in roles(found) if role != "assistant"] == ["tool"]
    assert [call for turn in found["turns"] for call in turn.calls] == [("look", '{"q": "x"}')]
    assert (found["prompt"], found["reward"], found["turns"][-1].text) == ("find x", 0.5, "It is x.")


def test_what_is_logged_beside_a_turn(tmp_path: Path) -> None:
    """Rewards, advantages, masks and log-probabilities of steps stand beside the model's turns; a list a token is folded."""
    numbers = [turn.numbers for turn in row(tmp_path, VERIFIERS)["turns"] if turn.role == "assistant"]
    assert numbers[0] == pytest.approx({"reward": 0.2, "advantage": -1.0, "tokens": 3, "trained": 2 / 3, "logprob": -2})
    assert numbers[1] == {"reward": 0.3, "advantage": 1.0, "tokens": 1}


def test_a_response_of_items_says_why_it_ended(tmp_path: Path) -> None:
    """The reason of an incomplete response and its tokens are columns."""
    found = row(tmp_path, NEMO_GYM)
    assert (found["stop"], found["truncated"], found["length"]) == ("max_output_tokens", 1.0, 61)


def test_steps_of_an_environment(tmp_path: Path) -> None:
    """Actions and observations follow each other as the writer has them; their rewards make the total."""
    found = row(tmp_path, GYM)
    assert roles(found) == ["assistant", "tool", "assistant", "tool"]
    assert [turn.calls for turn in found["turns"][::2]] == [(("", "look(x)"),), (("", "say(x)"),)]
    assert (found["reward"], found["turns"][2].numbers["done"]) == (0.5, 1.0)


def test_agents_that_write_a_file_an_episode(tmp_path: Path) -> None:
    """SWE-agent's ``.traj`` and Harbor's steps: what was said, called and seen."""
    swe = row(tmp_path, SWE_AGENT, "task.traj")
    assert swe["turns"][:2] == (Turn("assistant", "I list.\nls", (("", "ls"),)), Turn("tool", "a.py"))
    assert swe["info"] == {"exit_status": "submitted"}
    (tmp_path / "task.traj").unlink()
    harbor = row(tmp_path, HARBOR)
    assert (harbor["prompt"], roles(harbor), harbor["turns"][0].calls) == ("find x", ["assistant", "tool"], (("look", '{"q":"x"}'),))
    assert harbor["turns"][1].text == "found"
    assert harbor["turns"][0].numbers == {"tokens": 7}


def test_a_summary_without_text(tmp_path: Path) -> None:
    """A cookbook's summary keeps its turns' numbers, their metrics and their tokens."""
    found = row(tmp_path, TINKER)
    assert (found["step"], found["reward"], found["length"], found["solved"]) == (4, 0.5, 9, 1)
    assert found["turns"][0].numbers == {"reward": 0.5, "tokens": 9, "done": 1}


SAID = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "find x"}, {"role": "assistant", "content": "It is x."}]
AGENTS = [
    {"role": "human", "content": "find x"},
    {"role": "Planner (thought)", "content": "Ask the searcher."},
    {"role": "user", "name": "Terminal", "content": "exitcode: 0 (execution succeeded)\nCode output: x"},
    {"role": "Searcher", "content": "It is x."},
]
SIDE_BY_SIDE = {
    "query": "find x",
    "turn_history": {"actions": ["ls", "cat x"], "observations": ["x", "42"], "rewards": [0.2, 0.4]},
    "summary": {"max_reward": 0.4},
}
CELLS = 'Step,Action,Observation,Reward,Done\n0,go north,You see a door here,0.0,False\n1,open door,"The door is open, you won",1.0,True\n'


def test_a_list_of_conversations(tmp_path: Path) -> None:
    """One document of episodes, whose conversation goes by another name than a sample's answer."""
    (tmp_path / "results.json").write_text(json.dumps([{"task_id": i, "reward": float(i), "traj": SAID} for i in range(2)]))
    table = read_run(tmp_path).rollouts
    assert (table["reward"].tolist(), table["turns"].iloc[0]) == ([0, 1], (Turn("assistant", "It is x."),))


def test_several_agents(tmp_path: Path) -> None:
    """Who speaks under a name of its own is a model where nobody is called assistant; what a program answered is a tool's."""
    assert roles(row(tmp_path, {"question": "find x", "history": AGENTS}, "1.json")) == ["user", "assistant", "tool", "assistant"]


def test_episodes_by_their_names(tmp_path: Path) -> None:
    """One document of episodes by their keys, whose steps are lists side by side: the score of the whole is no sum of the steps' scores."""
    (tmp_path / "results.json").write_text(json.dumps({"7": SIDE_BY_SIDE, "9": SIDE_BY_SIDE}))
    table = read_run(tmp_path).rollouts
    assert (table["key"].tolist(), table["reward"].tolist()) == (["7", "9"], [0.4, 0.4])
    assert [(t.role, t.text, t.calls) for t in table["turns"].iloc[0][:2]] == [("assistant", "", (("", "ls"),)), ("tool", "x", ())]


def test_steps_in_cells(tmp_path: Path) -> None:
    """A CSV of steps that says in words what was seen is an episode; one of numbers stays a table."""
    from rl_advisor.reading.formats import episode_steps

    (tmp_path / "run.csv").write_text(CELLS)
    found = read_run(tmp_path).rollouts.iloc[0]
    assert (found["reward"], found["length"], roles(found)) == (1.0, 2, ["assistant", "tool"] * 2)
    (tmp_path / "numbers.csv").write_text("step,action,obs,reward,done\n0,1,0.5,0.0,False\n1,0,0.6,1.0,True\n")
    assert not episode_steps.claims(tmp_path / "numbers.csv")


STEPS = [{"episode": e, "obs": [t], "action": t, "reward": float(t == 2), "done": t == 2, "info": {}} for e in (3, 4) for t in range(3)]
PRINTED = """[START] task=easy env=maze
[STEP] step=1 action=go(x=1) reward=0.00 done=false error=null
[STEP] step=2 action=go(x=2) reward=1.00 done=true error=no such door
[END] success=true steps=2 score=0.9
[START] task=hard env=maze
[STEP] step=1 action=stay reward=0.00 done=true error=null
"""


def test_a_file_of_steps(tmp_path: Path) -> None:
    """One line a step becomes one row an episode, at the steps taken so far, with the return and the length of every episode as curves."""
    (tmp_path / "steps.jsonl").write_text("".join(json.dumps(step) + "\n" for step in STEPS))
    run = read_run(tmp_path)
    assert run.rollouts[["step", "reward", "length"]].to_numpy().tolist() == [[3, 1, 3], [6, 1, 3]]
    assert run.curves["episode/length"].value.tolist() == [3, 3]
    assert roles(run.rollouts.iloc[0])[:2] == ["assistant", "tool"]


def test_the_lines_that_open_environments_print(tmp_path: Path) -> None:
    """``[START]``, ``[STEP]`` and ``[END]``: an error is a failed turn, the task is the prompt, the score stands beside the return."""
    (tmp_path / "inference.log").write_text(PRINTED)
    table = read_run(tmp_path).rollouts
    assert table["prompt"].tolist() == ["easy", "hard"]
    assert table["reward"].tolist() == [1, 0]
    assert [(turn.role, turn.text, turn.failed) for turn in table["turns"].iloc[0][2:]] == [("tool", "no such door", True)]
    assert (table["score"].iloc[0], bool(table["success"].iloc[0])) == (0.9, True)
    (tmp_path / "inference.log").write_text(PRINTED.replace("no such door", "null"))  # nothing ever answered
    assert [len(turns) for turns in read_run(tmp_path).rollouts["turns"]] == [2, 1]


@pytest.mark.parametrize("row", [{"step": 1, "reward": 1.0, "done": True}, {"action": 1, "reward": 0.0, "loss": 2.0}, {"steps": [1, 2]}])
def test_rows_that_are_no_steps(tmp_path: Path, row: dict[str, Any]) -> None:
    """Metrics beside the name of an action, or without one, stay metrics."""
    from rl_advisor.reading.formats import episode_steps, rollouts_jsonl

    file = tmp_path / "metrics.jsonl"
    file.write_text((json.dumps(row) + "\n") * 3)
    assert not episode_steps.claims(file)
    assert not rollouts_jsonl.claims(file)


TALK = [{"role": "user", "content": "find x"}, {"role": "assistant", "content": "It is x."}]
LOOK = {"tool": "look", "args": {"q": "x"}, "result": "found"}
TREE = [{"role": "user", "message": "find x", "next": [{"role": "assistant", "message": "It is x.", "next": []}]}]
ELSEWHERE: dict[str, dict[str, Any]] = {
    "under a name of its own": {"id": 1, "what_happened": TALK},
    "deeper down, with an outcome": {"task": {"id": 1}, "trace": {"log": {"said": TALK, "won": False}}},
    "a call in each step": {"trace": [LOOK, LOOK]},
    "a tree": {"answer": {"root": TREE}},
    "snapshots of one that grew": {"log": [TALK[:1], TALK]},
    "a document of many": {"info": {"model": "m"}, "tasks": [{"id": 1}], "simulations": [{"id": 1, "log": TALK}, {"id": 2, "log": TALK}]},
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_turns_wherever_they_lie(tmp_path: Path, name: str) -> None:
    """Turns are found under any name and at any depth of a document, whole and once."""
    (tmp_path / "results.json").write_text(json.dumps(ELSEWHERE[name]))
    table = read_run(tmp_path).rollouts
    found = [(turn.role, turn.text or turn.calls[0][0]) for turn in table["turns"].iloc[0] if turn.role != "user"]
    assert found == ([("assistant", "look"), ("tool", "found")] * 2 if "call" in name else [("assistant", "It is x.")])
    assert len(table) == (2 if "many" in name else 1)
    assert "outcome" not in name or table["won"].tolist() == [False]


LABELLED = """Trial 1
Question: find x
Thought 1: I look.
Action 1: look[x]
Observation 1: found
in two lines
Thought 2: So x.
Action 2: finish[x]
Observation 2: Answer is INCORRECT
Correct answer: y

Question: find z
Action 1: look[z]
Observation 1: nothing
"""


def test_episodes_in_labelled_lines(tmp_path: Path) -> None:
    """A text of thoughts, actions and observations is one episode a question, with the right answer that stands below."""
    (tmp_path / "log.txt").write_text(LABELLED)
    table = read_run(tmp_path).rollouts
    first = table["turns"].iloc[0]
    assert (table["prompt"].tolist(), table["correct_answer"].iloc[0]) == (["find x", "find z"], "y")
    assert [(t.role, t.calls) for t in first[:2]] == [("assistant", (("look", "look[x]"),)), ("tool", ())]
    assert first[1].text == "found\nin two lines"


def test_a_log_that_shows_a_sample_is_a_log(tmp_path: Path) -> None:
    """Rows of numbers with a conversation printed among them stay rows."""
    rows = [f"Epoch:[1/1]({i}/9), Reward: {i / 10}, KL_ref: 0.01" for i in range(1, 10)]
    talk = "<|im_start|>user\nfind x<|im_end|>\n<|im_start|>assistant\n<think>\nIt is y.<|im_end|>"
    (tmp_path / "grpo.log").write_text("\n".join(["Model Params: 30.03M", *rows[:2], talk, *rows[2:]]))
    assert read_run(tmp_path).curves["reward/mean"].value.tolist() == [i / 10 for i in range(1, 10)]


def test_an_episode_lost_before_its_first_word(tmp_path: Path) -> None:
    """What broke before anybody spoke is a row with what is told of its end."""
    (tmp_path / "1.json").write_text(json.dumps({"id": 1, "trace": {"messages": [], "error": "Task timeout after 60 seconds"}}))
    (tmp_path / "2.json").write_text(json.dumps({"id": 2, "trace": {"messages": TALK, "error": None}}))
    table = read_run(tmp_path).rollouts
    assert sorted(table["response"]) == ["", "It is x."]
    assert "Task timeout" in str(table.loc[table["response"] == ""].iloc[0].to_dict())


@pytest.mark.parametrize(
    "document",
    [
        {"events": [{"level": "info", "message": "started"}, {"level": "error", "message": "failed"}]},
        {"jobs": {"build": {"steps": [{"name": "checkout", "uses": "v4"}, {"name": "test", "run": "make"}]}}},
        {"messages": []},
    ],
)
def test_documents_without_an_episode(tmp_path: Path, document: dict[str, Any]) -> None:
    """Logs, workflows and metrics that use the same words hold nobody who speaks and is answered."""
    from rl_advisor.reading.formats import rollouts_jsonl

    (tmp_path / "other.json").write_text(json.dumps(document))
    assert not rollouts_jsonl.claims(tmp_path / "other.json")
