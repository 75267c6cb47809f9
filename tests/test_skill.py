"""The skill: it keeps the format's rules, its pages exist, and its list of patterns says what the detectors say.

``python tests/test_skill.py`` writes that list from the detectors' own manual pages.
"""

import json
import re
import sys
from itertools import groupby

import pytest
import yaml
from rl_advisor.detectors import HEADINGS, Detector, patterns
from rl_advisor.output import shipped
from rl_advisor.output.budget import tokens
from rl_advisor.settings.priors import table
from rl_advisor.vocabulary import METRICS, Link

FOLDER = shipped.folder("skills") / shipped.SKILL
PAGES = shipped.skill_pages()
BODY = PAGES["SKILL.md"]
PATTERNS = FOLDER / "references" / "patterns.md"
_HEAD = """# Patterns

Written by `python tests/test_skill.py` from the detectors; change a detector's page, not this one. Patterns stand in the
order of the loop. Each answer is `present`, `absent` (measured and not there), `unclear` or `not_logged`; the last two are no answer.
A pattern names what was seen; what it is worth in this run is yours to judge.
"""


def patterns_page() -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    for link, group in groupby(patterns().values(), key=lambda d: d.link):
        parts.append(f"## {str(link.value).replace('_', ' ')}\n")
        parts += map(_entry, group)
    return "\n".join(parts)


def _entry(detector: Detector) -> str:
    """One pattern: what it is, then its manual page under the fixed headings."""
    needs = " and ".join(" or ".join(f"`{name}`" for name in need.split("|")) for need in detector.needs) or "nothing in particular"
    page = detector.page
    told = [f"- **{heading}**: {page[heading]}" for heading in HEADINGS if heading != "Source"]
    return "\n".join([f"### {detector.name}", f"{page['Title']} Needs {needs}.", "", *told, ""])


def test_the_head_keeps_the_rules_of_the_format():
    """Name, description and licence are as long and as spelled as the format allows, and nothing else is there."""
    head = yaml.safe_load(BODY.split("---", 2)[1])
    assert set(head) == {"name", "description", "license"}
    assert head["name"] == FOLDER.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", head["name"])
    assert len(head["name"]) <= 64
    assert "Use when" in head["description"]
    assert len(head["description"]) <= 1024


def test_the_body_is_short_enough_to_be_read_at_once():
    """The first page fits the budget of the format; details stand in the references."""
    assert BODY.count("\n") < 500
    assert tokens(BODY) < 5000
    assert len(BODY.split()) <= 1287, "two thirds of what it had when it was told to be shorter"


@pytest.mark.parametrize(
    ("said", "metric", "given"),
    [
        (r"language: learning rate (\S+) to (\S+) \(", "policy/learning_rate", {"method": "language", "weights": "full"}),
        (r"LoRA (\S+) to ([^)\s]+)\)", "policy/learning_rate", {"method": "language", "weights": "lora"}),
        (r"\), clip fraction to (\S+),", "ratio/clip_fraction", {"method": "language"}),
        (r"KL an update to (\S+),", "kl/old", {"method": "language"}),
        (r"KL to the reference to (\S+),", "kl/ref", {"method": "language"}),
        (r"truncated to (\S+) %", "response/truncated", {"method": "language"}),
        (r"entropy (\S+) to (\S+) nats", "entropy/mean", {"method": "language"}),
        (r"control: learning rate (\S+) to (\S+),", "policy/learning_rate", {"method": "ppo"}),
        (r"control: [^.]*clip fraction to ([\d.]+\d)", "ratio/clip_fraction", {"method": "ppo"}),
    ],
)
def test_what_the_skill_calls_usual_is_what_the_table_of_priors_says(said, metric, given):
    """The first page quotes the ranges that the tools judge by."""
    found = re.search(said, BODY)
    assert found, said
    row = next(r for r in table()[metric] if {k: v for k, v in vars(r.given).items() if v} == given)
    bounds = [float(x) / (100 if "%" in said else 1) for x in found.groups()]
    assert bounds == pytest.approx(list(row.usual if len(bounds) == 2 else row.usual[1:]))


def test_every_reference_is_named_and_every_named_one_exists():
    """Nobody is sent to a page that is not there, and no page is forgotten."""
    named = set(re.findall(r"`(references/[\w.-]+\.md)`", BODY))
    assert named == set(PAGES) - {"SKILL.md"}
    inner = {f"references/{name}" for page in PAGES.values() for name in re.findall(r"`([\w-]+\.md)`", page)}
    assert inner <= named | {"references/SKILL.md"}


def test_the_list_of_patterns_is_what_the_detectors_say():
    """Written by `python tests/test_skill.py`; run it again after changing a detector's page."""
    assert PATTERNS.read_text(encoding="utf-8") == patterns_page()


def test_the_loop_is_told_in_the_order_of_the_vocabulary():
    """The table of links in the skill has the same links in the same order as the code."""
    rows = re.findall(r"^\| ([a-z, ]+) \|", BODY.split("## The loop")[1].split("## What broke")[0], re.MULTILINE)
    words = [row.replace(", ", "_").replace(" ", "_") for row in rows if row != "link"]
    assert words == [link.value for link in Link]


def test_trigger_queries_have_both_kinds():
    """Half of the queries are near-misses that must not start the skill, and none is there twice."""
    queries = json.loads((FOLDER / "evals" / "triggers.json").read_text())["queries"]
    wanted = [q["query"] for q in queries if q["should_trigger"]]
    refused = [q["query"] for q in queries if not q["should_trigger"]]
    assert len(set(wanted + refused)) == len(queries)
    assert min(len(wanted), len(refused)) >= 10


def test_what_the_skill_sends_people_to_exists():
    """Tools, commands and metric names in the skill and the prompts are real."""
    from rl_advisor import tools
    from rl_advisor.cli.commands import main

    text = BODY + "".join(p.read_text() for p in shipped.folder("prompts").glob("*.md"))
    for name in set(re.findall(r"`((?:list|load|summarize|spot|gpu|assess|compare)_\w+)`", text)):
        assert callable(getattr(tools, name)), name
    assert set(re.findall(r"`rl-advisor (\w+)", text)) <= set(main.commands)
    assert set(re.findall(r"`((?:reward|policy|kl|entropy)/\w+)`", BODY)) <= set(METRICS)


def test_the_skill_names_every_tool_that_the_server_lists():
    """No tool is left for the reader to find, and the scripts that the skill names are there."""
    from rl_advisor.answers.verbs import verbs

    assert {name for name, verb in verbs().items() if not verb.bench and f"`{name}`" not in BODY} == set()
    assert all((FOLDER / script).is_file() for script in re.findall(r"`(scripts/[\w.]+)`", BODY))


if __name__ == "__main__":
    PATTERNS.write_text(patterns_page(), encoding="utf-8")
    sys.stdout.write(f"{PATTERNS.name}: {len(patterns())} patterns\n")
