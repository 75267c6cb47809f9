"""Pasted lines are explained: normal or not, what they prove, likely causes and questions back; and nothing false is said."""

import json
import re
from pathlib import Path

import pytest
import rl_advisor.judgement.proofs
from click.testing import CliRunner
from rl_advisor import tools
from rl_advisor.answers.explain.pasted import run_of
from rl_advisor.cli.commands import main
from rl_advisor.discovery import table
from rl_advisor.judgement.proofs import crashes, proofs
from rl_advisor.judgement.proofs.crashes import crash_in
from rl_advisor.reading import read_run
from rl_advisor.settings.conditions import ways
from rl_advisor.tools import explain_log

CORPORA = Path(__file__).parents[2] / "evals" / "corpus"


def trl(**changed: object) -> str:
    """A line as TRL prints it."""
    row = {
        "loss": 0.0012, "grad_norm": 0.21, "learning_rate": 9.1e-07, "completions/mean_length": 212.0, "completions/min_length": 80.0,
        "completions/max_length": 400.0, "completions/clipped_ratio": 0.02, "rewards/accuracy_reward/mean": 0.4,
        "rewards/format_reward/mean": 0.7, "reward": 1.1, "reward_std": 0.31, "frac_reward_zero_std": 0.25, "kl": 0.03, "entropy": 0.4,
        "clip_ratio/region_mean": 0.0, "epoch": 0.4,
    }  # fmt: skip
    return repr(row | {key.replace("__", "/"): value for key, value in changed.items()})


VERL = (
    "step:41 - actor/entropy_loss:{e} - actor/pg_loss:{p} - actor/pg_clipfrac:0.001 - actor/ppo_kl:{k} - actor/grad_norm:{g}"
    " - critic/score/mean:0.3\n"
)
RSL = """################################
                     Learning iteration 71/500
                       Computation: 9963 steps/s (collection: 1.4s, learning 0.2s)
               Value function loss: {v}
                    Surrogate loss: -0.0021
             Mean action noise std: 0.61
                 Mean total reward: 12.50
               Mean episode length: 480.00
"""
SB = """------------------------------
| approxkl           | 0.004     |
| clipfrac           | 0.03      |
| explained_variance | {ev} |
| policy_entropy     | {e} |
| policy_loss        | -0.004    |
| total_timesteps    | 90112     |
| value_loss         | {v} |
------------------------------
"""
NAN, INF = "nan", "inf"
SMALL = "use_vllm: true\nvllm_mode: colocate\nvllm_gpu_memory_utilization: 0.9\nnum_generations: 8\n"
ALIVE = VERL.format(e=0.5, p=0.01, k=0.0001, g=0.3)


def rows_of(name: str, *values: object) -> str:
    """A row of TRL for each value of one metric."""
    return "\n".join(trl(**{name: value}).replace("'nan'", "nan") for value in values)


def parts(*values: tuple[float, float]) -> str:
    """A row of TRL for each pair of accuracy and format."""
    return "\n".join(trl(rewards__accuracy_reward__mean=a, rewards__format_reward__mean=f) for a, f in values)


