"""The document about one run: evidence with its curves, samples, GPUs, the next test, and all else that was looked at, folded."""

from collections.abc import Iterator, Sequence
from typing import Any

from rl_advisor.answers.context import context
from rl_advisor.answers.document.blocks import Bars, Card, Charts, Code, Columns, Facts, Fold, Lines, Section, Table, Words
from rl_advisor.answers.document.curves import Drawn
from rl_advisor.answers.episodes import failure_lines, formula_lines
from rl_advisor.answers.gpu_profile import profiled
from rl_advisor.answers.story.chain import cause_of, chain
from rl_advisor.answers.story.quantities import label, unit_of
from rl_advisor.features.text.turns import Turn
from rl_advisor.finding import Assessment, FindingView
from rl_advisor.output import Answer
from rl_advisor.output.wording import listed, percent, plain, sentence, value
from rl_advisor.run import Run
from rl_advisor.samples import spotcheck
from rl_advisor.samples.episodes import episode_turns, why_failed
from rl_advisor.samples.excerpts import excerpt
from rl_advisor.samples.reward_check import audit
from rl_advisor.samples.reward_formula import paid_for

SHOWN, OPEN, NAMED, NOT_LOGGED = 4, 8, 24, 4
"""Findings that are there and seen without unfolding, of those that could not be decided; curves that are named, metrics not logged."""
SMALL = 0.0005
"""Share below which a phase of the GPUs is left out."""
KINDS = (("highest", "Best rewarded"), ("lowest", "Worst rewarded"), ("random", "Random, latest step"))
COUNT, TURNS = 2, 24
"""Samples of each kind, and turns of an episode."""


def sections(run: Run, a: Assessment, curves: Sequence[Drawn]) -> list[Section]:
    """The sections in order; those of which nothing is known are left out. ``a`` is in the run's own names."""
    cards = _Cards(run, a, curves)
    present = [cards.of(f, with_curve=i < SHOWN) for i, f in enumerate(_foremost(a))]
    used = {card.curve.key for card in present if card.curve is not None}
    found = (
        Section("findings", "Evidence", [*present[:SHOWN], *_more(present[SHOWN:])]),
        Section("curves", "More curves" if used else "Curves", _others(run, [d for d in curves if d.key not in used], curves)),
        Section("samples", "Samples", _samples(run)),
        Section("gpu", "GPU time", _phases(run)),
        Section("next", "Next test", _experiment(a)),
        Section("checked", "What was checked", [Words(counted(a), "note"), *_looked_at(run, a, cards)]),
        Section("deliverables", "Reproducibility checklist", [Fold("What is there, and what is missing", [Lines(_deliverables(run))])]),
    )
    return [s for s in found if s.blocks]


def story_rows(story: Answer) -> list[tuple[str, str]]:
    """The facts of the story, but for words that stand above them, and what was not checked."""
    unseen = {"Not checked": f"{listed(story['not_logged'], NOT_LOGGED)} (not logged)"} if story["not_logged"] else {}
    return [(label, said) for label, said in (story["facts"] | unseen).items() if label != "In words"]


class _Cards:
    """Findings as cards: what each rests on can be looked at where it stands in the document."""

    def __init__(self, run: Run, a: Assessment, curves: Sequence[Drawn]) -> None:
        self.cause, self.curves, self.shown = cause_of(a), {d.curve.name: d for d in curves}, set[str]()
        self.keys = {f.pattern: f"finding-{i}" for i, f in enumerate(a.findings)}
        self.places = {name: (self.curves[name].key if name in self.curves else "", label(c)) for name, c in run.curves.items()}
        self.places["rollouts"] = "samples" if len(run.rollouts) else "", "samples"
        self.places["telemetry"] = "gpu" if phases(run) else "", "GPU time"

    def of(self, f: FindingView, *, with_curve: bool = False) -> Card:
        """The card of a finding, with the first curve of its evidence that is not drawn yet; one that moves goes before one that stands."""
        look = [(str(e["metric"]), float(e["first_step"]), float(e["last_step"])) for e in f.evidence]
        able = [d for n, *_ in look if with_curve and (d := self.curves.get(n)) and d.key not in self.shown]
        curve = next((d for d in able if d.curve.varies), able[0] if able else None)
        self.shown |= {curve.key} if curve else set()
        places = [(*self.places.get(n, ("", n)), low, high) for n, low, high in look]
        return Card(f, self.keys[f.pattern], f is self.cause, places, curve)


