"""What is picked to be read, the statistics of every step, and the audit of the reward."""

import json
import unicodedata
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from rl_advisor.answers.spot_check import spot_check
from rl_advisor.cli import printing
from rl_advisor.features.text.measures import final_answer
from rl_advisor.output.clean import clean
from rl_advisor.reading import read_run
from rl_advisor.run import Run
from rl_advisor.samples import spotcheck
from rl_advisor.samples.excerpts import excerpt
from rl_advisor.samples.reward_check import audit
from rl_advisor.samples.text_change import changes

from rollout_runs import made, real, solves


def test_triad_of_a_real_run() -> None:
    """Highest and lowest are the true ones, random is of the latest step, and each says where it stands."""
    run = real("length_hack")
    found = spotcheck.triad(run, count=4)
    rewards = run.rollouts["reward"]
    assert {s["reward"] for s in found["highest"]} == {rewards.max()}
    assert found["lowest"][0]["reward"] == rewards.min()
    assert {s["step"] for s in found["random"]} == {found["step"]} == {300}
    for sample in (*found["highest"], *found["lowest"], *found["random"], *found["longest"]):
        file = run.rollouts[(run.rollouts["source"] == sample["source"]) & (run.rollouts["row"] == sample["row"])].iloc[0]
        assert (file["response"], file["reward"], file["step"]) == (sample["response"], pytest.approx(sample["reward"]), sample["step"])
        assert sample["components"] == {"task_reward": pytest.approx(sample["reward"])}


def test_triad_contrasts() -> None:
    """Pairs are of one prompt: better and worse of one group, early and late of one question; failures had a better twin."""
    found = spotcheck.triad(real("improving"), count=3)
    for pair in found["contrast"]:
        assert pair["better"]["prompt"] == pair["worse"]["prompt"]
        assert pair["better"]["reward"] > pair["worse"]["reward"]
    for pair in found["early_late"]:
        assert pair["early"]["prompt"] == pair["late"]["prompt"]
        assert pair["early"]["step"] < pair["late"]["step"]
    assert [s["reward"] for s in found["newest_failures"]] == [0, 0, 0]


def test_triad_is_repeatable_and_seeded() -> None:
    """The same seed picks the same samples, another picks others, and a step in between takes the one before."""
    run = real("improving")
    assert spotcheck.triad(run) == spotcheck.triad(run)
    assert spotcheck.triad(run, seed=1)["random"] != spotcheck.triad(run, seed=2)["random"]
    assert spotcheck.triad(run, step=200)["step"] == 147
    assert {s["step"] for s in spotcheck.triad(run, step=200)["highest"]} == {147}


@pytest.mark.parametrize(("step", "count", "message"), [(1, 3, "the first are of step 7"), (None, 0, "1 or more")])
def test_triad_tells_the_caller(step: int | None, count: int, message: str) -> None:
    """A step before the first sample and a count of none are mistakes whose message names the choices."""
    with pytest.raises(ValueError, match=message):
        spotcheck.triad(real("improving"), step=step, count=count)


def test_no_samples_and_no_rewards() -> None:
    """Nothing to read is said, and so is a reward that is not there."""
    empty = spotcheck.triad(Run())
    assert (empty["highest"], empty["step"]) == ([], None)
    assert empty["gaps"]
    assert spotcheck.statistics(Run()) == {"steps": [], "meaning": {}, "words": {}}
    assert audit(Run())["cannot_tell"]
    run = real("improving")
    unpaid = replace(run, rollouts=run.rollouts.assign(reward=np.nan))
    assert spotcheck.triad(unpaid)["highest"] == []
    assert "none can be called" in spotcheck.triad(unpaid)["gaps"][0]["why"]


CELL = st.sampled_from(["", "a", "b", "the answer is 7", "\u202eab", "\x00", "x" * 3000])
REWARD = st.sampled_from([0.0, 1.0, -1.0, 0.5, float("nan")])
TABLE = st.lists(st.tuples(st.integers(0, 3), CELL, CELL, REWARD, st.sampled_from("gh")), min_size=1, max_size=24)


