"""A word explained: a pattern, a check, a verdict, a metric of ours or of any framework."""

import difflib

from rl_advisor.detectors import patterns
from rl_advisor.finding import number
from rl_advisor.output import Answer
from rl_advisor.output.wording import WORDS
from rl_advisor.reading.translating import our_name
from rl_advisor.settings import checks
from rl_advisor.settings.priors import table
from rl_advisor.settings.priors.bank import known_groups
from rl_advisor.vocabulary import METRICS, metric
from rl_advisor.vocabulary.dialects import dialects


def explain_word(word: str) -> Answer | None:
    """What a pattern, check, verdict or metric of that name is; None for a word that is none of them."""
    name = word.strip().lower().replace(" ", "_").replace("-", "_")
    if name in patterns() or name in checks.registered():
        kind, page = ("pattern", patterns()[name].page) if name in patterns() else ("check", checks.page(name))
        return {"word": name, "kind": kind, "summary": page["Title"], "page": page}
    if name in WORDS["verdict"]:
        return {"word": name, "kind": "verdict", "summary": WORDS["verdict"][name]["means"], "page": {}}
    return _metric(word.strip())


def nearest(word: str) -> list[str]:
    """The known words nearest to one that is not known."""
    known = [*patterns(), *checks.registered(), *WORDS["verdict"], *METRICS]
    return difflib.get_close_matches(word.lower(), known, n=4, cutoff=0.45)


def _metric(raw: str) -> Answer | None:
    """What a metric is by each framework that logs it under that name, and which values are usual."""
    spoken = {d.name: our_name(raw, d) for d in dialects().values()}
    names = dict.fromkeys([raw] if metric(raw) else [ours for ours in spoken.values() if ours])
    if not names:
        return None
    meanings = []
    for name in names:
        known, rows = metric(name), table().get(name, ())
        ranges = [(" ".join(filter(None, vars(r.given).values())) or "any", *r.usual, r.source) for r in rows]
        ranges += [(u.among, u.low, u.high, f"{u.repositories} repositories") for u in known_groups(name)]
        meanings.append(
            {
                "metric": name,
                "meaning": known.meaning if known else "",
                "frameworks": sorted(d for d, ours in spoken.items() if ours == name)[:8],
                "ranges": [{"given": g, "usual": f"{number(low)} to {number(high)}", "source": s} for g, low, high, s in ranges],
                "means": next(({"below": r.below, "above": r.above, "usual": r.inside} for r in rows), {}),
            }
        )
    return {"word": raw, "kind": "metric", "summary": meanings[0]["meaning"], "meanings": meanings}