def _more(blocks: Sequence[Any], title: str = "{} more") -> list[Fold]:
    return [Fold(title.format(len(blocks)), blocks)] if blocks else []


def _foremost(a: Assessment) -> list[FindingView]:
    """The present findings as the story tells them: the cause, its effects, what is open, then the rest."""
    told = chain(a)
    known = [f for f in (told.cause, *told.effects, *told.open) if f is not None]
    return known + [f for f in _of(a, "present") if f not in known]


def _of(a: Assessment, outcome: str) -> list[FindingView]:
    """The findings of one outcome as they began, those without a date last."""
    return sorted((f for f in a.findings if f.outcome == outcome), key=lambda f: f.onset["step"] if f.onset else float("inf"))


def _others(run: Run, rest: Sequence[Drawn], curves: Sequence[Drawn]) -> list[Any]:
    """The curves that no finding shows, and the names of those that are not drawn, with the value of what never moved."""
    shown = {d.curve.name for d in curves}
    undrawn = [c for name, c in sorted(run.curves.items()) if name not in shown]
    same = {c.name: f" ({value(x[0], unit_of(c))} throughout)" for c in undrawn if (x := c.numbers).size > 1 and not c.varies}
    names = listed([f"`{label(c)}`{same.get(c.name, '')}" for c in undrawn], NAMED)
    fold = Fold(f"{len(undrawn)} curves read but not drawn", [Words(f"{names}.", "note")])
    return [*([Charts(rest)] if rest else []), *([fold] if undrawn else [])]


def _samples(run: Run) -> list[Any]:
    """What the samples say of failures and of the reward, then best rewarded, worst rewarded and random ones."""
    if not len(run.rollouts):
        return []
    said = [*failure_lines(why_failed(run)), *formula_lines(paid_for(run))]
    picked = spotcheck.triad(run, count=COUNT)
    columns = [(title, _column(run, picked[kind])) for kind, title in KINDS if picked.get(kind)]
    folded = _more([Words(line) for line in said], "Why episodes failed, and what is paid")
    return [*folded, *_rewards(run), Words("Model output, shown verbatim.", "note"), Columns(columns)]


def _column(run: Run, rows: Sequence[Answer]) -> list[Any]:
    """Samples below each other, all but the first folded."""
    first, *others = (_sample(run, row) for row in rows)
    return [*first, *([Fold(f"{len(others)} more", [block for sample in others for block in sample])] if others else [])]


def _sample(run: Run, row: Answer) -> list[Any]:
    """A sample with where it stands; of an episode its turns, each folded under who spoke, of many the first and the last."""
    reward = "no reward" if row["reward"] is None else f"reward {value(row['reward'], digits=3)}"
    head = Words(f"{reward}, step {row['step']:g} ({row['source']}, row {row['row']})", "meta")
    turns, half = _turns(run, row), TURNS // 2
    left = [Words(f"{len(turns) - TURNS} turns in the middle are left out.", "note")] if len(turns) > TURNS else []
    spoken = [*map(_turn, turns[:half]), *left, *map(_turn, turns[max(half, len(turns) - half) :])]
    body = spoken if len(turns) > 1 else [Code("response", excerpt(row["response"], 320, 120))]
    return [head, *([Code("prompt", excerpt(row["prompt"], 300, 100))] if row["prompt"] else []), *body]


def _turn(turn: Turn) -> Fold:
    """One turn under who spoke, how it begins and which tools it calls."""
    named = ", ".join((name or given)[:40] for name, given in turn.calls[:4])
    calls = "".join("\n" + excerpt(f"{name} {given}", 200, 60) for name, given in turn.calls[:8])
    begins = f"{turn.role[:20]}: {' '.join(turn.text.split())[:90]}{f' ({named})' if named else ''}"
    return Fold(begins, [Code("turn", excerpt(turn.text, 600, 200) + calls)])


def _rewards(run: Run) -> list[Bars]:
    """The histogram of the samples' rewards; none where all are alike."""
    shape = audit(run).get("histogram", {"counts": ()})
    said = "Rewards of the samples, {min:.4g} to {max:.4g}, median {median:.4g}."
    return [Bars(shape["counts"], said.format(**shape))] if len(shape["counts"]) > 1 else []


