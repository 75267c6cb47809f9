"""What runs have in common, in sentences: for the terminal, the page and the tool."""

from collections.abc import Iterator
from typing import Any

from rl_advisor.output.layout import said
from rl_advisor.output.wording import listed, percent, plain

Answer = dict[str, Any]


def sentences(found: Answer) -> Iterator[str]:
    """What can be said and what cannot, the surest first."""
    for look in found.get("settings", ()):
        yield _goes_with(look)
    if found.get("looks") and not found.get("settings"):
        yield f"None of {found['looks']} settings is significantly linked to failure ({found['failed']} of {found['runs']} runs failed)."
    failing = found.get("failing") or {}
    if failing.get("broke_first"):
        stages = [f"{plain(cause)} ({count})" for cause, count in failing["broke_first"]]
        yield f"Where the failing runs broke first: {listed(stages)}."
    if failing.get("patterns"):
        first = failing["patterns"][0]
        shares = f"{percent(first['failing'])} of the failing runs", f"{percent(first['others'])} of the others"
        yield f"{shares[0]} show {plain(first['pattern'])}, {shares[1]} do."
    if failing.get("only_there"):
        yield f"All failing runs and no other have {listed([f'`{said(k)}` as it is' for k in failing['only_there']], 4)}."
    yield from _cannot(found.get("cannot_be_told") or {})
    yield from (f"{note[0].upper()}{note[1:]}." for note in found.get("notes", ()))


def _goes_with(look: Answer) -> str:
    also = f" It always changed together with {listed([said(k) for k in look['changed_with']], 3)}." if look.get("changed_with") else ""
    low, high = (percent(look[end]) for end in ("low", "high"))
    shares = f"{percent(look['failed'])} of {look['runs']} runs fail, {percent(look['others'])} of the others"
    of = "above" if look["above"] else "="
    return f"`{said(look['setting'])}` {of} {said(look['value'])}: {shares} (difference {low} to {high}).{also}"


def _cannot(found: Answer) -> Iterator[str]:
    fixed = [f"{said(k)} {said(v)}" for k, v in (found.get("never_varied") or {}).items()]
    if fixed:
        yield f"Cannot be told, because never varied: {listed(fixed, 8)}."
    for keys in found.get("changed_together", ())[:3]:
        yield f"Cannot be told apart, because they changed together: {listed([said(k) for k in keys], 5)}."
    if found.get("without_settings"):
        yield f"{found['without_settings']} runs log no settings."