@settings(max_examples=20, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(TABLE, st.integers(1, 4), st.integers(0, 5))
@example(rows=[(0, "", "a", 0.0, "g"), (0, "", "a", 1.0, "g"), (0, "", "a", float("nan"), "g")], count=1, seed=0)
def test_the_triad_of_any_table(rows: list[tuple[int, str, str, float, str]], count: int, seed: int) -> None:
    """The highest and lowest are so, random ones are of the latest step, pairs share their prompt, all say where they stand."""
    table = pd.DataFrame(rows, columns=["step", "prompt", "response", "reward", "group"]).assign(source="f")
    table["row"] = table.index
    run = Run(rollouts=table)
    found = spotcheck.triad(run, count=count, seed=seed)
    assert found == spotcheck.triad(run, count=count, seed=seed)
    known = table[table["response"].astype(bool)]
    rated = known["reward"].dropna()
    assert found["step"] == (known["step"].max() if len(known) else None)
    for kind, best in (("highest", max), ("lowest", min)):
        assert len(found[kind]) == min(count, len(rated))
        assert not found[kind] or found[kind][0]["reward"] == best(rated)
    assert all(s["step"] == found["step"] for s in (*found["random"], *found.get("longest", ())))
    for pair in found.get("contrast", ()):
        assert pair["better"]["reward"] > pair["worse"]["reward"]
        assert pair["better"]["group"] == pair["worse"]["group"]
    for pair in found.get("early_late", ()):
        assert pair["early"]["step"] < pair["late"]["step"]
        assert table["prompt"][pair["early"]["row"]] == table["prompt"][pair["late"]["row"]]
    for sample in (*found["highest"], *found["lowest"], *found["random"], *found.get("newest_failures", ())):
        assert (table["step"][sample["row"]], sample["source"]) == (sample["step"], "f")


@settings(max_examples=6, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(TABLE)
@example([(0, "", "", 0.0, "g"), (0, "", "a", 1.0, "g")])
def test_the_whole_answer_for_any_table(rows: list[tuple[int, str, str, float, str]]) -> None:
    """Empty answers, missing prompts and lacking rewards leave an answer that can be written, and its page."""
    table = pd.DataFrame(rows, columns=["step", "prompt", "response", "reward", "group"])
    answer = clean(spot_check(Run(rollouts=table.assign(source="f", row=table.index))))
    json.dumps(answer, allow_nan=False).encode()
    printing.text("samples", answer).encode()


@given(st.text(max_size=400), st.integers(1, 40), st.integers(1, 40))
def test_excerpts_keep_both_ends_and_are_valid(text: str, head: int, tail: int) -> None:
    """A short text is kept whole; a cut one begins and ends as the text does, says so, and can be encoded."""
    short = excerpt(text, head, tail)
    short.encode("utf-8")
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if len(clean) <= head + tail:
        assert short == clean
    else:
        start, rest = short.split(" [... ", 1)
        end = rest.split(" characters cut ...] ", 1)[1] if clean.startswith(start) else ""
        assert clean.startswith(start)
        assert clean.endswith(end)


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("abc" + "e\u0301" * 40, 4),
        ("ab" + "\U0001f469\u200d\U0001f469\u200d\U0001f467" * 20, 5),
        ("x\U0001f44d\U0001f3fd" * 30, 2),
        ("a\ud800b" * 30, 7),
    ],
)
def test_excerpts_take_no_character_apart(text: str, head: int) -> None:
    """Combining marks, joined emoji and skin tones stay with what they belong to; lone surrogates are replaced."""
    start = excerpt(text, head, 3).split(" [... ")[0]
    following = text[len(start)] if len(start) < len(text) else ""
    assert following not in {"\u0301", "\u200d", "\U0001f3fd"}
    assert not start.endswith("\u200d")
    assert "\ud800" not in start


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 60))
def test_no_cut_takes_a_key_apart(before: int, behind: int) -> None:
    """Wherever a key lies, on the cut too, neither of its halves is shown."""
    key = "ghp_" + "aB3d" * 9
    shown = excerpt(". " * before + key + " ." * behind, 40, 30)
    assert not any(key[i : i + 8] in shown for i in range(len(key) - 8))


def test_statistics_of_a_hack() -> None:
    """Over a real length hack the table shows length and praise rising, and the words that came in."""
    found = spotcheck.statistics(real("length_hack"))
    first, last = found["steps"][0], found["steps"][-1]
    assert (first["step"], last["step"]) == (8, 300)
    assert last["tokens"] > 3 * first["tokens"]
    assert "asking" in [w["word"] for w in found["words"]["came"]]
    assert set(first) - {"step", "reward"} <= set(found["meaning"])
    json.dumps(found, allow_nan=False)


