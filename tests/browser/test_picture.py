"""The picture inside an assistant: a real host page speaks the messages of MCP Apps to it, in a frame as hosts make them."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from rl_advisor.server.build import build
from rl_advisor.server.picture import ADDRESS

ROOT = Path(__file__).parents[2]
HOST = """<!doctype html><meta charset=utf-8><iframe id=app sandbox="allow-scripts" style="width:100%%;height:600px"></iframe><script>
  const heard = [], given = %s;
  const app = document.getElementById("app");
  const tell = (message) => app.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  addEventListener("message", ({ source, data }) => {
    if (source !== app.contentWindow) return;
    heard.push(data);
    if (data.method === "ui/initialize")
      tell({ id: data.id, result: { protocolVersion: "2026-01-26", hostCapabilities: given.can,
        hostInfo: { name: "t", version: "1" }, hostContext: given.context } });
    if (data.method === "ui/notifications/initialized") {
      if (given.input) tell({ method: "ui/notifications/tool-input", params: { arguments: given.input } });
      if (given.result) tell({ method: "ui/notifications/tool-result", params: given.result });
    }
    if (data.method === "tools/call") tell({ id: data.id, result: given.tools[data.params.name] });
    if (data.method === "resources/read")
      setTimeout(() => tell(given.pages[data.params.uri] === undefined ? { id: data.id, error: { code: -32002, message: "no such run" } }
        : { id: data.id, result: { contents: [{ uri: data.params.uri, mimeType: "text/html", text: given.pages[data.params.uri] }] } }),
        given.slow ?? 0);
  });
  app.srcdoc = %s;
</script>"""
BOTH: dict[str, Any] = {"can": {"serverResources": {}, "serverTools": {}}, "context": {"theme": "dark"}, "tools": {}, "pages": {}}


@pytest.fixture(scope="session")
def served() -> dict[str, Any]:
    """The document as a client reads it from the server, and what the server answers of the bundled run and the small corpus."""

    async def asked() -> dict[str, Any]:
        async with Client(build([ROOT / "examples", ROOT / "evals/corpus/second/runs"])) as client:
            two = [row["run"] for row in (await client.call_tool("list_runs", {})).structured_content["runs"]][-2:]
            pages = ["run://grpo-run/page.html", "run://grpo-run/page.html?until=100", f"runs://{','.join(two)}/page.html"]
            texts = {uri: (await client.read_resource(uri)).contents[0].text for uri in pages}
            calls = {"assess_run": {"run": "grpo-run"}, "compare_runs": {"runs": two}, "list_runs": {}, "triage_runs": {"rows": 3}}
            told = {name: (await client.call_tool(name, args)).model_dump(by_alias=True, mode="json") for name, args in calls.items()}
            return {"app": (await client.read_resource(ADDRESS)).contents[0].text, "pages": texts, "tools": told, "two": two}

    return anyio.run(asked)


def inlined(text: object) -> str:
    """JSON that may stand in a script."""
    return json.dumps(text).replace("</", "<\\/")


def shown(browser: Any, served: dict[str, Any], width: int = 1024, scheme: str = "light", **given: Any) -> Any:
    """A host's page that shows the document after a tool was called."""
    page = browser.new_page(viewport={"width": width, "height": 700}, color_scheme=scheme)
    page.asked, page.wrong = [], []
    page.on("request", lambda r: page.asked.append(r.url))
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.set_content(HOST % (inlined({**BOTH, "pages": served["pages"], "tools": served["tools"]} | given), inlined(served["app"])))
    return page


@pytest.mark.parametrize("width", [320, 1024])
def test_the_run_is_drawn_in_the_frame(browser, served, width: int) -> None:
    """The tool's arguments become one request for that run's page; its verdict and its curves stand there, and nothing is loaded."""
    page = shown(browser, served, width, input={"run": "grpo-run", "until": 100})
    frame = page.frame_locator("#app")
    frame.locator("h1").first.wait_for()
    heard = page.evaluate("heard")
    assert [m["params"]["uri"] for m in heard if m.get("method") == "resources/read"] == ["run://grpo-run/page.html?until=100"]
    assert [m["method"] for m in heard if "method" in m].count("ui/notifications/initialized") == 1
    frame.locator(".plot canvas").first.wait_for()
    assert frame.locator(".plot canvas").count() == frame.locator(".plot").count()
    page.wait_for_function("heard.some((m) => m.method === 'ui/notifications/size-changed' && m.params.height > 300)")
    assert frame.locator("svg").count() > 0
    assert frame.locator("html").evaluate("e => e.scrollWidth - e.clientWidth") <= 1
    assert [url for url in page.asked if not url.startswith(("about:", "data:"))] == []
    assert page.wrong == []


