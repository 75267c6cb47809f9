"""The HTML report in a real browser: zoom, evidence, keyboard, widths, colours, no request, no accessibility fault."""

import re
import select
import socket
from pathlib import Path

import pytest

AXE = (Path(__file__).parents[1] / "data" / "browser" / "axe.min.js").read_text(encoding="utf-8")
LOOKS = [(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")]


@pytest.fixture
def opened(browser, report):
    """Opens the report at a width and colour scheme; keeps requests and errors of each page."""
    contexts = []

    def open_page(width=1280, scheme="light", path=report, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.heard = {"requests": [], "errors": []}
        page.on("request", lambda r: page.heard["requests"].append(r.url))
        page.on("pageerror", lambda e: page.heard["errors"].append(str(e)))
        page.on("console", lambda m: page.heard["errors"].append(m.text) if m.type in ("error", "warning") else None)
        page.goto(path.as_uri(), wait_until="domcontentloaded")
        page.wait_for_selector(".uplot canvas")
        return page

    yield open_page
    for context in contexts:
        context.close()


def zoomed(page) -> tuple[int, int]:
    """The steps that all curves show; the whole run when nothing is zoomed."""
    said = page.evaluate("document.body.dataset.zoom")
    return tuple(int(x) for x in said.split("-")) if said else ()


def soon(page, expression: str) -> bool:
    """Whether the expression becomes true before long; the page's own policy forbids what playwright waits with."""
    look = f"let n = 0; const look = () => ({expression}) ? done(true) : n++ > 20_000 ? done(false) : requestAnimationFrame(look); look()"
    return page.evaluate(f"() => new Promise(done => {{ {look} }})")


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_page_fits_and_passes_axe(opened, width, scheme) -> None:
    """At phone and desktop width, light and dark: nothing scrolls sideways, no script fails, axe finds no fault, nothing is requested."""
    page = opened(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(AXE)
    faults = page.evaluate("axe.run(document).then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target).join(' ')))")
    assert faults == []
    assert page.heard == {"requests": [page.url], "errors": []}


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_first_curve_stands_in_the_first_screen(opened, width, height) -> None:
    """Without scrolling the outcome's whole panel is seen, on a laptop and on a phone, and what to do stands beside or below it."""
    page = opened(width)
    page.set_viewport_size({"width": width, "height": height})
    assert page.evaluate("document.querySelector('.hero .panel svg').getBoundingClientRect().bottom") < height
    assert page.evaluate("document.querySelector('.story dd').getBoundingClientRect().bottom") < height


def test_colours_follow_the_scheme(opened) -> None:
    """The paper is light on a light system and dark on a dark one, and the curves are drawn anew."""
    page = opened()
    shade = "getComputedStyle(document.body).backgroundColor"
    picture = "document.querySelector('.uplot canvas').toDataURL()"
    light, drawn = page.evaluate(shade), page.evaluate(picture)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(shade)
    assert sum(map(int, re.findall(r"\d+", light))) > 600
    assert sum(map(int, re.findall(r"\d+", dark))) < 200
    assert soon(page, f"{picture} !== {drawn!r}")


def test_dragging_zooms_all_curves_and_double_click_resets(opened) -> None:
    """A drag over the middle of one curve shows these steps in every curve; a double click shows the whole run again."""
    page = opened()
    page.locator(".plot").nth(1).scroll_into_view_if_needed()
    before = [c.screenshot() for c in page.locator(".plot").all()[:2]]
    box = page.locator(".plot .u-over").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 60, steps=5)
    page.mouse.up()
    low, high = zoomed(page)
    assert 110 <= low <= 130 and 170 <= high <= 190
    assert "steps" in page.locator("#range").inner_text()
    after = [c.screenshot() for c in page.locator(".plot").all()[:2]]
    assert all(a != b for a, b in zip(before, after, strict=True))
    page.mouse.dblclick(box["x"] + 100, box["y"] + 50)
    assert zoomed(page) == ()


def test_crosshair_is_shared(opened) -> None:
    """Pointing at one curve reads out the same step in the others."""
    page = opened()
    page.locator(".plot").first.scroll_into_view_if_needed()
    box = page.locator(".plot .u-over").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    assert soon(page, "[...document.querySelectorAll('.readout')].slice(0, 3).every(o => o.textContent.startsWith('step'))")
    steps = [int(t) for t in re.findall(r"step (\d+)", " ".join(page.locator(".readout").all_inner_texts()[:3]))]
    assert max(steps) - min(steps) <= 10


def test_keyboard_reads_and_zooms(opened) -> None:
    """With a curve in focus the arrows move the line, plus zooms, shift and arrow move on, Escape shows everything."""
    page = opened()
    plot = page.locator(".plot").first
    plot.focus()
    page.keyboard.press("ArrowRight")
    first = page.locator(".readout").first.inner_text()
    page.keyboard.press("ArrowRight")
    assert first.startswith("step") and page.locator(".readout").first.inner_text() != first
    page.keyboard.press("+")
    low, high = zoomed(page)
    assert high - low == 150
    page.keyboard.press("Shift+ArrowRight")
    assert zoomed(page)[0] > low
    page.keyboard.press("Escape")
    assert zoomed(page) == ()


def test_tab_reaches_the_verdict_first(opened) -> None:
    """The first stop of the tabulator jumps over the contents to the verdict."""
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.wait_for_url("**#main")


@pytest.mark.parametrize("width", [390, 1280])
def test_evidence_jumps_to_the_curve_and_marks_it(opened, width) -> None:
    """A finding's evidence leads to its curve: in view, in focus, marked, with the steps shaded."""
    page = opened(width)
    link = page.locator("#findings a.evidence[href^='#curve-']").first
    target = link.get_attribute("href")
    canvas = f"document.querySelector('{target} canvas').toDataURL()"
    before = page.evaluate(canvas)
    link.click()
    assert page.evaluate("document.activeElement.closest('figure').id") == target[1:]
    assert "lit" in page.locator(target).get_attribute("class")
    assert page.evaluate(f"document.querySelector('{target}').getBoundingClientRect().top < innerHeight")
    assert soon(page, f"{canvas} !== {before!r}")


def test_evidence_in_samples_and_buttons_work(opened) -> None:
    """Evidence in the samples leads to them; the buttons zoom in, move, and show the whole run."""
    page = opened(390)
    page.locator("#findings > details.fold > summary").last.click()
    page.locator("#findings a.evidence[href='#samples']").first.click()
    assert page.evaluate("document.activeElement.id") == "samples"
    page.get_by_role("button", name="Zoom in").click()
    low, _ = zoomed(page)
    page.get_by_role("button", name="Earlier steps").click()
    assert zoomed(page)[0] < low
    page.get_by_role("button", name="Whole run").click()
    assert zoomed(page) == ()


@pytest.mark.parametrize("locked", [True, False])
def test_policy_stops_planted_script(opened, report, tmp_path, locked) -> None:
    """A script and an image planted into the file do nothing under its policy, and do act once the policy is taken out."""
    page_text = report.read_text(encoding="utf-8")
    if not locked:
        page_text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page_text)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        image = f"<img src='http://127.0.0.1:{listening.getsockname()[1]}/x.png'>"
        path = tmp_path / "planted.html"
        path.write_text(page_text.replace("</main>", f"<script>document.title='owned'</script>{image}</main>"), encoding="utf-8")
        page = opened(path=path)
        asked, _, _ = select.select([listening], [], [], 0.2 if locked else 5)
    assert (page.title() == "owned", bool(asked)) == (not locked, not locked)


def test_readable_without_script(browser, report) -> None:
    """Without script the verdict, findings and what could not be seen still stand there."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    said = page.inner_text("main")
    context.close()
    assert all(part in said for part in ("Collapsed", "learning rate jump", "What was checked", "Next test"))


def test_prints(opened) -> None:
    """Printed, the page becomes a document of several pages in which the controls are gone."""
    page = opened(scheme="dark")
    page.emulate_media(media="print")
    assert not page.locator(".tools").is_visible()
    assert page.locator("h1").is_visible()
    assert page.pdf().startswith(b"%PDF")


def test_folds_open_for_evidence_and_for_paper(opened) -> None:
    """The long lists are folded on the screen, open on paper, and what a link leads to is never left inside a fold."""
    page = opened()
    folds = "[...document.querySelectorAll('details.fold')].map(f => f.open)"
    assert page.evaluate(folds) and not any(page.evaluate(folds))
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("[...document.querySelectorAll('details.fold')].every(f => f.open !== Boolean(f.closest('.bulk')))")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not any(page.evaluate(folds))
    page.locator("details.fold summary").first.click()
    assert page.evaluate(folds)[0]


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_page_on_several_runs_fits_and_passes_axe(browser, tmp_path, width, scheme) -> None:
    """Several runs side by side: nothing scrolls sideways, axe finds no fault, nothing is requested."""
    from rl_advisor.tools.report_file import write_comparison

    runs = [Path(__file__).parents[1] / "data" / "corpus" / "runs" / f"run-0{i}" for i in (1, 2)]
    page_file = write_comparison(runs, tmp_path / "compared.html")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, asked = context.new_page(), []
    page.on("request", lambda r: asked.append(r.url))
    page.goto(page_file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(AXE)
    faults = page.evaluate("axe.run(document).then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target).join(' ')))")
    context.close()
    assert faults == []
    assert asked == [page_file.as_uri()]