def test_audit_of_real_runs() -> None:
    """Random rewards contradict themselves, a fixed rule does not."""
    noisy, sound = audit(real("random_reward")), audit(real("improving"))
    assert noisy["same_text"]["low"] > 0.5
    assert sound["same_text"]["share_different_reward"] == 0
    assert noisy["histogram"]["values"] == 2
    json.dumps([noisy, sound], allow_nan=False)


def constant(value: float) -> Run:
    return made(lambda p, _, rng: (solves(p, right=True, thoughts=1, rng=rng), value))


@pytest.mark.parametrize(("value", "best", "worst"), [(0.0, 0.0, 1.0), (1.0, 1.0, 0.0), (0.5, 1.0, 0.0)])
def test_constant_rewards(value: float, best: float, worst: float) -> None:
    """A reward that is always the same is called so, and its flat groups are all solved or all failed by its sign."""
    found = audit(constant(value))
    assert (found["histogram"]["values"], found["histogram"]["min"], found["histogram"]["max"]) == (1, value, value)
    assert (found["groups"]["share_flat"], found["groups"]["share_all_best"], found["groups"]["share_all_worst"]) == (1, best, worst)


def test_a_rare_tail_and_a_turned_reference() -> None:
    """A few huge rewards are counted as far outside; a reference score that falls as the reward rises has the opposite sign."""
    run = made(lambda p, t, rng: (solves(p, right=True, thoughts=1, rng=rng), t + 0.1 * rng.random()))
    table = run.rollouts.assign(human_score=lambda d: -d["reward"])
    table.loc[::200, "reward"] = 1000.0
    found = audit(replace(run, rollouts=table))
    assert (found["histogram"]["max"], found["histogram"]["counts"][-1]) == (1000.0, len(table.iloc[::200]))
    assert found["against_reference"]["human_score"]["rank_correlation"] < -0.9


def test_components_share_the_spread() -> None:
    """A part that makes up nine tenths of the variance is shown to."""
    run = made(lambda p, _, rng: (solves(p, right=True, thoughts=1, rng=rng), 0.0))
    rng = np.random.default_rng(0)
    table = run.rollouts.assign(
        **{"reward/big": 3 * rng.normal(size=len(run.rollouts)), "reward/small": rng.normal(size=len(run.rollouts))}
    )
    table["reward"] = table["reward/big"] + table["reward/small"]
    parts = audit(replace(run, rollouts=table))["components"]
    assert parts["big"]["share_of_spread"] == pytest.approx(0.9, abs=0.03)
    assert parts["big"]["share_of_spread"] + parts["small"]["share_of_spread"] == pytest.approx(1)


def test_nothing_later_is_seen() -> None:
    """Samples of a run cut at a step are those of a run that ended there."""
    run = real("length_hack")
    cut = run.until(200)
    ended = Run(rollouts=run.rollouts[run.rollouts["step"] <= 200].copy())
    assert spotcheck.triad(cut) == spotcheck.triad(ended)
    assert spotcheck.statistics(cut) == spotcheck.statistics(ended)


def test_a_table_without_groups_or_prompts() -> None:
    """The least a dump can hold, a response and a step, is enough to read and to count."""
    table = pd.DataFrame({"step": [1.0] * 20 + [2.0] * 20, "response": [f"text {i} of 7" for i in range(40)]})
    run = Run(rollouts=table)
    assert spotcheck.triad(run)["random"][0]["step"] == 2
    assert [s["responses"] for s in spotcheck.statistics(run)["steps"]] == [20, 20]
    assert final_answer(spotcheck.triad(run)["random"][0]["response"]) == "7"


def test_changes_have_intervals_onsets_and_prices() -> None:
    """Over a real length hack the length leads: it grew, from when, and how much the reward follows it."""
    found = changes(real("length_hack"))
    by = {row["measure"]: row for row in found["measures"]}
    assert {"tokens", "reward"} <= {row["measure"] for row in found["measures"][:4]}
    assert by["tokens"]["interval"][0] > 0
    assert by["tokens"]["interval"][0] <= by["tokens"]["change"] <= by["tokens"]["interval"][1]
    assert by["tokens"]["onset"]["low"] <= by["tokens"]["onset"]["step"] <= 169
    assert by["tokens"]["reward_follows"]["low"] > 0.3
    json.dumps(found, allow_nan=False)


