"""The command eval, and what a checkout makes for it: packs that tell nothing, labels for own runs, agreement."""

import json

import pytest
from click.testing import CliRunner
from evals.corpora import group
from evals.lab.labeling import propose, verdicts
from evals.lab.leaks import leaks
from evals.lab.packs import export
from rl_advisor.cli.commands import main
from rl_advisor.evals.harness import score_answers
from rl_advisor.evals.scoring import smooth
from rl_advisor.reading import read_run
from rl_advisor.run import Run
from shared_corpus import CORPUS, LABELS, truth


def ran(*words):
    return CliRunner().invoke(main, ["eval", *map(str, words)], input="")


def made(*words):
    return CliRunner().invoke(group, [*map(str, words)], input="")


def written(path, lines):
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    return path


@pytest.mark.parametrize("words", [[CORPUS, "--json"], ["--json", CORPUS]])
def test_answers_are_scored(tmp_path, words):
    """The corpus may stand first or after an option."""
    answers = written(tmp_path / "a.jsonl", [truth(label) for label in LABELS.values()])
    result = ran(*words, "--answers", answers)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["cuts"]["1"]["verdict_hit"] == 1


def test_answers_are_a_table_on_a_terminal(tmp_path):
    """A row a share of the run, and what was not answered; with --rows a line a run beside it."""
    names = sorted(LABELS)
    answers = written(tmp_path / "a.jsonl", [truth(LABELS[name]) for name in names[1:]])
    lines = ran(CORPUS, "--answers", answers).stdout.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("share of the run  "))
    assert lines[head + 1].split()[:2] == ["1", str(len(names))]
    assert lines[head + 2] == f"not answered, which counts as wrong: {names[0]} at 1"
    assert [line.split()[0] for line in ran(CORPUS, "--answers", answers, "--rows").stdout.splitlines()[-1 - len(names) : -1]] == names


@pytest.mark.parametrize("words", [["export", "nowhere", "out"], ["label", "nowhere", "--out", "out"], ["agree", "a", "b"]])
def test_mistakes_are_the_callers(words):
    """What does not exist ends with code 2 and a message."""
    assert made(*words).exit_code == 2


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    out = tmp_path_factory.mktemp("packs") / "out"
    export(CORPUS, out)
    return out, json.loads((out / "key.json").read_text())


def test_packs_tell_no_label(packs):
    """What is given away holds no run name, family, source or note, each run once, and reading it back shows no leak."""
    out, key = packs
    given = [p.read_text() for p in out.rglob("*") if p.is_file() and p.name != "key.json"]
    assert sorted(what["run"] for what in key.values()) == sorted(LABELS)
    for label in LABELS.values():
        assert not any(word in text for text in given for word in (label.run, label.family, label.source) if word)
    for task, what in key.items():
        label = LABELS[what["run"]]
        step = label.steps if what["cut"] == 1 else label.prefixes[what["cut"]].step
        run = read_run(out / "tasks" / task)
        assert run.last_step <= step
        assert not [told for told in leaks(run, label, what["cut"]) if "cut" in told or "hidden" in told]


def test_a_pack_reads_like_the_run_it_shows(packs):
    """Metrics, samples, checkpoints and plan of a task are those of its run up to the cut."""
    out, key = packs
    for task, what in key.items():
        label, shown = LABELS[what["run"]], read_run(out / "tasks" / task)
        step = label.steps if what["cut"] == 1 else label.prefixes[what["cut"]].step
        run = read_run(CORPUS / "runs" / what["run"]).until(step)
        assert {n for n, c in run.curves.items() if c.mapped} <= shown.curves.keys()
        assert len(shown.rollouts) == len(run.rollouts)
        assert [c.step for c in shown.checkpoints] == [c.step for c in run.checkpoints]
        assert shown.planned_steps == run.planned_steps


def test_answers_to_packs_are_scored_by_the_key(packs, tmp_path):
    """Right answers under task names hit everything; the untouched template answers nothing rightly."""
    out, key = packs
    lines = [{"task": t, **{k: v for k, v in truth(LABELS[w["run"]], w["cut"]).items() if k not in ("run", "cut")}} for t, w in key.items()]
    right = score_answers(CORPUS, written(tmp_path / "a.jsonl", lines), key=out / "key.json", resamples=3)
    empty = score_answers(CORPUS, out / "answers.jsonl", key=out / "key.json", resamples=3)
    assert right["missing"] == empty["missing"] == []
    assert right["cuts"]["1"]["verdict_hit"] == 1
    assert empty["cuts"]["1"]["verdict_hit"] == 0


def test_packs_are_not_mixed(packs):
    """A folder that holds something is not written into."""
    out, _ = packs
    assert made("export", CORPUS, out).exit_code == 2


