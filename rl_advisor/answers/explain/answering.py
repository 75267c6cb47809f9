"""The question that came with the lines, answered first: is this number normal, why NaN, does it learn, what does it mean, why so slow."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rl_advisor.answers.explain.metrics import UNKNOWN, metrics
from rl_advisor.answers.explain.pasted import SET
from rl_advisor.answers.explain.told import by_frameworks, curve_of, told_in
from rl_advisor.answers.explain.words import explain_word
from rl_advisor.answers.explain.written import NUMBER, bare, shown
from rl_advisor.answers.templates import sentences
from rl_advisor.discovery import table
from rl_advisor.finding import Finding, number
from rl_advisor.judgement.proofs.rows import Rows
from rl_advisor.output.wording import percent
from rl_advisor.run import Curve
from rl_advisor.settings.priors import prior

_ASKS = re.compile(r"[^?\n]{3,300}\?|\b[Ww]hy\b[^!?.\n]{3,200}")
_NOT_FINITE = re.compile(r"\b(nan|inf|infinite|not finite)\b", re.IGNORECASE)
_SLOW = re.compile(
    r"\b(slow(er|ly)?|speed|fast(er)?|how long|tak(es?|ing) (so|too) long|seconds?|minutes?|throughput|bottleneck"
    r"|(long|much|more|most|(step|training|wall|generation|rollout|iteration|update)([ _-]|ing )?)times?|(long|much|more|most) time"
    r"|time (per|cost|goes|go|is|does)|(where|how)\b.{0,30}\btime)\b",
    re.IGNORECASE,
)
_MEANS = re.compile(r"(?i)\b(what|which|mean(s|ing)?(?! (rewards?|returns?|scores?|episode|length|value))|define|stand(s)? for)\b")
_CHOICE = re.compile(
    r"(?i)\b(what|which|how (large|high|big|small))\b.{0,60}\b(should|use|good|best|recommend\w*|right|choose|set|typical|usual)\b"
    r"|\b(good|recommended|best|usual|typical|right) (value|setting)"
)
_GOOD = re.compile(
    r"\b(\w*rewards?\b.{0,30}\b(smaller|lower|fall\w*|drop\w*|decreas\w*)|learn\w*|progress\w*|improv\w*|converg\w*|work\w*|good|well|healthy|normal|ok(ay)?|right|rational|expected|wrong|fine)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Asked:
    """A question and all that may answer it."""

    question: str
    rows: Rows
    told: Sequence[dict[str, Any]]
    proven: Sequence[Finding]

    @property
    def words(self) -> Sequence[str]:
        """The words of the question that may be names."""
        return re.findall(r"[A-Za-z_][\w/]{1,40}", self.question)[:40]


def question_in(text: str) -> str:
    """The last questions that a text asks beside its lines; empty where it asks none."""
    return " ".join(m.strip() for m in _ASKS.findall(text[-4_000:])[-2:] if len(m.split()) >= 3)


def answered(asked: Asked, *, advised: bool = False) -> str:
    """The answer, in at most three sentences; empty where nothing that is known answers the question.

    Where a procedure answers (``advised``), only what the numbers themselves say.
    """
    kinds = (
        (_NOT_FINITE, _why_not_finite),
        (_SLOW, lambda a: where_time_goes(a.rows)),
        (re.compile(""), lambda a: _of_values(a, judged=advised)),
        (_CHOICE, _to_choose),
        *(() if advised else ((re.compile(""), _meanings), (_GOOD, lambda a: how_it_goes(a.rows)))),
    )
    return next((said for pattern, answer in kinds if pattern.search(asked.question) and (said := answer(asked))), "")


def _to_choose(asked: Asked) -> str:
    """Which values of the settings are usual that the question asks for, and one to start from."""
    words = asked.words
    names = (" ".join(words[i : i + n]) for n in (2, 1) for i in range(len(words)))
    meant = {next(iter(ours)): name for name in names if len(ours := by_frameworks(name.lower())) == 1}
    rows = ((name, prior(ours, replace(asked.rows.around, phase="late"))) for ours, name in meant.items() if SET.search(ours))
    return " ".join(f"{name}: {row.range}, {number(row.middle)} is a start." for name, row in rows if row is not None and row.telling)


def _why_not_finite(asked: Asked) -> str:
    """Where NaN comes from, or that there is none."""
    says = next((p.statement for p in asked.proven if re.search(r"NaN|finite", p.statement)), "")
    if says or not asked.rows.run.curves:
        return says
    bad = [t["name"] for t in asked.told if t["non_finite"]]
    return f"{', '.join(bad[:3])} is not finite here." if bad else "No number in these rows is NaN."


def where_time_goes(rows: Rows) -> str:
    """The phase that takes most of a step; that none is logged where only the whole is."""
    phases = {c.raw: v for n, c in rows.family("time/phase/").items() if (v := rows.level(n))}
    step = rows.level("time/step")
    if phases:
        name, most = max(phases.items(), key=lambda row: row[1])
        whole = step or sum(phases.values())
        return f"{name} takes {number(most)} of {number(whole)} s a step ({percent(most / whole)}): start there."
    if step:
        return f"A step takes {number(step)} s. Which part of it cannot be told from these lines: log the seconds of each phase."
    timed = (c for c in rows.run.curves.values() if re.search(r"(?i)time|sec|/s$|it/s|fps|sps", c.raw) and "elapsed" not in c.raw.lower())
    return next((f"{c.raw} is {shown(c.value)}; which phase it is spent in is not in these lines." for c in timed), "")


def _of_values(asked: Asked, *, judged: bool = False) -> str:
    """Whether the metrics that the question names are normal, at the value that it gives or the lines show; ``judged``: if known."""
    given, run = _values(asked), asked.rows.run
    here = {t["metric"]: asked.rows.level(t["metric"]) for t in asked.told}
    read = {n for n, c in given.items() if (level := here.get(n)) is not None and np.isclose(c.value[-1], level, rtol=ROUNDED)}
    values = {n: c for n, c in given.items() if n not in read}
    beside = metrics(Rows(replace(run, curves={**run.curves, **values})), ()) if values else []
    valued = [t for t in beside if t["metric"] in values and t["why"] != UNKNOWN]
    hidden = "" if judged else () if _MEANS.search(asked.question) else OUTCOMES
    named = [
        t
        for t in asked.told
        if (t["metric"] in read or _named(t["name"], asked.question)) and not (t["normal"] == "unknown" and t["metric"].startswith(hidden))
    ]
    settled = {t["metric"] for t in valued}
    told = [*valued, *sorted((t for t in named if t["metric"] not in settled), key=lambda t: t["normal"] == "unknown")]
    said = {
        t["why"]: is_normal(t)
        for t in told[::-1]
        if not (judged and t["source"] and t["normal"] == "normal" and not _GOOD.search(asked.question))
    }
    return " ".join([*said.values()][::-1][:2])


def _meanings(asked: Asked) -> str:
    """What the metrics mean that the question names."""
    words = asked.words if _MEANS.search(asked.question) or not asked.told else ()
    told = (explain_word(word) for word in dict.fromkeys(words) if not _PLAIN.fullmatch(word))
    known = [w for w in told if w is not None and w["kind"] == "metric"]
    return " ".join(f"{w['word']}: {w['summary']} {w['meanings'][0]['means'].get('usual', '')}".strip() for w in known[:2])


def _values(asked: Asked) -> dict[str, Curve]:
    """The numbers that the question gives, by what they are numbers of: "reward fell from 1 to 0", or one number beside one name."""
    given = told_in(asked.question)
    numbers = re.findall(
        rf"{_NOT_BEHIND}(?:{NUMBER})(?![\w.]*\w|(?:-\d+)?{_COUNTED})",
        asked.question,
    )
    if not given and len(numbers) == 1:
        named = [(t["metric"], t["name"]) for t in asked.told if _named(t["name"], asked.question)][:1]
        named = named or [(ours, w) for w in asked.words if not _PLAIN.fullmatch(w) for ours in sorted(by_frameworks(w.lower()))][:1]
        given = {ours: curve_of(ours, raw, [float(numbers[0])]) for ours, raw in named}
    written = {t["name"].lower(): t["name"] for t in asked.told}
    return {n: replace(c, raw=written.get(c.raw.lower(), c.raw), note="") for n, c in given.items()}


ROUNDED = 0.05
"""How far a number may be rounded in a question to be the one that the lines show."""
_NOT_BEHIND = r"(?<![\w.-])(?<!below )(?<!above )(?<!step )(?<!steps )(?<!epoch )(?<!episode )(?<!iteration )"
"""What a number in a question stands behind that is a bound or a place."""
_COUNTED = r" ?(?:k |m )?(?:steps?|iter|epoch|episode|update|hour|min|sec|gpu|card|token|prompt|row|time|seed)"
"""What a number in a question counts that is no value of a metric."""
_PLAIN = re.compile("(?i)loss|rewards?|return|accuracy|score|steps?|time|mean|max|min|is|it")


def is_normal(told: Mapping[str, Any]) -> str:
    """One metric with its value, whether that is normal, why, and what is usual where the reason does not say it."""
    sort = {"normal": "normal", "unusual": "not usual", "broken": "far outside of what is possible in a sound run"}.get(told["normal"])
    if sort is None:
        return f"{told['name']} is {told['value']}: {told['meaning'] or 'a name that nobody else uses'} {told['why']}"
    beside = f" Usual: {told['usual']}." if told["usual"] and not re.search("usual|nine of ten", told["why"]) else ""
    return f"{told['name']} {told['value']} is {sort}: {told['why'].rstrip('.')}.{beside}"


def _named(raw: str, question: str) -> bool:
    """Whether a question speaks of a metric: by its whole name, or by the words of its last part."""
    tokens = [bare(w) for w in re.findall(r"[\w/.-]+", re.sub(r"['\u2019]s\b", "", question))]
    spoken = {"".join(tokens[i : i + n]) for n in (1, 2, 3) for i in range(len(tokens))}
    tail = raw.rsplit("/", maxsplit=1)[-1]
    short = re.sub(r"(?i)^(?:mean|avg|average|train|training|policy)[_ ]|[_ ](?:mean|avg)$", "", tail)
    return bool({bare(raw), bare(tail), bare(short)} & spoken)


OUTCOMES = ("eval/score/", "reward/mean", "reward/success", "pairs/accuracy", "pairs/margin")
"""What tells how well it goes, in the order in which it is asked."""


def how_it_goes(rows: Rows) -> str:
    """How the outcome went in these rows."""
    curve = next((c for n in OUTCOMES for c in rows.family(n).values()), None)
    x = curve.value[np.isfinite(curve.value)] if curve else np.empty(0)
    said = {"name": curve.raw if curve else "", "other": len(rows.run.curves), "rows": x.size}
    if x.size:
        said |= {"first": x[0], "last": x[-1], "best": x.max(), "stands": of_task(rows, float(np.median(x[-5:])))}
        said["still"] = x.size > 2 and bool(abs(x[-1] - x[0]) < np.ptp(x) <= 2 * np.median(np.abs(np.diff(x))))
    return "".join(sentences("course", said))


def of_task(rows: Rows, level: float = np.nan) -> str:
    """What a task pays that is known by name, and where a return stands there; empty for any other."""
    name = rows.run.settings.get("named_task", "")
    row = table(__file__, "tasks.toml").get(name)
    if row is None:
        return ""
    share = (level - row["untrained"]) / (row["solved"] - row["untrained"])
    over = level > 1.01 * row.get("most", np.inf) + 0.01
    return sentences("named_task", {**row, "task": name.removesuffix("-v").title(), "level": level, "share": share, "over": over})[0]
