"""Explained lines and checked settings as text for a terminal: the point first, then what it rests on."""

from collections.abc import Iterable

from rl_advisor.output.layout import Answer, filled, gaps, said, table


def explained_page(answer: Answer) -> Iterable[str]:
    """What pasted lines, or a word, say."""
    yield from filled(said(answer["summary"]))
    yield ""
    if "kind" in answer:
        yield from _word(answer)
        return
    yield from filled(f"Read as: {said(answer['recognised'])}.")
    if crash := answer.get("crash"):
        yield from filled(f"The error, as the text has it: {said(crash['error']['untrusted'])}")
    if answer["metrics"]:
        yield ""
        yield from table([("metric", "value", "here", "why")], [_row(m) for m in answer["metrics"]])
    for number, step in enumerate(answer["steps"], 1):
        yield ""
        yield from filled(f"{number}. {said(step['do'])}")
        yield from filled(f"   Run: {said(step['run'])}")
        yield from filled(f"   {said(step['means'])}")
    for number, cause in enumerate(answer["causes"], 1):
        yield ""
        yield from filled(f"{number}. {said(cause['cause'])} ({cause['link'].replace('_', ' ')})")
        yield from filled(f"   Why: {said(cause['because'])}")
        yield from filled(f"   Test: {said(cause['tell_apart'])}")
    if answer["not_looked_at"]:
        yield ""
        yield from filled(f"Not looked at: {said('; '.join(answer['not_looked_at']))}.")
    if answer["ask"]:
        yield ""
        yield "To say more:"
        yield from (line for a in answer["ask"] for line in filled(f"- {a['question']} It decides {a['decides']}."))


def _word(answer: Answer) -> Iterable[str]:
    for head, body in answer.get("page", {}).items():
        if head != "Title":
            yield from filled(f"{head}: {body}")
    for meaning in answer.get("meanings", []):
        yield from filled(
            f"{meaning['metric']}: {meaning['meaning']} Logged so by {', '.join(meaning['frameworks']) or 'nobody in particular'}."
        )
        yield from (line for side, text in meaning["means"].items() if text for line in filled(f"  {side}: {text}"))
        yield from (line for r in meaning["ranges"] for line in filled(f"  {r['given']}: {r['usual']} ({r['source']})"))


def _row(metric: Answer) -> tuple[str, ...]:
    why = said(metric["why"])
    return said(metric["name"]), said(metric["value"]), metric["normal"], why if len(why) <= 90 else f"{why[:87]}..."


def check_page(answer: Answer) -> Iterable[str]:
    """What settings prove."""
    told = {kind: [c for c in answer["checks"] if c["outcome"] == kind] for kind in ("fault", "note", "fine", "not_given")}
    count = f"{len(answer['settings'])} settings" + (f" of {', '.join(answer['frameworks'])}" if answer["frameworks"] else "")
    faults = len(told["fault"])
    proven = f"{faults} fault{'s' * (faults > 1)}" if faults else "no fault"
    yield f"{said(answer['run'])}: {count}; {proven}, {len(told['note'])} worth knowing"
    for check in (*told["fault"], *told["note"]):
        yield ""
        sure = ", and the log shows it" if check["confirmed"] else ""
        yield from filled(f"{check['outcome']}{sure}: {said(check['statement'])} [{check['check'].replace('_', ' ')}]")
        yield from filled(f"  Do: {said(check['do'])}") if check["do"] else ()
        yield from filled(f"  It would show as: {said(check['confirm_by'])}") if not check["confirmed"] else ()
    if told["fine"]:
        yield ""
        yield from filled(
            f"Values given and no fault in them, by these checks alone: {', '.join(c['check'].replace('_', ' ') for c in told['fine'])}."
        )
    if told["not_given"]:
        yield from filled(f"Not looked at, because nothing is given: {', '.join(c['check'].replace('_', ' ') for c in told['not_given'])}.")
    yield from gaps(answer)


def preflight_page(answer: Answer) -> Iterable[str]:
    """What is known before the first update."""
    yield "ready" if answer["ready"] else "not ready"
    yield from filled(said(answer["summary"]))
    yield ""
    yield from filled(f"Episodes: {said(answer['episodes']['says'])}")
    yield from filled(f"Rewards: {said(answer['histogram']['says'])}")
    most = max((b["count"] for b in answer["histogram"]["bins"]), default=1)
    yield from filled(f"Prompts: {said(answer['prompts']['says'])}") if answer["prompts"] else ()
    yield from (f"  {b['from']:>10.3g} {'#' * round(40 * b['count'] / most)} {b['count']}" for b in answer["histogram"]["bins"])
    yield from filled(
        f"Described: {', '.join(answer['context']['there']) or 'nothing'}. Missing: {', '.join(answer['context']['missing']) or 'nothing'}."
    )
    if answer["protocol"]["missing"]:
        yield from filled(f"Evaluation: not given are {', '.join(answer['protocol']['missing'])}.")
    if memory := answer["memory"]:
        yield from filled(
            f"Memory: about {memory['total_gib']:.0f} GiB a GPU. Reduce first: {said('; '.join(memory['reduce_first'][:2]))}."
        )
    for check in answer["checks"]:
        yield from filled(f"{check['outcome']}: {said(check['statement'])} {said(check['do'])}")