def test_labeling_makes_a_corpus_that_can_be_scored(tmp_path):
    """Proposals for the runs of the test corpus admit what its own labels admit, and labeling again skips them."""
    runs, out = [CORPUS / "runs" / run for run in LABELS], tmp_path / "own"
    found = json.loads(made("label", *runs, "--out", out, "--yes", "--json").stdout)
    proposed = json.loads((out / "labels.json").read_text())
    assert [m["run"] for m in found["labeled"]] == sorted(proposed)
    assert all(entry["steps"] == label.steps for entry, label in zip(proposed.values(), LABELS.values(), strict=True))
    assert len(json.loads(made("label", *runs, "--out", out, "--yes", "--json").stdout)["skipped"]) == len(runs)
    answers = written(tmp_path / "a.jsonl", [{"run": run, "verdict": entry["verdicts"][0]} for run, entry in proposed.items()])
    assert json.loads(ran(out, "--answers", answers, "--json").stdout)["cuts"]["1"]["verdict_hit"] == 1


def test_a_person_corrects_the_proposal(tmp_path):
    """Words that are no verdict and steps that are none are asked for again; what was said stands in the labels."""
    said = "nonsense\ncollapsed,degrading\npolicy_update\nmy-setup\nearly\n9999999\n150\n"
    done = CliRunner().invoke(group, ["label", str(CORPUS / "runs" / "run-01"), "--out", str(tmp_path / "own")], input=said)
    assert done.output.count("not a step") == 2
    assert "█" in done.output
    entry = json.loads((tmp_path / "own" / "labels.json").read_text())["run-01"]
    assert (entry["verdicts"], entry["links"], entry["scenario"], entry["injected_at"]) == (
        ["collapsed", "degrading"],
        ["policy_update"],
        "my-setup",
        150,
    )


@pytest.mark.parametrize(
    ("scores", "right"),
    [
        ([0.1 * k for k in range(20)], ["improving"]),
        ([0.2 * min(k, 8) for k in range(30)], ["plateaued"]),
        ([0.1 * k for k in range(15)] + [0.0] * 15, ["collapsed", "degrading"]),
        ([0.5] * 20, ["not_learning", "plateaued"]),
        ([1 - 0.05 * k for k in range(20)], ["degrading"]),
    ],
)
def test_proposed_verdicts(scores, right):
    """Plain shapes get their plain names."""
    import numpy as np

    assert verdicts(smooth(np.array(scores, dtype=float)), 0.05) == right


def test_a_break_leaves_nothing_half_done(tmp_path):
    """Who ends the questions loses no label, and can go on later from the same run."""
    asked = ["label", str(CORPUS / "runs" / "run-01"), "--out", str(tmp_path / "own")]
    assert CliRunner().invoke(group, asked, input="collapsed\n").exit_code != 0
    assert list((tmp_path / "own" / "runs").iterdir()) == []
    assert CliRunner().invoke(group, asked, input="collapsed\npolicy_update\n\n\n").exit_code == 0


def test_too_little_is_not_labeled():
    """A run without scores is refused with the number that was found."""
    with pytest.raises(ValueError, match="only 0 values"):
        propose(Run())


def test_agreement_is_beyond_chance(tmp_path):
    """Two readers who differ in one of four verdicts, and where."""
    one = written(tmp_path / "a.jsonl", [{"run": f"r{k}", "verdict": v} for k, v in enumerate(["improving"] * 2 + ["plateaued"] * 2)])
    two = written(tmp_path / "b.jsonl", [{"run": f"r{k}", "verdict": v} for k, v in enumerate(["improving"] + ["plateaued"] * 3)])
    found = json.loads(made("agree", one, two, "--json").stdout)
    assert found["kappa"]["verdict"] == pytest.approx(0.5)  # 3/4 seen, 1/2 by chance
    assert [pair["run"] for pair in found["disagreements"]] == ["r1"]
    low, high = found["intervals"]["verdict"]
    assert low < 0.5 < high


def test_two_readers_of_packs_agree_by_the_key(packs, tmp_path):
    """Answers that name tasks are laid beside each other by the key; without it no line says which run it is about."""
    folder, key = packs
    lines = [{"task": task, **truth(LABELS[what["run"]], what["cut"])} for task, what in key.items()]
    for line in lines:
        del line["run"], line["cut"]
    one, two = written(tmp_path / "a.jsonl", lines), written(tmp_path / "b.jsonl", lines)
    found = json.loads(made("agree", one, two, "--key", folder / "key.json", "--json").stdout)
    assert (found["n"], found["disagreements"]) == (len(key), [])
    assert made("agree", one, two).exit_code == 2