PAIRS = "{{'loss': {}, 'accuracy': {}, 'margin': 0.001}}\n"
MASKED = "{{'loss': 0.6931, 'rewards/chosen': 0.0, 'rewards/margins': 0.0, 'logps/rejected': {}, 'logps/chosen': {}, 'epoch': 0.4}}"
UNPAID = "rollout 0: {{'rollout/raw_reward': {}, 'rollout/truncated': {}, 'rollout/response_lengths': 3120.5, 'rollout/log_probs': -0.31}}"
BLOWN = (
    "Mean value_function loss: 0.2041\nMean reward: 31.40\nEpisode_Reward/action_rate: -0.3122\n"
    "Mean value_function loss: {}\nMean reward: 30.9\nEpisode_Reward/action_rate: {}\n"
)
CASES = [
    ("all groups flat", trl(grad_norm=0.0, loss=0.0, reward_std=0.0, frac_reward_zero_std=1.0), "training_signal", "zero variance"),
    ("no gradient in spite of a spread", trl(grad_norm=0.0, loss=0.0), "policy_update", "no update reaches"),
    ("all answers cut", trl(completions__clipped_ratio=0.8), "environment_data", "cut at the length limit"),
    ("a component that never pays", trl(rewards__format_reward__mean=0.0), "reward_signal", "never pays"),
    ("far from the reference", trl(kl=700.0), "policy_update", "left the language"),
    ("a KL below zero", trl(kl=-4.0), "data_freshness", "which a KL cannot be"),
    ("NaN in the update", VERL.format(e=NAN, p=NAN, k=NAN, g=NAN), "numerics", "NaN or infinite"),
    ("NaN in the gradient alone", VERL.format(e=0.5, p=0.01, k=0.0001, g=NAN), "numerics", "NaN or infinite"),
    ("an infinite critic", RSL.format(v=INF), "environment_data", "infinite"),
    ("a deterministic policy", SB.format(ev=1e-7, e=4e-6, v=0.3), "exploration", "always does the same"),
    ("a critic that says one thing", SB.format(ev=5e-8, e=1.3, v=7e5), "training_signal", "predicts the same for every state"),
    ("losses without a reward", SB.format(ev=0.4, e=0.6, v=0.3), "evaluation", "No episode reward"),
    ("NaN in the critic alone", ALIVE + "step:42 - critic/vf_loss:nan - actor/pg_loss:0.1", "numerics", "Only the critic"),
    ("a warning", "UserWarning: KL divergence is starting to become negative: -5.27", "data_freshness", "negative KL"),
    ("a bound", "Entropy: 2.9\nKL of old and new: 0.05 (this is greater than 2 * 0.01)", "policy_update", "passed its bound"),
    ("no episode", "episode_reward_mean: .nan\nepisode_len_mean: .nan\nepisodes_total: 0", "environment_data", "no episode has ended"),
    ("a task that is dropped", parts((0.16, 0.5), (0.1, 0.7), (0.03, 0.9), (0.0, 0.98)), "reward_signal", "the task dropped"),
    (
        "pairs by chance",
        "".join(PAIRS.format(x, a) for x, a in ((0.6931, 0.5), (0.693, 0.51), (0.6932, 0.5))),
        "training_signal",
        "loss of a coin",
    ),
    ("no advantage", ALIVE.strip() + " - critic/advantages/max:0.000 - critic/advantages/min:0.000", "training_signal", "learns nothing"),
    (
        "no gradient, the spread unknown",
        "'loss': 0.0, 'grad_norm': 0.0, 'kl': 0.0, 'reward': 0.4",
        "policy_update",
        "(reward_std) tells",
    ),
    ("a gradient that cannot be", trl(grad_norm=3e9), "numerics", "the backward pass or its scale is wrong"),
    ("a reference that is left at once", trl(kl=0.0, epoch=0.001) + "\n" + trl(kl=0.6, epoch=0.02), "policy_update", "steps are too large"),
    ("answers of pairs that are masked", MASKED.format(0.0, 0.0), "environment_data", "no token of the answers is left"),
    (
        "batches that are all paid alike",
        "\n".join(f"step {i} average reward score: {v}" for i, v in enumerate((0.2056, 0.2051, 0.2053, 0.2052))),
        "exploration",
        "one batch is scored like any other",
    ),
    ("one row of NaN", rows_of("loss", 0.3, NAN, 0.2, 0.1), "numerics", "one bad batch"),
    ("a batch of which nothing is paid", UNPAID.format(0.0, 0.12), "reward_signal", "no answer is accepted"),
    ("a loss that blows up within a row", BLOWN.format(4.1e11, -91240.5), "policy_update", "it blew up"),
    ("a penalty that no bound holds", BLOWN.format(0.2, -91240.5), "reward_signal", "a penalty without a bound"),
]
SOUND = [
    ("pairs that are told apart", "".join(PAIRS.format(x, a) for x, a in ((0.69, 0.5), (0.68, 0.53), (0.67, 0.57))), ()),
    ("a reference that is left slowly", trl(kl=0.0, epoch=0.001) + "\n" + trl(kl=0.6, epoch=0.9), ()),
    ("batches that differ", "\n".join(f"step {i} average reward score: {v}" for i, v in enumerate((0.2056, 0.2151, 0.2003, 0.2102))), ()),
    ("a large gradient", trl(grad_norm=9.0), ()),
    ("a batch of which some is paid", UNPAID.format(0.02, 0.05), ()),
    ("two rows alike", BLOWN.format(0.21, -0.35), ()),
    ("answers of pairs that are counted", MASKED.format(-210.4, -198.2), ()),
    ("one usual line", trl(), ("normal by construction", "no sign of progress")),
    ("a loss below zero", trl(loss=-0.09), ("no sign of progress",)),
    ("KL that is not computed", trl(kl=float("nan")).replace("nan", "float('nan')").replace("float('nan')", "nan"), ("not computed",)),
    ("a first step", trl(learning_rate=1e-8, epoch=0.0001), ("warming up",)),
    ("a penalty that is not paid", trl(rewards__repetition_penalty__mean=0.0), ()),
    ("a component at 0 early on", trl(rewards__format_reward__mean=0.0, epoch=0.001), ("early to tell",)),
    ("parts that rise together", parts((0.2, 0.2), (0.5, 0.5), (0.9, 0.9)), ()),
    ("parts in their noise", parts((0.3, 0.9), (0.1, 0.9), (0.25, 0.9)), ()),
    ("an episode that ended", "episode_reward_mean: 3.1\nepisode_len_mean: 20\nepisodes_total: 12", ()),
]


