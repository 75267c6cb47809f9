"""Samples as a page of text: what they say, what changed, one prompt early and late, then the samples themselves and the figures."""

import textwrap
from collections.abc import Iterable
from typing import Any

from rl_advisor.output.layout import Answer, filled, gaps, number, page_width, said, spark, table

CHANGES, WORDS, COLUMNS = 8, 8, 8
"""Most rows of changes, words of a kind, and steps of the table."""
_KINDS = (
    ("highest", "best rewarded"),
    ("lowest", "worst rewarded"),
    ("random", "random, latest step"),
    ("newest_failures", "newest failures that had a better twin"),
    ("longest", "longest"),
)


def samples_page(answer: Answer) -> Iterable[str]:
    """The lines of the page, the telling first."""
    counted = answer["responses"]
    if counted["count"]:
        span = (
            f"step {number(counted['first'])}"
            if counted["steps"] == 1
            else f"steps {number(counted['first'])} to {number(counted['last'])}"
        )
        yield f"{said(answer['run'])}: {counted['count']} responses at {counted['steps']} steps, {span}"
    if code := answer.get("reward_code"):
        yield from ("", "== the reward's code", *(line for told in code["says"] for line in filled(said(told))))
    yield from _audit(answer.get("audit"))
    yield from _says(answer)
    yield from _failures(answer.get("failures"))
    yield from _changes(answer["changes"], answer["step"] is not None)
    yield from _pair(answer.get("contradicting", []), "one prompt, two answers, both paid the most", ("one", "other"))
    yield from _pair(answer.get("early_late", []), "the same prompt, early and late", ("early", "late"))
    yield from _pair(answer.get("contrast", []), f"one group at step {number(answer['step'])}, better and worse paid", ("better", "worse"))
    for kind, title in _KINDS:
        if answer.get(kind):
            yield from ("", f"== {title}")
            yield from (line for sample in answer[kind] for line in _sample(sample))
    yield ""
    yield from (line for part in ("paid_for", "credit") for told in answer.get(part, {}).get("says", ()) for line in filled(told))
    yield from _reward(answer["reward"])
    yield from _words(answer["statistics"].get("words", {}))
    yield from _by_step(answer["statistics"].get("steps", []))
    yield from gaps(answer)


def _failures(found: Answer | None) -> Iterable[str]:
    """Why episodes failed, and of each reason but a wrong answer the words that show it."""
    if not found:
        return
    yield from ("", "== why episodes failed")
    yield from (line for told in found["says"] for line in filled(told))
    for name, reason in found["reasons"].items():
        shown, quote = reason["shown"], said(reason["shown"]["quote"])
        if quote and name != "wrong answer":
            yield from filled(f'  {name}, {said(shown["source"])} row {shown["row"]}, {said(shown["where"])}: "{quote}"')


def _audit(found: Answer | None) -> Iterable[str]:
    """How common each reason for suspicion is, and the samples that have most of them."""
    if not found:
        return
    yield from ("", f"== audit of {found['audited']} samples")
    for reason, r in sorted(found["reasons"].items(), key=lambda item: -item[1]["share"]):
        if r["count"]:
            yield f"{_percent(r['share'])} ({_percent(r['low'])} to {_percent(r['high'])}) {said(reason)}: {r['count']}"
    for bias, r in found["judge"].items():
        yield f"the reward differs by {_between(r, 'difference')} with {bias}"
    for other, r in found["ranking"].items():
        yield f"inside groups the reward orders {_between(r, 'share')} of the pairs as {said(other)} does; half is chance"
    for sample in found["suspicious"]:
        name = f"{said(sample['id'])}, " if "id" in sample else ""
        where = f"{name}{said(sample['source'])} row {sample['row']}, step {number(sample['step'])}, reward {number(sample['reward'])}"
        yield from filled(f"- {where}: {'; '.join(map(said, sample['reasons']))}")
    yield from (f"cannot tell: {why}" for why in found.get("cannot_tell", []))


def _says(answer: Answer) -> Iterable[str]:
    present = [f for f in answer["says"] if f["outcome"] == "present"]
    unclear = [f for f in answer["says"] if f["outcome"] == "unclear"]
    if answer["responses"]["count"]:
        text = answer["step"] is not None
        none = ": no known fault stands out" if text else ": nothing, they hold no text; what follows is about their rewards"
        yield from ("", f"== what the samples say{'' if present else none}")
    for found in present:
        when = found.get("onset")
        since = f" (from step {number(when['step'])}, between {number(when['low'])} and {number(when['high'])})" if when else ""
        yield from filled(f"! {found['pattern'].replace('_', ' ')}{since}: {said(found['statement'])}")
    for found in unclear:
        yield from filled(f"? {found['pattern'].replace('_', ' ')}: {said(found['statement'])}")


def _changes(found: Answer, counted: bool) -> Iterable[str]:
    """The largest changes since the first samples."""
    if "measures" not in found:
        if found.get("cannot_tell") and counted:
            yield from ("", f"== what changed: cannot tell, {found['cannot_tell']}")
        return
    first, latest = (
        f"{number(found[k]['from'])}" + (f"-{number(found[k]['to'])}" if found[k]["to"] > found[k]["from"] else "")
        for k in ("first", "latest")
    )
    rows = found["measures"]
    yield ""
    if not rows:
        yield f"== what changed from step {first} to {latest}: nothing by more than chance"
        return
    yield f"== what changed from step {first} to {latest}, by more than chance, largest first"
    head = ("", "first", "latest", "change, 95 %", "from step", "the reward follows it")
    yield from table([head], [_change(row) for row in rows[:CHANGES]])


