"""Reports: what stands in them, in which order, and that a hostile run's words stay words."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rl_advisor.answers.reports import html, markdown
from rl_advisor.api import assess
from rl_advisor.output.clean import readable
from rl_advisor.reading import read_run
from rl_advisor.run import Checkpoint, Curve, Gap, Run

ORDER = [
    "Evidence",
    "Samples",
    "Next test",
    "What was checked",
    "What was weighed",
    "Could not be decided",
    "Ruled out",
    "Could not be seen",
    "What was read",
]
LAST = "Reproducibility checklist"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&`[x](javascript:alert(3))\u202e\x1b[31m"
VOID = {"meta", "rect", "path", "br"}


class Parts(HTMLParser):
    """The tags, attributes and texts of a page, and whether its tags close in order."""

    def __init__(self, page: str) -> None:
        """The parts of a page."""
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.inside: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag that opens."""
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag that closes itself."""
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Check that the last opened tag closes."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Keep words apart from scripts and styles."""
        if self.open and self.open[-1] in ("script", "style"):
            key = self.open[-1] + (" data" if self.tags[-1][1].get("type") else "")
            self.inside[key] = self.inside.get(key, "") + data
        else:
            self.words.append(data)


@pytest.fixture(scope="module")
def judged():
    """The bundled run and its assessment."""
    run = read_run(Path(__file__).parents[1] / "examples" / "grpo-run")
    return run, assess(run)


@pytest.fixture(scope="module")
def page(judged) -> str:
    """Its HTML report."""
    return html.render(*judged)


def hostile_run() -> Run:
    """A run whose metric, file, checkpoint and sample texts all try to break out."""
    step = np.arange(40.0)
    names = ("reward/mean", f"eval/score/{HOSTILE}", f"loss {HOSTILE}")
    curves = {n: Curve(n, n, f"{HOSTILE}.csv", step, np.linspace(0.1, 0.9, 40) + i, mapped=i < 2) for i, n in enumerate(names)}
    rows = [
        {"step": s, "prompt": HOSTILE, "response": HOSTILE * (1 + s), "reward": float(s), "group": str(s), "source": HOSTILE}
        for s in (1, 2)
    ]
    return Run(
        name=HOSTILE,
        curves=curves,
        rollouts=pd.DataFrame(rows),
        checkpoints=(Checkpoint(30, HOSTILE),),
        config={HOSTILE: HOSTILE},
        gaps=(Gap(HOSTILE, HOSTILE),),
        files=(HOSTILE,),
        formats=("csv",),
        step_unit=HOSTILE,
    )


def test_both_reports_say_the_same_in_the_same_order(judged, page) -> None:
    """Markdown and HTML carry verdict, call, statements, blind spots and checklist, section after section."""
    run, a = judged
    text = markdown.render(run, a)
    said = " ".join(Parts(page).words)
    flat = text.replace("\\", "")
    in_text = [min(text.index(start + t) for start in ("## ", "<summary>") if start + t in text) for t in (*ORDER, LAST)]
    in_page = [
        min(page.index(f"{close}{t}</{end}>") for close, end in ((">", "h2"), (">", "summary")) if f"{close}{t}</{end}>" in page)
        for t in (*ORDER, LAST)
    ]
    assert in_text == sorted(in_text) and in_page == sorted(in_page)
    assert page.index("<h1>") < page.index('class="hero') < page.index(">Evidence</h2>") < page.index(">More curves</h2>")
    for line in (a.verdict, a.call, a.best_checkpoint.path or ""):
        assert line in flat.lower() or line in flat
        assert line in said or line.capitalize() in said
    for line in ("eval_accuracy from 0.926 to 0, best level 0.934 at step 120", "The learning rate rises"):
        assert line in flat and line in said
    assert all(
        sample in text and sample in said for sample in ("9 + 8 + 0 = 1 7", "Best rewarded", "Worst rewarded", "Random, latest step")
    )
    there, missing = (line for line in text.splitlines() if line.startswith(("- There:", "- Missing:")))
    assert "report on a private test set" in missing and "seed" in there


def test_page_is_small_whole_and_asks_for_nothing(page) -> None:
    """The page closes what it opens, is far below 2.5 MB and names no address but those inside itself."""
    parts = Parts(page)
    assert parts.open == []
    assert len(page.encode()) < 400_000
    links = [a[k] for _, a in parts.tags for k in ("href", "src", "action", "data", "poster") if k in a]
    assert links and all(link.startswith("#") for link in links)
    ids = [a["id"] for _, a in parts.tags if "id" in a]
    assert len(ids) == len(set(ids)) and {link[1:] for link in links} <= set(ids)
    assert "@import" not in parts.inside["style"] and "url(" not in parts.inside["style"]