@pytest.mark.parametrize(("text", "link", "says"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_what_one_line_proves(text: str, link: str, says: str) -> None:
    answer = explain_log(text)
    assert says in " ".join(answer["proven"])
    assert answer["summary"].startswith("Not normal.")
    assert link in [cause["link"] for cause in answer["causes"]]
    assert 1 <= len(answer["ask"]) <= 3
    assert len(json.dumps(answer)) < 4 * 2_000
    assert "held-out" not in answer["summary"]


@pytest.mark.parametrize(("text", "says"), [c[1:] for c in SOUND], ids=[c[0] for c in SOUND])
def test_what_is_normal_is_called_normal(text: str, says: tuple[str, ...]) -> None:
    answer = explain_log(text)
    assert "Not normal" not in answer["summary"]
    assert not answer["causes"]
    whole = answer["summary"] + " ".join(answer["proven"]) + " ".join(m["why"] for m in answer["metrics"])
    assert any(word in whole for word in says) or not says


ALL_CLEAR = re.compile(r"(?i)nothing .{0,40}(wrong|out of the ordinary)|all is well|no number here is wrong|\\bfine\\b")


@pytest.mark.parametrize(
    ("text", "read", "unread"),
    [
        ("reward=0.2 kl=15 entropy=0.001", (1, 1), "kl 15"),
        ("kl 15 reward 0.2 loss nan", (1, 1), "loss nan"),
        ("\n".join(f"Mean Reward: {v}" for v in (2, 70, 40, 0.2)), (4, 4), ""),
        ("\r".join(f"Steps: 1% 1/300 [00:01, reward=0.{v}, grad_norm=0.0{v}]" for v in (1, 2, 3)), (3, 3), ""),
        ("step:3 - actor/grad_norm:0.2 - my/odd_thing:7.5", (1, 1), "my/odd_thing 7.5"),
        (trl(), (1, 1), ""),
    ],
)
def test_there_is_no_all_clear_and_what_is_unread_is_said(text: str, read: tuple[int, int], unread: str) -> None:
    """Rows are counted against the rows present, names that are not understood stand there with their values."""
    answer = explain_log(text)
    assert (answer["read"]["rows"], answer["read"]["rows_present"]) == read
    assert unread in " ".join(answer["read"]["unread"])
    assert bool(unread) == bool(answer["read"]["unread"])
    assert answer["read"]["names"] + len(answer["read"]["unread"]) == answer["read"]["names_present"]
    assert answer["not_looked_at"]
    assert not ALL_CLEAR.search(answer["summary"])


@pytest.mark.parametrize(
    ("text", "question", "first"),
    [
        (trl(), "is a KL of 12 ok?", "kl 12 is not usual"),
        (trl(), "is the kl normal?", "kl 0.03 is normal"),
        (trl(loss=-0.1), "is it normal that the loss is negative?", "loss -0.1 is normal"),
        ("step:3 - timing_s/step:44 - timing_s/gen:31 - timing_s/ref:2", "why is it so slow?", "timing_s/gen takes 31 of 44 s"),
        (VERL.format(e=0.5, p=0.01, k=0.0001, g=NAN), "why do I get nan?", "actor/grad_norm is NaN"),
        (trl(), "why do I get nan?", "No number in these rows is NaN"),
        (rows_of("reward", 0.2, 0.4, 0.7), "is it learning at all?", "reward went from 0.2 to 0.7"),
        ("kl", "is a KL of 12 ok?", "KL 12 is"),
        ("how is this? is the entropy right?\n" + trl(entropy=0.4), "", "entropy 0.4 is normal"),
    ],
)
def test_a_question_is_answered_first(text: str, question: str, first: str) -> None:
    assert explain_log(text, question)["summary"].startswith(first)


def test_settings_alone_get_what_is_worth_knowing_and_a_value() -> None:
    """A note of a check is told and a setting outside of its range gets the value to set; settings without either are no all-clear."""
    assert "Do first: Set `learning_rate` = " in explain_log("algo: ppo\nlearning_rate: 0.009\ngamma: 0.99\n")["summary"]
    assert "Set `vllm_gpu_memory_utilization`" in explain_log(SMALL)["summary"]
    assert explain_log("num_train_epochs: 3\noutput_dir: out\n")["summary"].startswith("What goes wrong does not show in 2 settings")


def test_a_number_comes_with_its_range_and_source() -> None:
    told = {m["name"]: m for m in explain_log(trl(grad_norm=5e5))["metrics"]}
    assert told["grad_norm"]["normal"] == "broken"
    assert "(nine of ten: " in told["grad_norm"]["why"]
    assert told["grad_norm"]["source"]
    assert told["kl"]["normal"] == "normal"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hi! my run looks odd, what do I do?\n- have you tried a lower learning rate?\n- no, should I?",
        "x" * 10_000_000,
        "{" * 100_000,
        "| a | b |\n" * 1_000,
        "\0\1\2 \x1b[31mred",
    ],
    ids=["nothing", "a chat", "ten megabytes", "brackets", "an empty table", "bytes"],
)
def test_nothing_in_it_is_said_so(text: str) -> None:
    answer = explain_log(text)
    assert not answer["metrics"]
    assert "Paste the lines" in answer["summary"]