def _change(row: Answer) -> tuple[str, ...]:
    when, pay = row.get("onset"), row.get("reward_follows")
    low, high = row["interval"]
    return (
        row["measure"].replace("_", " "),
        number(row["first"]),
        number(row["latest"]),
        f"{number(low)} to {number(high)}",
        number(when["step"]) if when else "",
        _between(pay, "rank_correlation") if pay else "",
    )


def _pair(pairs: list[Answer], title: str, ends: tuple[str, str]) -> Iterable[str]:
    if pairs:
        yield from ("", f"== {title}")
        yield from _sample(pairs[0][ends[0]])
        yield from _sample(pairs[0][ends[1]], prompt=False)


def _sample(sample: Answer, prompt: bool = True) -> Iterable[str]:
    parts = [f"step {number(sample['step'])}", f"reward {number(sample['reward'])}"]
    parts += [f"{k} {number(v)}" for k, v in sample.get("components", {}).items() if len(sample["components"]) > 1]
    parts += [f"{k} {number(sample[k])}" for k in ("length", "tool_calls") if sample.get(k) is not None]
    parts += ["cut"] if sample.get("truncated") else []
    parts += [f"group {sample['group']}"] if isinstance(sample["group"], str) else []
    parts += [f"{said(sample['source'])} row {sample['row']}"]
    yield "-- " + ", ".join(parts)
    for part in ("prompt", "response") if prompt else ("response",):
        text = said(sample[part]) if sample.get(part) else ""
        yield from (f"   {part[0]}| {line}" for row in text.splitlines() for line in textwrap.wrap(row, page_width() - 6) or [""])


def _reward(found: Answer) -> Iterable[str]:
    """The audit in sentences."""
    if "histogram" not in found:
        yield f"reward: {', '.join(found.get('cannot_tell', ['no sample has one']))}"
        return
    h = found["histogram"]
    extremes = f"{_percent(h['share_at_max'])} at the highest value, {_percent(h['share_at_min'])} at the lowest"
    values = f"{number(h['min'])} to {number(h['max'])}, median {number(h['median'])}"
    yield from filled(f"reward of {found['responses']} responses: {values}, {extremes}  {spark(h['counts'])}")
    if "groups" in found:
        g = found["groups"]
        flat = (
            f"{_percent(g['share_flat'])} of {g['count']} groups have no spread ({_percent(g['flat_low'])} to {_percent(g['flat_high'])})"
        )
        yield from filled(f"  {flat}: {_percent(g['share_all_best'])} all best, {_percent(g['share_all_worst'])} all worst")
    yield from (line for told in _follows(found) for line in filled(f"  {told}"))


def _follows(found: Answer) -> Iterable[str]:
    """What the reward goes with: length, agreement, other judgements, its parts, and whether it is the same for the same text."""
    for key, words in (("against_length", "length"), ("against_consensus", "agreement with the other answers, early")):
        if key in found:
            r = found[key]
            yield f"among responses to one prompt it follows {words}: {_between(r, 'rank_correlation')}, {r['groups']} groups"
    if "length_by_decile" in found:
        yield "length by tenth of reward: " + ", ".join(f"{number(d['reward'])}: {number(d['tokens'])}" for d in found["length_by_decile"])
    for name, r in found.get("against_reference", {}).items():
        went = f"{said(name)} went from {number(r['mean_first_step'])} to {number(r['mean_last_step'])}"
        late = number(r["latest_rank_correlation"])
        yield f"against {said(name)}: rank correlation {number(r['rank_correlation'])}, of the latest {late}; {went}"
    for name, c in found.get("components", {}).items():
        went = f"from {number(c['mean_first_step'])} to {number(c['mean_last_step'])}"
        yield f"part {said(name)}: {_percent(c['share_of_spread'])} of the spread, {went}"
    same = found.get("same_text")
    if same and same["share_different_reward"]:
        yield f"{_percent(same['share_different_reward'])} of {same['sets']} sets of identical responses got different rewards"


def _between(row: Answer, key: str) -> str:
    return f"{number(row[key])} ({number(row['low'])} to {number(row['high'])})"


def _percent(share: Any) -> str:
    return f"{100 * share:.0f} %" if isinstance(share, int | float) else number(share)


def _words(found: Answer) -> Iterable[str]:
    titles = {
        "late_against_early": ("words that came", "words that went"),
        "high_against_low_reward": ("words of high reward", "of low reward"),
    }
    for key, ends in titles.items():
        for title, rows in zip(ends, (found.get(key, {}).get("more"), found.get(key, {}).get("less")), strict=True):
            if rows:
                yield from filled(f"{title}: " + ", ".join(said(w["word"]) for w in rows[:WORDS]))


def _by_step(rows: list[Answer]) -> Iterable[str]:
    """Text statistics at no more than eight steps, first and last among them, those that ever differ."""
    if not rows:
        return
    rows = [rows[round(i * (len(rows) - 1) / (min(len(rows), COLUMNS) - 1 or 1))] for i in range(min(len(rows), COLUMNS))]
    names = [n for n in dict.fromkeys(k for r in rows for k in r) if n != "step" and len({r.get(n) for r in rows}) > 1]
    yield ""
    yield from table([("by step", *(number(r["step"]) for r in rows))], [(n, *(number(r.get(n, "")) for r in rows)) for n in names])
