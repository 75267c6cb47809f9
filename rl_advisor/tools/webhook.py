"""Posts a change to an address that somebody named: JSON, no detours, each under a name of its own."""

import http.client
import json
import urllib.error
import urllib.request
from typing import Any

_TIMEOUT = 10.0


class _NoDetour(urllib.request.HTTPRedirectHandler):
    """A post that is sent elsewhere arrives there as a question without its content, so it counts as refused."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def posted(url: str, change: dict[str, Any]) -> str:
    """Nothing when the server took the change, that is, answered 2xx; else why it did not."""
    kind = {"Content-Type": "application/json", "Idempotency-Key": change["id"]}
    try:
        request = urllib.request.Request(url, json.dumps(change).encode(), kind)  # noqa: S310 - the scheme was looked at
        with urllib.request.build_opener(_NoDetour).open(request, timeout=_TIMEOUT):
            return ""
    except urllib.error.HTTPError as refused:
        refused.close()
        return f"it answered {refused.code}"
    except (OSError, http.client.HTTPException, ValueError) as failed:
        return type(failed.reason if isinstance(failed, urllib.error.URLError) else failed).__name__