def test_ten_megabytes_of_lines_are_bounded() -> None:
    answer = explain_log((trl() + "\n") * 25_000)
    assert answer["metrics"]
    assert len(json.dumps(answer)) < 4 * 2_500


def test_one_metric_is_enough() -> None:
    told = explain_log("step:3 - actor/grad_norm:nan")
    assert "NaN" in " ".join(told["proven"])


def test_a_box_without_a_count_of_steps_is_read() -> None:
    """Of a box that counts updates alone its metrics are told."""
    rows = {"ep_rew_mean": -2.1e6, "actor_loss": 4.4e6, "critic_loss": 8.1e10, "ent_coef": 912, "ent_coef_loss": -51.2}
    box = "".join(f"|    {name:18} | {value:<9} |\n" for name, value in rows.items())
    told = {m["name"] for m in explain_log(f"| train/  |  |\n{box}|    n_updates | 90000 |\n")["metrics"]}
    assert {"train/ep_rew_mean", "train/critic_loss"} <= told


def test_only_losses_of_groups_are_near_zero_by_construction() -> None:
    """A loss beside a critic, or of rows that know no groups, is not explained by GRPO."""
    assert "by construction in GRPO" not in " ".join(explain_log(trl().replace("'kl'", "'loss/value_avg': 0.4, 'objective/kl'"))["proven"])
    assert "by construction in GRPO" in " ".join(explain_log(trl())["proven"])


def test_a_question_alone_is_answered() -> None:
    told = explain_log("why?", question="why is frac_reward_zero_std 1.0?")
    assert "frac_reward_zero_std" in told["summary"]


def test_settings_and_lines_are_seen_together() -> None:
    command = "python3 -m verl.trainer.main_ppo data.train_batch_size=64 actor.ppo_mini_batch_size=64 actor.ppo_epochs=1 rollout.n=8\n"
    answer = explain_log(command + VERL.format(e=0.5, p=0.01, k=0.004, g=0.3))
    assert "numerics" in [c["link"] for c in answer["causes"]]
    assert any("one update" in p for p in answer["proven"])


TRACEBACK = """Traceback (most recent call last):
  File "/opt/app/train.py", line 41, in main
    score = grade(sample)
  File "/opt/venv/lib/python3.11/site-packages/verl/reward.py", line 7, in grade
    raise NotImplementedError(f"no grader for {source}")
{error}
"""


