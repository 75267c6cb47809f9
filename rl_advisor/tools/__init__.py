"""The verbs: what can be asked of runs. Each function calls the parts that know, and returns plain JSON with text made safe.

The command line and the server offer the same functions, so both give the same answers.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from rl_advisor.advisors import ADVISORS
from rl_advisor.answers import run_folders
from rl_advisor.answers.cache import Cache
from rl_advisor.output.clean import aliased, clean
from rl_advisor.output.errors import UsageError, as_usage_error, no_such
from rl_advisor.output.names import names_of_run
from rl_advisor.tools.runs import beside as beside
from rl_advisor.tools.runs import place as place
from rl_advisor.tools.runs import read as read

if TYPE_CHECKING:
    from rl_advisor.assessment import Assessment
    from rl_advisor.run import Run

Answer = dict[str, Any]
T = TypeVar("T")
_ANSWERS: Cache[Any] = Cache(64)


def list_runs(root: str | Path = ".", limit: int = 50) -> Answer:
    """The runs that may be read, newest first; reach for it when you do not know which is meant. At most ``limit`` rows."""
    base = run_folders.existing(root)
    found = run_folders.runs_below(base)
    return listing([(p.relative_to(base).as_posix(), p) for p in found[:limit]], len(found))


def listing(named: Sequence[tuple[str, Path]], total: int) -> Answer:
    """Named run folders as rows, and how many more there are."""
    rows = [{"run": name, "files": len(run_folders.fingerprint(path)), "changed": run_folders.changed(path)} for name, path in named]
    answer = {"runs": rows, "more": max(0, total - len(rows))}
    return aliased(clean(answer), [name for name, _ in named])  # type: ignore[no-any-return]


def load_run(run: str | Path, mapping: Mapping[str, str] | None = None, until: float | None = None) -> Answer:
    """What a run left behind: settings, metrics under both names, samples, checkpoints, gaps; of a folder of runs a list.

    Reach for it when an answer says that something was not logged. At most 2,000 characters.
    """
    from rl_advisor.answers import run_table
    from rl_advisor.answers.inventory import inventory

    return _table("load", run, until, mapping, run_table.held) or _answer("load", run, until, mapping, inventory)


def summarize_curves(
    run: str | Path, metrics: Sequence[str] = (), until: float | None = None, mapping: Mapping[str, str] | None = None
) -> Answer:
    """Measure curves: direction, best, onset and change points with intervals, raw points.

    Reach for it to test a claim about named metrics. At most 6,000 characters, some 500 a curve.
    """
    from rl_advisor.answers.curves import summaries

    return _answer(("curves", *metrics), run, until, mapping, lambda r: summaries(r, tuple(metrics)))


def plot_curves(
    run: str | Path, metrics: Sequence[str] = (), until: float | None = None, mapping: Mapping[str, str] | None = None
) -> bytes:
    """Up to six curves as a picture (PNG); the metric ``gpu/phases`` alone draws each GPU's phases.

    Reach for it when a shape is easier seen than read. At most 1,000 tokens.
    """
    from rl_advisor.answers.plot import picture

    return _kept(("plot", *metrics), [run], until, mapping, lambda runs: picture(runs[0], metrics))


def spot_check_samples(  # noqa: PLR0913
    run: str | Path,
    step: int | None = None,
    count: int = 3,
    until: float | None = None,
    columns: Mapping[str, str] | None = None,
    audit: int | None = None,
    reward: str = "",
) -> Answer:
    """Read what the model wrote: best and worst rewarded and random responses, text statistics over steps.

    Reach for it before believing a rising reward, and when length, diversity or a score moves oddly. At most 3,000 characters.
    """
    from rl_advisor.answers.spot_check import spot_check

    return _answer(("samples", step, count, audit, reward), run, until, columns, lambda r: spot_check(r, step, count, audit, reward))


def gpu_phase_profile(run: str | Path, until: float | None = None) -> Answer:
    """Where the GPUs' time goes: generation, training, weight sync, waiting; idle stretches, interference, free memory.

    Reach for it when a run is slow or a GPU is idle. At most 1,500 tokens.
    """
    from rl_advisor.gpu.profile import profile

    return _answer("gpu", run, until, None, profile)


def assess_run(  # noqa: PLR0913
    run: str | Path,
    until: float | None = None,
    advisor: str = "builtin",
    mapping: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    against: Sequence[str | Path] = (),
) -> Answer:
    """Judge a run: verdict, call, next step, cause, effects, evidence for and against, raw curves, checkpoint to keep.

    Reach for it first; then make its ``next_call``. A folder of runs gives a row each. At most 3,600 characters; ``detail`` all gives
    everything.
    """
    from rl_advisor.answers import run_table

    judge, told = advisor_named(advisor), dict(options or {})
    row = run_table.judged(advisor_named("builtin").assess)
    if table := _table(("assess", *map(str, against)), run, until, mapping, lambda one: row(beside(one, against, mapping))):
        return table

    def ask(whole: "Run") -> Answer:
        return judgement_of(known := beside(whole, against, mapping), judge.assess(known, **told))

    if advisor != "builtin":
        # Asked anew each time: a model that could not be reached a minute ago may answer now, and no failure must be remembered.
        return _safe(ask, read(run, until, mapping))
    return _kept(("assess", *sorted(told.items())), [run, *against], until, mapping, lambda whole: _safe(ask, whole[0]))


def judgement_of(run: "Run", assessment: "Assessment") -> Answer:
    """An assessment as ``assess_run`` gives it, for whoever has it already."""
    from rl_advisor.answers import judgement

    return _safe(lambda whole: judgement.judgement(whole, assessment), run)


def explain_finding(run: str | Path, pattern: str, until: float | None = None, against: Sequence[str | Path] = ()) -> Answer:
    """Explain one finding: what was measured and where, what it means, its look-alikes, how to test it.

    Reach for it when one finding decides. At most 600 tokens.
    """
    from rl_advisor.answers.finding_in_full import explained

    def ask(whole: "Run") -> Answer:
        return explained(beside(whole, against), pattern)

    return _kept(("explain", pattern), [run, *against], until, None, lambda whole: _safe(ask, whole[0]))


def estimate_memory(config: str | Path, **setup: Any) -> Answer:
    """Estimate the memory of a GPU in a planned training, by the model's config.json, and what to reduce first.

    Reach for it before training or after an out-of-memory error. At most 300 tokens.
    """
    from rl_advisor.gpu.memory import of_file

    return clean(as_usage_error(lambda: of_file(run_folders.existing(config), setup)))  # type: ignore[no-any-return]


def compare_engines(a: str | Path, b: str | Path, until: float | None = None) -> Answer:
    """Compare dumps of the same prompts by trainer and inference engine: the gap, and whether it grows.

    Reach for it when mismatch is suspected. At most 1,500 tokens.
    """
    from rl_advisor.answers.engine_consistency import consistency

    return clean(as_usage_error(lambda: consistency(run_folders.existing(a), run_folders.existing(b), until)))  # type: ignore[no-any-return]


def compare_runs(runs: Sequence[str | Path], until: float | None = None, probe: bool = False) -> Answer:
    """Set runs or seeds side by side: outcome with intervals, where they part, settings that differ.

    Reach for it to tell luck from effect; with ``probe`` two runs whose rewards do not rise: trained on test prompts, on training prompts.
    At most 3,000 tokens.
    """
    from rl_advisor.answers.compare import compare
    from rl_advisor.answers.probe import probe as probed

    if probe and len(runs) != 2:
        raise UsageError(f"a probe is two runs, the one trained on the test prompts first; not {len(runs)}")

    def ask(whole: "list[Run]") -> Answer:
        return aliased(clean(probed(*whole) if probe else compare(whole)), [n for r in whole for n in names_of_run(r)])  # type: ignore[no-any-return]

    return _kept(("compare", probe), runs, until, None, ask)


def preflight(plan: str | Path | None = None, gpus: int = 1, gib: float | None = None, **files: str | Path) -> Answer:
    """Look at a plan before training: settings, the reward of a random against a scripted policy, its histogram, memory.

    Reach for it before the first update. Episodes: monitor.csv, CSV, JSONL. At most 1,500 tokens.
    """
    from rl_advisor.answers.preflight import before

    here = {name: run_folders.existing(file) for name, file in {"plan": plan, **files}.items() if file is not None}
    settings = here.pop("plan", None)
    return clean(as_usage_error(lambda: before(settings, here, gpus, gib)))  # type: ignore[no-any-return]


def check_critic(batch: str | Path) -> Answer:
    """Test a critic on one saved batch (observations, returns, perhaps values): can returns be told, does the critic tell them.

    Reach for it when explained variance stays low. Files: .npz, .parquet, .csv, .json, .jsonl. At most 500 tokens.
    """
    from rl_advisor.answers.critic import critic_test

    return clean(critic_test(run_folders.existing(batch)))  # type: ignore[no-any-return]


def explain_log(text: str, question: str = "", framework: str | None = None) -> Answer:
    """Explain pasted log lines, a traceback or one word: is each number normal, what is proven, likely causes, what to ask back.

    Reach for it when they stand in the conversation. Nothing is kept. At most 1,500 tokens.
    """
    from rl_advisor.answers.explain import a_word, explain_run
    from rl_advisor.answers.explain.pasted import bounded, run_of
    from rl_advisor.output.clean import untrusted

    if word := a_word(text, question):
        return clean(word)  # type: ignore[no-any-return]
    run = run_of(text, framework)
    answer = explain_run(run, bounded(text), question)
    if crash := answer.get("crash"):
        crash["error"] = untrusted(crash["error"], "the pasted text")
    return aliased(clean(answer), names_of_run(run))  # type: ignore[no-any-return]


def check_settings(run: str | Path | None = None, text: str = "", until: float | None = None) -> Answer:
    """What a configuration, launch command or training script proves or makes likely to go wrong; nothing is run.

    Reach for it when settings stand in the conversation (``text``) or beside a run. At most 1,500 tokens.
    """
    from rl_advisor.answers.settings_check import check_of

    return check_of(None if run is None else place(run), text, until)


def advisor_named(name: str) -> ModuleType:
    """The advisor's module.

    Raises:
        NoSuchChoice: no such advisor; the message names them.
        ImportError: its client library is not installed.
    """
    if name not in ADVISORS:
        raise no_such("advisor", name, ADVISORS)
    return import_module(f"rl_advisor.advisors.{name}")


def _table(
    what: object, asked: str | Path, until: float | None, mapping: Mapping[str, str] | None, row: Callable[["Run"], dict[str, Any]]
) -> Answer | None:
    """A row for each of several runs of a folder or file, worst first; None for a single run, or one that was asked for by name."""
    from rl_advisor.answers import run_table

    path = place(asked)
    whole = read(path, None, mapping)
    places = run_table.places_of(path, whole)
    if not places:
        return None

    def rows(_: "list[Run]") -> Answer:
        found = run_table.worst_first(run_table.rows_of(path, places, lambda one: read(one, until, mapping), row))
        return aliased(clean({"runs": found}), places)  # type: ignore[no-any-return]

    return _kept((what, "table"), [path], until, mapping, rows)


def _answer(what: object, run: str | Path, until: float | None, mapping: Mapping[str, str] | None, ask: Callable[["Run"], Any]) -> Answer:
    """The answer to ``ask`` about a run, made safe."""
    return _kept(what, [run], until, mapping, lambda whole: _safe(ask, whole[0]))


def _kept(
    what: object,
    runs: Sequence[str | Path],
    until: float | None,
    mapping: Mapping[str, str] | None,
    make: "Callable[[list[Run]], T]",
) -> T:
    """What ``make`` gives for the runs; the same question about unchanged files is answered from memory."""
    paths = [place(run) for run in runs]
    key = (what, tuple((str(p), run_folders.fingerprint(p)) for p in paths), until, tuple(sorted((mapping or {}).items())))
    answer: T = _ANSWERS.get(key, lambda: make([read(p, until, mapping) for p in paths]))
    return answer


def _safe(ask: Callable[["Run"], Any], run: "Run") -> Answer:
    """The answer without anything that could harm a reader."""
    return aliased(clean(ask(run)), names_of_run(run))  # type: ignore[no-any-return]
