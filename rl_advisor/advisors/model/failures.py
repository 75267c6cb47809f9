"""What a failed request means, whoever the provider is: it is asked again, after how long, or there is no sense in it."""

import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

from rl_advisor.advisors.model.turns import Busy, Unavailable

PASSING = frozenset({408, 409, 429})
NO_MONEY = frozenset({"insufficient_quota", "billing_error"})


def failure(status: int, headers: Mapping[str, str], kind: str | None) -> Busy | Unavailable:
    """What to raise for an answer of that status; ``kind`` is the provider's own name of the error."""
    if kind in NO_MONEY or status == 402:
        return Unavailable("the account has no quota left")
    # An error in the middle of a stream comes under the stream's own 200.
    if status in PASSING or status >= 500 or status < 400:
        return Busy(f"the provider answered {status}", wait(headers))
    if status in {401, 403}:
        return Unavailable(f"the provider refused the key ({status})")
    return Unavailable(f"the provider refused the request ({status} {kind or ''})".replace(" )", ")"))


def wait(headers: Mapping[str, str]) -> float | None:
    """The seconds that the provider asks for, said in milliseconds, seconds or as a date; None when it does not say."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, scale * float(headers[name]))
        except (KeyError, ValueError):
            continue
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - time.time())