def _turns(run: Run, row: Answer) -> Sequence[Turn]:
    """The turns of the episode that a sample is."""
    rows = run.rollouts
    here = rows[(rows["source"] == row["source"]) & (rows["row"] == row["row"])] if {"source", "row"} <= set(rows.columns) else rows[:0]
    return episode_turns(here.iloc[0].to_dict()) if len(here) else ()


def phases(run: Run) -> Answer | None:
    """The profile of the GPUs, where there is telemetry or are timers to make one of."""
    found = profiled(run) if len(run.telemetry) or run.family("time/phase/") else None
    return found if found is not None and found["phases"] else None


def _phases(run: Run) -> list[Any]:
    """Where a step's time goes, and what telemetry cannot tell."""
    found = phases(run)
    if found is None:
        return []
    shown = [p for p in found["phases"] if p["share"] > SMALL]
    rows = [
        [plain(p["name"]), f"{percent(p['share'])} ({percent(p['share_low'])} to {percent(p['share_high'])})", _seconds(p), p["confidence"]]
        for p in shown
    ]
    return [
        Words(found["says"]),
        Table("Phases of a step", ("phase", "share", "s a step", "confidence"), rows),
        *([Fold("What this cannot tell", [Lines(found["cannot_tell"])])] if found["cannot_tell"] else []),
    ]


def _seconds(phase: Answer) -> str:
    return "not known" if phase["seconds_per_step"] is None else value(phase["seconds_per_step"], digits=3)


def _experiment(a: Assessment) -> list[Any]:
    """The one next thing to try, and what each outcome of it would mean."""
    e = a.next_experiment
    return [Words(sentence(e.do), "do"), Facts([("If right", e.expect_if_right), ("If wrong", e.expect_if_wrong)], "expect")]


def counted(a: Assessment) -> str:
    """How many patterns were ruled out, could not be decided and were not logged, in one line."""
    told = (("absent", "ruled out"), ("unclear", "could not be decided"), ("not_logged", "not logged"))
    counts = [(sum(f.outcome == outcome for f in a.findings), words) for outcome, words in told]
    return f"{len(a.findings)} patterns: {listed([f'{n} {words}' for n, words in counts if n])}."


def _looked_at(run: Run, a: Assessment, cards: _Cards) -> Iterator[Fold]:
    """All that was looked at: what was weighed, what was not decided, ruled out or seen, what was read."""
    folds = (
        Fold("What was weighed", _weighed(a), "weighed"),
        Fold("Could not be decided", [cards.of(f) for f in _of(a, "unclear")], "unclear", bulk=True),
        Fold("Ruled out", _lines(a.ruled_out), "ruled-out", bulk=True),
        Fold("Could not be seen", _lines(a.could_not_see), "could-not-see", bulk=True),
        Fold("What was read", [Lines(_read(run))], "read"),
    )
    return (fold for fold in folds if fold.blocks)


def _weighed(a: Assessment) -> list[Any]:
    """What spoke for the verdict and what against it, the weightiest first."""
    ours = sorted(((e.weight if e.for_ == a.verdict else -abs(e.weight), e.says) for e in a.evidence), reverse=True)
    sides = _lines([says for weight, says in ours if weight > 0][:OPEN], "For")
    sides += _lines([says for weight, says in ours[::-1] if weight <= 0][:OPEN], "Against, or for another")
    return [*sides, *([Words('"About" marks a level over several points; other numbers are logged values.', "note")] if ours else [])]


def _lines(items: Sequence[str], title: str = "") -> list[Lines]:
    return [Lines(items, title)] if items else []


def _read(run: Run) -> list[str]:
    """What the document rests on."""
    known = sum(c.mapped for c in run.curves.values())
    return [
        f"Framework: {', '.join(run.frameworks) or 'not recognised'}; formats: {', '.join(run.formats)}; files: {len(run.files)}",
        f"Curves: {known} with a known meaning, {len(run.curves) - known} without",
        f"Samples: {len(run.rollouts)}; telemetry rows: {len(run.telemetry)}; checkpoints: {len(run.checkpoints)}",
    ]


def _deliverables(run: Run) -> list[str]:
    """What a finished run should leave behind: what was found among what was read, and what was not."""
    found = context(run)
    sides = {side: [name for part in found.values() for name in part[side]] for side in ("there", "missing")}
    return [f"{side.capitalize()}: {listed(names)}" for side, names in sides.items() if names]