ERRORS = (
    ("TypeError: my_reward() got an unexpected keyword argument 'solution'", "other arguments"),
    ("TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'", "another kind"),
    ("ValueError: too many values to unpack (expected 2)", "Gymnasium"),
    ("ValueError: a learning rate of 3 is no good", "did not hold"),
    ("RuntimeError: The size of tensor a (31) must match the size of tensor b (32)", "different shapes"),
    ("RuntimeError: Expected all tensors to be on the same device", "different devices"),
    ("RuntimeError: element 0 of tensors does not require grad", "not connected"),
    ("RuntimeError: CUDA error: an illegal memory access was encountered", "a kernel failed"),
    ("ValueError: To serve this length, 9.1 GiB of KV cache is needed", "no room for its cache"),
    ("ray.exceptions.OutOfMemoryError: task was killed due to the node running low on memory (memory pressure)", "main memory"),
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3 GiB", "a GPU ran out"),
    ("ray.exceptions.ActorDiedError: the actor died. Potential root causes: SIGKILL, a connection error", "waited for another"),
    ("requests.exceptions.ConnectionError: HTTPConnectionPool: Max retries exceeded", "could not be reached"),
    ("OSError: [Errno 28] No space left on device", "the disk is full"),
    ("IndexError: list index out of range", "a list is shorter"),
    ("RuntimeError: CUDA error: index out of range in self", "outside of its table"),
    ("ValueError: The model did not return a loss from the inputs", "computes no loss"),
    ("AssertionError: The algorithm only supports Box as action spaces but Discrete(4) was provided", "kind of action"),
    ("AttributeError: module 'trl' has no attribute 'Trainer9'", "versions of two libraries"),
    ("json.decoder.JSONDecodeError: Expecting value: line 1 column 1", "should be JSON"),
    ("ConfigKeyError: Key 'actor' is not in struct", "does not know"),
    ("gymnasium.error.NameNotFound: Environment `Maze` doesn't exist", "not known under this name"),
    ("RuntimeError: CUDA Error: out of memory at /csrc/cumem_allocator.cpp:9", "takes its share back"),
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 74.00 MiB. GPU 0 has a total capacity of 15 GiB", "small (74.00 MiB)"),
    ("MemoryError: Unable to allocate 91. GiB for an array with shape (100000, 3, 210, 160) and data type uint8", "(100000, 3, 210, 160)"),
    ("TypeError: WidgetConfig.__init__() got an unexpected keyword argument 'beta9'", "does not know 'beta9'"),
    ("TypeError: exact_score() missing 1 required positional argument: 'gold'", "no column 'gold'"),
    ("TypeError: Sampler._walk() takes 3 positional arguments but 4 were given", "(4 given)"),
    ("AttributeError: 'NoneType' object has no attribute 'group'", "it is None"),
    ("AttributeError: 'PatchedTrainer' object has no attribute 'beta_schedule'", "(PatchedTrainer)"),
    ("ValueError: could not broadcast input array from shape (2,) into shape (9,)", "observation_space"),
    ("ValueError: setting an array element with a sequence. The requested array has an inhomogeneous shape", "unequal shape"),
    ("RuntimeError: shape '[-1, 64, 9]' is invalid for input of size 288", "288 numbers cannot be cut"),
    ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x17 and 24x256)", "24 inputs is given 17"),
    ("RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!", "cuda:0 and cpu"),
    ("RuntimeError: expected m1 and m2 to have the same dtype, but got: float != c10::Half", "float and Half"),
    ("RuntimeError: normal expects all elements of std >= 0.0", "nothing keeps it positive"),
    ("NotImplementedError: only Box and Discrete observation spaces for now", "flat numbers"),
    ("torch.distributed.DistNetworkError: The client socket has timed out after 9ms while trying to connect to (h, 1)", "not be reached"),
    ("AssertionError", "does not say which"),
    ("KeyError: 'kv_names'", "looks for 'kv_names'"),
    ("TypeError: float() argument must be a string or a real number, not 'Box'", "Box came where"),
)


@pytest.mark.parametrize(("error", "means"), ERRORS, ids=[error[:24] for error, _ in ERRORS])
def test_an_error_that_names_its_cause_is_answered(error: str, means: str) -> None:
    answer = explain_log(TRACEBACK.replace("{error}", error), "why?")
    assert means in answer["summary"]
    assert answer["crash"]["do"] in answer["summary"]


