"""Posts a change to an address that somebody named: JSON, no detours, each under a name of its own."""

import http.client
import json
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

from rl_advisor.output.errors import UsageError

_TIMEOUT = 10.0


class _NoDetour(urllib.request.HTTPRedirectHandler):
    """A post that is sent elsewhere arrives there as a question without its content, so it counts as refused."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def posted(url: str, change: dict[str, Any]) -> str:
    """Nothing when the server took the change, that is, answered 2xx; else why it did not."""
    kind = {"Content-Type": "application/json", "Idempotency-Key": change["id"]}
    try:
        request = urllib.request.Request(url, json.dumps(change).encode(), kind)  # noqa: S310 - `Post` looked at the scheme
        with urllib.request.build_opener(_NoDetour).open(request, timeout=_TIMEOUT):
            return ""
    except urllib.error.HTTPError as refused:
        refused.close()
        return f"it answered {refused.code}"
    except urllib.error.URLError as failed:
        return type(failed.reason).__name__
    except (OSError, http.client.HTTPException, ValueError) as failed:
        return type(failed).__name__


class Post:
    """Posts changes to an address in their order; says once why one is not taken. The address may be a secret and is not repeated."""

    def __init__(self, url: str | None, who: str) -> None:
        """Raises UsageError for an address that is not of the web."""
        if url and not url.startswith(("http://", "https://")):
            raise UsageError("--webhook takes an address that begins with http:// or https://")
        self.url, self._who, self._refused = url, who, ""

    def left(self, changes: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
        """What was not taken, from the first refusal on; nothing where nobody is posted to."""
        for at, change in enumerate(changes if self.url else ()):
            if why := posted(str(self.url), change):
                if why != self._refused:
                    sys.stderr.write(f"rl-advisor: {self._who}: the webhook took no post ({why}); it is tried again\n")
                self._refused = why
                return tuple(changes[at:])
            self._refused = ""
        return ()