def test_nothing_is_said_to_change_where_nothing_does() -> None:
    """Samples that are alike from start to end give at most a change by luck, and a single step cannot be compared."""
    still = made(lambda p, _, rng: (solves(p, right=bool(rng.random() < 0.5), thoughts=3, rng=rng), float(rng.random() < 0.5)))
    assert len(changes(still)["measures"]) <= 2
    assert "cannot_tell" in changes(still.until(0))


def test_two_answers_that_are_both_paid_are_shown() -> None:
    """A reward that pays anything is plain from one pair; where it pays one answer only there is none."""
    loose = made(lambda p, _, rng: (solves(p, right=bool(rng.random() < 0.5), thoughts=1, rng=rng), 1.0))
    pair = spotcheck.triad(loose)["contradicting"][0]
    assert pair["one"]["prompt"] == pair["other"]["prompt"]
    assert final_answer(pair["one"]["response"]) != final_answer(pair["other"]["response"])
    assert spotcheck.triad(real("improving"))["contradicting"] == []


@pytest.mark.parametrize(
    ("name", "first"), [("length_hack", "! reward shortcut"), ("call_hack", "! tool hacking"), ("random_reward", "! ")]
)
def test_the_page_says_the_telling_thing_first(name: str, first: str) -> None:
    """On real hacks that no curve shows, the first lines name what is wrong, and nothing is wrong with a sound run."""
    page = printing.text("samples", clean(spot_check(real(name)))).splitlines()
    said = [line for line in page if line.startswith("! ")]
    assert page.index(said[0]) <= 4
    assert any(line.startswith(first) for line in said[:3])
    sound = printing.text("samples", clean(spot_check(real("improving"))))
    assert "none of the patterns that were asked of them shows" in sound
    assert "better and worse paid" in sound


def test_both_answers_of_a_pair_are_marked_alike() -> None:
    """What the model wrote stands in envelopes, and where it stands does not, for the one and for the other."""
    loose = made(lambda p, _, rng: (solves(p, right=bool(rng.random() < 0.5), thoughts=1, rng=rng), 1.0))
    pair = spot_check(loose)["contradicting"][0]
    for sample in pair.values():
        assert isinstance(sample["group"], str)
        assert sample["source"] == "made"
        assert set(sample["response"]) == set(sample["prompt"]) == {"untrusted", "from"}


def test_nothing_paid_is_no_contradiction_and_no_text_no_twin() -> None:
    """Two wrong answers that both earn nothing are none; summaries without text hold no identical responses, and the page says so."""
    failing = made(lambda p, t, rng: (solves(p, right=bool(rng.random() < 0.5), thoughts=1, rng=rng), float(t < 0.5)))
    assert spotcheck.triad(failing)["contradicting"] == []
    mute = made(lambda _p, _, rng: ("", float(rng.random() < 0.5)))
    assert "same_text" not in audit(mute)
    assert "they hold no text" in printing.text("samples", clean(spot_check(mute)))


NASTY = [
    "\x00",
    "\x1b[2J",
    "\u202e",
    "\u200b",
    "\U000e0041",
    "\ud83d",
    "\u2066",
    " sk-" + "a1" * 20,
    "=hf_" + "b" * 30,
    "7AKIA" + "Z" * 16 + " ",
]


ANY = st.lists(st.sampled_from(NASTY) | st.text(max_size=20).map(lambda t: t + " "), min_size=1, max_size=12).map("".join)


@settings(max_examples=4, deadline=None)
@given(st.lists(ANY, min_size=4, max_size=4))
def test_no_sample_carries_what_a_reader_cannot_see(texts: list[str]) -> None:
    """Whatever responses hold, the page has no control, direction, zero-width, tag or half character, and no key."""
    rows = [{"step": i, "prompt": f"{texts[i]} q", "response": f"it is {i} {texts[i]}", "reward": i} for i in range(4)]
    with TemporaryDirectory() as folder:
        Path(folder, "dump.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        page = printing.text("samples", clean(spot_check(read_run(folder), count=4)))
    page.encode("utf-8")
    assert all(f"it is {i}" in page for i in range(4))
    assert not [c for c in page if unicodedata.category(c) in {"Cc", "Cf", "Cs"} and c not in "\n\t" and not 0x600 <= ord(c) <= 0x8FF]
    assert "sk-a1" not in page
    assert "hf_bbb" not in page
    assert "AKIAZ" not in page