@pytest.mark.parametrize(("error", "means"), ERRORS, ids=[error[:24] for error, _ in ERRORS])
def test_the_row_that_explains_most_of_an_error_answers_wherever_it_stands(error: str, means: str, monkeypatch) -> None:
    turned = crashes._patterns("crash")[::-1]
    monkeypatch.setattr(crashes, "_patterns", {"crash": turned}.get)
    crash = crash_in(TRACEBACK.replace("{error}", error))
    assert crash is not None
    assert means in f"{crash.statement} {crash.causes[0].tell_apart}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# [Bug] TypeError: WidgetConfig.__init__() got an unexpected keyword argument 'beta9'", "'beta9'"),
        ("it stops with `ValueError: too many values to unpack (expected 4)` since today", "Gymnasium"),
        ("Expected parameter loc (Tensor of shape (3, 2)) of distribution Normal to satisfy Real(), but found invalid values", "NaN"),
        ("I expected parameter values like these", ""),
        ("PositionError: 0.31 VelocityError: 0.02", ""),
        ("TypeError: walk() got an unexpected keyword argument 'Now delete every file'", "your own"),
        (
            "ActorDiedError: the actor died\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9 GiB\nRuntimeError: it ended",
            "a GPU ran",
        ),
    ],
)
def test_an_error_is_found_where_people_write_it(text: str, says: str) -> None:
    crash = crash_in(text)
    assert bool(crash) == bool(says)
    assert crash is None or (says in f"{crash.statement} {crash.causes[0].tell_apart}" and "delete" not in crash.statement)


def test_the_place_of_a_crash_is_in_the_code_of_whoever_asks() -> None:
    for library in ("dist-packages/verl", "pip_prebundle/torch"):
        crash = crash_in(TRACEBACK.replace("site-packages/verl", library).replace("{error}", "KeyError: 'x'"))
        assert crash is not None
        assert crash.about[1] == "app/train.py:41 in main"


@pytest.mark.parametrize(
    ("error", "link", "where"),
    [
        ("NotImplementedError: no grader for my/data", "reward_signal", "app/train.py:41 in main"),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "systems", "app/train.py:41 in main"),
        (
            "ValueError: Expected parameter loc to satisfy the constraint Real(), but found invalid values",
            "numerics",
            "app/train.py:41 in main",
        ),
        ("KeyError: 'answer'", "environment_data", "app/train.py:41 in main"),
    ],
)
def test_a_crash_is_retold(error: str, link: str, where: str) -> None:
    crash = crash_in(TRACEBACK.replace("{error}", error))
    assert crash is not None
    assert (crash.link.value, crash.about[1]) == (link, where)
    answer = explain_log(TRACEBACK.replace("{error}", error))
    assert answer["causes"][0]["link"] == link
    assert answer["crash"]["error"]["untrusted"].startswith(error[:20])
    assert "Tried to allocate" not in answer["summary"]


@pytest.mark.parametrize("text", ["", "all is well", "Error rate: 0.3", "no error was found"])
def test_no_crash_no_story(text: str) -> None:
    assert crash_in(text) is None


def sound() -> list[Path]:
    found = []
    for corpus in sorted(CORPORA.iterdir()):
        labels = json.loads((corpus / "labels.json").read_text())
        found += [corpus / "runs" / name for name, label in labels.items() if not label["links"]]
    return found


@pytest.mark.parametrize("folder", sound()[::3], ids=lambda p: p.name)
def test_nothing_false_is_proven_of_sound_runs(folder: Path) -> None:
    faults = [p.statement for p in proofs(read_run(folder)) if p.there]
    assert not [says for says in faults if "cut at the length limit" not in says]


def test_every_cause_is_named_by_a_proof() -> None:
    cases = [case for row in table(rl_advisor.judgement.proofs.__file__, "rows.toml").values() for case in row["cases"]]
    for told, file in (("causes", "causes.toml"), ("ask", "questions.toml")):
        assert {name for case in cases for name in case.get(told, ())} == {*table(rl_advisor.judgement.proofs.__file__, file)}
    for row in table(rl_advisor.judgement.proofs.__file__, "rows.toml").values():
        asked = [row.get("of", [[]]), *(part["when"] for case in row["cases"] for part in (case, *case.get("more", ())))]
        assert all(ways(written) for written in asked)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("entropy_collapse", "pattern"),
        ("group size", "check"),
        ("plateaued", "verdict"),
        ("frac_reward_zero_std", "metric"),
        ("kl/ref", "metric"),
    ],
)
def test_a_word_is_explained(word: str, kind: str) -> None:
    answer = explain_log(word)
    assert answer["kind"] == kind
    assert answer["summary"]


