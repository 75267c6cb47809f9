"""The picture of judged runs for hosts that show one (MCP Apps, ``io.modelcontextprotocol/ui``); for all others the text is the answer.

The document is the same for every run and loads nothing: the host hands it the tool's arguments and answer, and it asks for the page of
that run, or of those compared, as a resource. Nothing of it reaches the model's context.
"""

from pathlib import Path

from mcp.server.apps import Apps, ResourceCsp

ADDRESS = "ui://rl-advisor/run.html"
SHOWN_BY = {tool: {"ui": {"resourceUri": ADDRESS}} for tool in ("assess_run", "compare_runs", "triage_runs")}
"""Tool -> what its description tells a host of the picture that goes with its answer."""
_CARRIED = {"/* plots */": "uplot.min.js", "/* acting */": "report.js"}
"""Scripts of the page that the document brings itself."""


def pictures() -> Apps:
    """The extension that serves the document."""
    apps, html = Apps(), Path(__file__).with_name("picture.html").read_text(encoding="utf-8")
    for place, script in _CARRIED.items():
        html = html.replace(
            place, (Path(__file__).parents[1] / "answers" / "reports" / "html" / "assets" / script).read_text(encoding="utf-8")
        )
    apps.add_html_resource(ADDRESS, html, name="run picture", title="The picture of judged runs", csp=ResourceCsp(), prefers_border=True)
    return apps
