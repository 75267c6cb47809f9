"""The picture of a judged run for hosts that show one (MCP Apps, ``io.modelcontextprotocol/ui``); for all others the text is the answer.

The document is the same for every run and loads nothing: the host hands it the tool's arguments, and it asks for the page of that run as a
resource. Nothing of it reaches the model's context.
"""

from pathlib import Path

from mcp.server.apps import Apps, ResourceCsp

ADDRESS = "ui://rl-advisor/run.html"
SHOWN_BY = {"assess_run": {"ui": {"resourceUri": ADDRESS}}}
"""Tool -> what its description tells a host of the picture that goes with its answer."""


def pictures() -> Apps:
    """The extension that serves the document."""
    apps = Apps()
    html = Path(__file__).with_name("picture.html").read_text(encoding="utf-8")
    apps.add_html_resource(ADDRESS, html, name="run picture", title="The picture of a judged run", csp=ResourceCsp(), prefers_border=True)
    return apps