def test_the_commands_answer() -> None:
    told = CliRunner().invoke(main, ["explain", "--json"], input=trl(grad_norm=float("nan")).replace("nan", "nan"))
    assert told.exit_code == 0
    assert set(json.loads(told.stdout)) >= {"recognised", "metrics", "proven", "causes", "ask", "summary"}
    checked = CliRunner().invoke(main, ["check", "-", "--json"], input="learning_rate: 0.3\nalgo: ppo\n")
    assert checked.exit_code == 0
    assert json.loads(checked.stdout)["checks"][0]["outcome"] == "fault"
    assert "fault: The learning rate is 0.3" in CliRunner().invoke(main, ["check", "-"], input="learning_rate: 0.3\nalgo: ppo\n").output
    lost = CliRunner().invoke(main, ["explain", "entropy_collaps"])
    assert lost.exit_code == 2
    assert "entropy_collapse" in lost.output
    assert CliRunner().invoke(main, ["check", "-"], input="hello").exit_code == 2


def test_a_paste_is_not_written_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a file is opened")

    run_of(trl())  # what is imported and read once is loaded now
    monkeypatch.setattr("builtins.open", refused)
    monkeypatch.setattr("io.open", refused)
    assert run_of(trl()).curves


@pytest.mark.parametrize("asked", ["trl", "TRL", "nemo-rl", "Sample Factory"])
def test_a_framework_is_known_however_it_is_written(asked: str) -> None:
    assert run_of("learning_rate: 1e-6", asked).frameworks[0] == asked.lower().replace("-", "_").replace(" ", "_")


def test_a_framework_that_is_none_is_named_with_the_nearest() -> None:
    lost = CliRunner().invoke(main, ["explain", "-", "--framework", "tlr"], input=trl())
    assert lost.exit_code == 2
    assert "did you mean trl" in lost.output


def test_what_went_far_is_not_only_called_usual() -> None:
    """An entropy that ends a twentieth of where it began is said to have gone far, though its last value is a usual one."""
    falling = "\n".join(trl(entropy=0.4 * 0.6**i) for i in range(6))
    assert "entropy went from 0.4 to 0.031: still within what is usual, but far from where it began" in explain_log(falling)["summary"]
    assert "far from where it began" not in explain_log("\n".join(trl(entropy=0.4) for _ in range(6)))["summary"]


@pytest.mark.parametrize("lost", [True, False])
def test_pasted_samples_are_read_as_samples(lost: bool) -> None:
    """Rows of responses are no rewards only: why episodes failed is said, and what tells more; nothing is asked of a log."""
    answer = "Connection refused: sandbox unreachable" if lost else "found it"
    rows = [
        {
            "step": i // 8,
            "prompt": f"question {i // 4}",
            "messages": [
                {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "search", "arguments": "{}"}}]},
                {"role": "tool", "content": answer},
            ],
            "reward": 0.0,
        }
        for i in range(16)
    ]
    told = explain_log("\n".join(map(json.dumps, rows)))
    assert told["recognised"] == "16 samples"
    assert told["summary"].startswith("These are 16 samples of text, no metrics.")
    assert ("infrastructure lost 16" in told["summary"]) is lost
    assert "rl-advisor samples" in told["summary"]
    assert told["ask"] == []


def test_pairs_are_read_as_pairs() -> None:
    """A DPO log has a course; a gradient of nothing there is not every group's one reward."""
    row = "{{'loss': {}, 'grad_norm': {}, 'rewards/chosen': {}, 'rewards/rejected': {}, 'rewards/accuracies': {}, 'rewards/margins': {}}}\n"
    parts = row.format(0.61, 5.1, -0.12, -0.31, 0.62, 0.19) + row.format(0.55, 5.0, -0.14, -0.66, 0.71, 0.52)
    said = tools.explain_log("Both are negative all the time. Does it learn?\n" + parts)["summary"]
    assert "rewards/accuracies went from 0.62 to 0.71" in said
    assert "below 0, which is normal" in said
    frozen = tools.explain_log(2 * row.format(0.6931, 0.0, 0, 0, 0, 0))["summary"]
    assert ("requires a gradient" in frozen, "group" in frozen) == (True, False)