def test_policy_names_exactly_our_script_and_style(page) -> None:
    """Everything is forbidden but one script and one style, named by their hash, also after the writer's last cleaning."""
    written = readable(page, 20_000_000)
    assert written == page
    parts = Parts(written)
    policy = next(a["content"] for t, a in parts.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy and "http" not in policy
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(parts.inside[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not [a for _, a in parts.tags if any(k.startswith("on") or k == "style" for k in a)]


def test_data_of_the_curves_is_binned_and_marked(judged, page) -> None:
    """The script's data hold at most 512 bins a curve, low below high, with the first break and the best checkpoint of the assessment."""
    _, a = judged
    data = json.loads(Parts(page).inside["script data"])
    assert data["best"] == a.best_checkpoint.step and data["onset"][0] == a.onset.step
    names = [c["name"] for c in data["curves"]]
    cited = {e["metric"] for f in a.findings if f.outcome == "present" for e in f.evidence} - {"rollouts"}
    assert names[0].startswith("eval/score/") and cited <= set(names) and len(names) == len(set(names)) <= 16
    for curve in data["curves"]:
        assert 2 <= len(curve["x"]) <= 512 and curve["x"] == sorted(curve["x"])
        assert all(low <= y <= high for low, y, high in zip(curve["low"], curve["y"], curve["high"], strict=True))


def test_a_long_curve_stays_small() -> None:
    """A curve of a hundred thousand points comes as 512 bins, and the page stays small."""
    step = np.arange(100_000.0)
    run = Run(name="long", curves={"reward/mean": Curve("reward/mean", "r", "f", step, np.sin(step / 9e3), mapped=True)})
    page = html.render(run, assess(run))
    assert len(json.loads(Parts(page).inside["script data"])["curves"][0]["x"]) == 512
    assert len(page) < 300_000


def test_hostile_words_stay_words() -> None:
    """Markup in run, metric, file, checkpoint and sample names stays text: no foreign tag, attribute or script, nothing hidden."""
    run = hostile_run()
    a = assess(run)
    page = html.render(run, a)
    parts = Parts(page)
    assert parts.open == []
    assert not {"img", "iframe", "object", "embed", "base", "form", "link"} & {t for t, _ in parts.tags}
    assert [t for t, _ in parts.tags].count("script") == 2 and "alert(1)" not in parts.inside["script"]
    assert not [a for _, a in parts.tags if any(k.startswith("on") for k in a)]
    assert all(a["href"].startswith("#") for _, a in parts.tags if "href" in a)
    assert "alert(1)" in " ".join(parts.words) and "\u202e" not in page and "\x1b" not in page
    assert HOSTILE[:30] in json.dumps(json.loads(parts.inside["script data"]), ensure_ascii=False)
    plain = re.sub(r"(?m): `[^`\n]*`$", "", markdown.render(run, a))  # in code nothing acts
    assert not re.search(r"(?<!\\)<(script|img)", plain) and not re.search(r"(?<!\\)\]\(javascript", plain)


def test_run_without_curves_samples_or_telemetry_still_gets_a_page() -> None:
    """Nothing read: the page says what could not be seen and draws no curve, samples or GPU strip."""
    run = Run(name="empty")
    page = html.render(run, assess(run))
    said = " ".join(Parts(page).words)
    assert "Undecidable" in said and "What was checked" in said
    assert not any(f'id="{part}"' in page for part in ("curves", "samples", "gpu", "findings"))
    assert Parts(page).open == []


def test_phases_of_a_step_are_a_table(judged) -> None:
    """With the trainer's own timers the page shows the phases with their shares."""
    run, _ = judged
    step = np.arange(1.0, 31.0)
    timed = {"time/step": 10.0, "time/phase/generation": 6.0, "time/phase/training": 3.0}
    curves = {n: Curve(n, n, "f", step, np.full(30, v), mapped=True) for n, v in timed.items()}
    whole = replace(run, curves={**run.curves, **curves})
    page = html.render(whole, assess(whole))
    assert re.search(r'aria-label="Table: Phases of a step".*generation</th><td>60\s% \(60\s% to 60\s%\)', page, re.DOTALL)


def test_first_break_comes_first_and_is_named(judged, page) -> None:
    """Both reports begin their findings with the first break, say so at it, and go on in the order of the onsets."""
    run, a = judged
    said = markdown.render(run, a).partition("## Evidence")[2].partition("##")[0].strip().splitlines()
    assert said[0].startswith("- first break: **learning rate jump**")
    assert sum("first break" in line for line in said) == 1
    cards = page.partition('id="findings"')[2].partition("</section>")[0]
    assert cards.index("learning rate jump") < cards.index("truncation") < cards.index("repetition loops")


def test_samples_in_markdown_call_nobody() -> None:
    """Text of a run stands as code in one line: no fence, link, mention or heading of it is one."""
    rows = [
        {
            "step": 1,
            "prompt": "p",
            "response": "@everyone `x` https://a.example\n# Title\n- [x](y)",
            "reward": r,
            "group": "g",
            "source": "s",
        }
        for r in (0.0, 1.0)
    ]
    run = replace(hostile_run(), rollouts=pd.DataFrame(rows))
    lines = [line for line in markdown.render(run, assess(run)).splitlines() if "@everyone" in line]
    assert lines
    for line in lines:
        inside = line.partition("`")[2]
        assert inside.endswith("`") and inside.count("`") == 1
        assert "@everyone" in inside


@pytest.mark.parametrize("name", ["https://a.example/reward", "www.a.example/reward", "@octocat/reward", "x@a.example", "HTTP://a.example"])
def test_addresses_in_names_are_parted_in_markdown(name: str) -> None:
    """No bare address stands in one piece, and no person is called; what merely holds such a sign stays as it is."""
    said = markdown.inert(f"eval/{name}, (again {name})")
    assert not re.search(r"://|(?i:www)\.|@\w", said)
    assert said.replace("<!-- -->", "").count(name) == 2
    assert markdown.inert("pass@1 of a.b at 3:4") == "pass@1 of a.b at 3:4"
