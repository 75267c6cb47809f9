"""The picture inside an assistant: a real host page speaks the messages of MCP Apps to it, in a frame as hosts make them."""

import json

import anyio
import pytest
from mcp.client import Client
from rl_advisor.server.build import build
from rl_advisor.server.picture import ADDRESS

HOST = """<!doctype html><meta charset=utf-8><iframe id=app sandbox="allow-scripts" style="width:100%%;height:600px"></iframe><script>
  const heard = [], page = %s;
  const app = document.getElementById("app");
  addEventListener("message", ({ source, data }) => {
    if (source !== app.contentWindow) return;
    heard.push(data);
    const tell = (message) => source.postMessage({ jsonrpc: "2.0", ...message }, "*");
    if (data.method === "ui/initialize")
      tell({ id: data.id, result: { protocolVersion: "2026-01-26", hostCapabilities: { serverResources: {} },
        hostInfo: { name: "t", version: "1" }, hostContext: { theme: "dark" } } });
    if (data.method === "ui/notifications/initialized")
      tell({ method: "ui/notifications/tool-input", params: { arguments: { run: "grpo run/a", until: 40 } } });
    if (data.method === "resources/read")
      tell(page === null ? { id: data.id, error: { code: -32002, message: "no such run" } }
        : { id: data.id, result: { contents: [{ uri: data.params.uri, mimeType: "text/html", text: page }] } });
  });
  app.srcdoc = %s;
</script>"""


@pytest.fixture(scope="session")
def app() -> str:
    """The document as a client reads it from the server."""

    async def asked() -> str:
        async with Client(build(["."])) as client:
            return str((await client.read_resource(ADDRESS)).contents[0].text)

    return anyio.run(asked)


def inlined(text: object) -> str:
    """JSON that may stand in a script."""
    return json.dumps(text).replace("</", "<\\/")


@pytest.mark.parametrize("width", [320, 1024])
def test_the_run_is_drawn_in_the_frame(browser, app, report, width: int) -> None:
    """The tool's arguments become one request for that run's page; its verdict stands there, nothing is loaded, no script of it runs."""
    page = browser.new_page(viewport={"width": width, "height": 700})
    asked = []
    page.on("request", lambda r: asked.append(r.url))
    page.set_content(HOST % (inlined(report.read_text(encoding="utf-8")), inlined(app)))
    frame = page.frame_locator("#app")
    frame.locator("h1").first.wait_for()
    heard = page.evaluate("heard")
    assert [m["params"]["uri"] for m in heard if m.get("method") == "resources/read"] == ["run://grpo%20run/a/page.html?until=40"]
    assert [m["method"] for m in heard if "method" in m].count("ui/notifications/initialized") == 1
    assert any(m.get("method") == "ui/notifications/size-changed" and m["params"]["height"] > 300 for m in heard)
    assert frame.locator("svg").count() > 0
    assert frame.locator("body script").count() == 0
    assert frame.locator("html").evaluate("e => getComputedStyle(e).colorScheme") == "dark"
    assert frame.locator("html").evaluate("e => e.scrollWidth - e.clientWidth") <= 1
    assert [url for url in asked if not url.startswith(("about:", "data:"))] == []


def test_a_refusal_is_said_in_words(browser, app) -> None:
    """A run that may not be read leaves the answer in words."""
    page = browser.new_page()
    page.set_content(HOST % ("null", inlined(app)))
    frame = page.frame_locator("#app")
    frame.get_by_text("the answer in words stands above").wait_for()
