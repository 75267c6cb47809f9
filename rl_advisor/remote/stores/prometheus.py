"""Prometheus range queries over its HTTP interface, for GPU telemetry: the copy is what the server answered, word for word."""

import os
import time
from datetime import datetime
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from rl_advisor.output.errors import UsageError
from rl_advisor.remote import guarded
from rl_advisor.remote.bounds import Bounds

ADDRESSES = ("prometheus+http://HOST:9090/?start=TIME&end=TIME[&step=SECONDS][&query=PROMQL]",)
EVERY = '{__name__=~"DCGM_FI_(DEV|PROF)_.+"}'
"""What is asked for when the address has no query: all counters of NVIDIA's exporter."""
HOUR_S, STEP_S = 3600.0, 15.0
POINTS = 10_000
"""Points of one series in one question; the server refuses more than 11,000."""
_KNOWN = {"query", "start", "end", "step"}


def claims(address: str) -> bool:
    """Whether it says so."""
    return urlsplit(address).scheme.lower() in ("prometheus+http", "prometheus+https", "prometheus")


def fetch(address: str, into: Path, bounds: Bounds) -> None:
    """One file for each ten thousand steps of the range."""
    split = urlsplit(address)
    asked = {name: values[-1] for name, values in parse_qs(split.query).items()}
    if set(asked) - _KNOWN:
        raise UsageError(f"a Prometheus address takes {', '.join(sorted(_KNOWN))}; not {', '.join(sorted(set(asked) - _KNOWN))}")
    end = _moment(asked.get("end", str(time.time())))
    start = _moment(asked.get("start", str(end - HOUR_S)))
    step = _seconds(asked.get("step", str(STEP_S)))
    if start > end:
        raise UsageError("the range starts after it ends")
    scheme = split.scheme.lower().removeprefix("prometheus+").replace("prometheus", "http")
    server = f"{scheme}://{split.netloc.rpartition('@')[2]}{split.path.rstrip('/')}/api/v1/query_range"
    at = start
    while at <= end and not bounds.stop.is_set():
        until = min(end, at + POINTS * step)
        query = urlencode({"query": asked.get("query", EVERY), "start": at, "end": until, "step": step})
        with guarded.opened(f"{server}?{query}", server, _who(split.username, split.password), stays=True) as answer:
            bounds.copy(answer, into / f"prometheus-{at:.0f}.json")
        at = until + step


def _who(user: str | None, password: str | None) -> dict[str, str]:
    """The credentials of the address, or the token of the environment."""
    import base64

    if user:
        pair = f"{unquote(user)}:{unquote(password or '')}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    token = os.environ.get("PROMETHEUS_TOKEN")
    return {"Authorization": f"Bearer {token}"} if token else {}


def _moment(text: str) -> float:
    """Seconds since the epoch, from a number or an ISO date."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise UsageError(f"a time is seconds since the epoch or like 2026-11-20T12:00:00+00:00; not {text[:40]!r}") from None


def _seconds(text: str) -> float:
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:], 0.0)
    try:
        seconds = float(text[:-1]) * unit if unit else float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise UsageError(f"a step is a number of seconds, or like 30s; not {text[:40]!r}")
    return seconds