def test_a_host_that_is_dark_on_a_light_machine_gets_a_dark_picture(browser, served) -> None:
    """Colours of the host count before the page's own, and what it changes later counts at once."""
    context = {"theme": "dark", "styles": {"variables": {"--color-background-primary": "rgb(1, 2, 3)"}}}
    page = shown(browser, served, input={"run": "grpo-run"}, context=context)
    frame = page.frame_locator("#app")
    frame.locator(".plot canvas").first.wait_for()
    assert frame.locator("body").evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(1, 2, 3)"
    assert frame.locator("body").evaluate("e => getComputedStyle(e).color") == "rgb(232, 234, 237)"
    page.evaluate("tell({ method: 'ui/notifications/host-context-changed', params: { theme: 'light' } })")
    page.wait_for_function("true")
    assert frame.locator("body").evaluate("e => getComputedStyle(e).color") == "rgb(28, 33, 39)"
    assert frame.locator(".plot canvas").count() == frame.locator(".plot").count()
    assert page.wrong == []


def test_the_answer_is_drawn_before_the_page_has_come(browser, served) -> None:
    """A run of a million points takes the server its time; what the tool answered does not wait for it."""
    page = shown(browser, served, input={"run": "grpo-run"}, result=served["tools"]["assess_run"], slow=3_000)
    frame = page.frame_locator("#app")
    frame.get_by_text("grpo-run: collapsed, stop.").wait_for()
    assert frame.locator("h1").count() == 0
    frame.locator("h1").first.wait_for()
    assert frame.get_by_text("grpo-run: collapsed, stop.").count() == 0


def test_another_run_is_chosen_from_the_list_by_keys(browser, served) -> None:
    """The host is asked for the list and for the page alone: no message and no context for the model."""
    other = served["tools"]["list_runs"]["structuredContent"]["runs"][1]["run"]
    pages = {
        **served["pages"],
        f"run://{other}/page.html": "<title>x</title><body class=good><main id=main><h1>The other</h1></main></body>",
    }
    page = shown(browser, served, input={"run": "grpo-run"}, pages=pages)
    frame = page.frame_locator("#app")
    frame.locator(".plot canvas").first.wait_for()
    box = frame.locator("#runs")
    box.wait_for()
    box.select_option(other)
    frame.get_by_text("The other").wait_for()
    box.select_option("grpo-run")
    frame.locator(".plot canvas").first.wait_for()
    link = frame.locator("nav a").last
    link.focus()
    page.keyboard.press("Enter")
    assert frame.locator("h1").first.is_visible()
    assert page.url == "about:blank"
    assert not {m.get("method") for m in page.evaluate("heard")} & {"ui/message", "ui/update-model-context", "ui/open-link"}
    assert page.wrong == []


def test_compared_runs_and_triaged_ones_are_shown_the_same_way(browser, served) -> None:
    page = shown(browser, served, 320, input={"runs": served["two"]}, result=served["tools"]["compare_runs"])
    frame = page.frame_locator("#app")
    frame.get_by_text("2 runs side by side").first.wait_for()
    assert frame.locator("html").evaluate("e => e.scrollWidth - e.clientWidth") <= 1
    told = served["tools"]["triage_runs"]
    first = told["structuredContent"]["runs"][0]["run"]
    pages = {f"run://{first}/page.html": "<title>x</title><body class=good><main id=main><h1>Opened</h1></main></body>"}
    page = shown(browser, served, 320, input={"rows": 3}, result=told, pages=pages)
    frame = page.frame_locator("#app")
    frame.locator(".rows button").first.wait_for()
    assert frame.locator(".rows tbody tr").count() == len(told["structuredContent"]["runs"])
    assert frame.locator("html").evaluate("e => e.scrollWidth - e.clientWidth") <= 1
    frame.locator(".rows button").first.press("Enter")
    frame.get_by_text("Opened").wait_for()
    frame.locator("#back").press("Enter")
    frame.locator(".rows button").first.wait_for()
    assert page.wrong == []


def test_a_refusal_is_said_in_words(browser, served) -> None:
    """A run that may not be read leaves the answer in words, and so does a host that hands on no resources."""
    page = shown(browser, served, input={"run": "no/such"})
    page.frame_locator("#app").get_by_text("the answer in words stands above").wait_for()
    page = shown(browser, served, input={"run": "grpo-run"}, can={}, result=served["tools"]["assess_run"])
    page.frame_locator("#app").get_by_text("grpo-run: collapsed, stop.").wait_for()
    page = shown(
        browser, served, input={"run": "x"}, result={"isError": True, "content": [{"type": "text", "text": "Not one of the runs."}]}
    )
    page.frame_locator("#app").get_by_text("Not one of the runs.").wait_for()
