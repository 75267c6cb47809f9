"""Any provider as an advisor: what its module says of its wire is joined with the one driver, its failures told in the driver's words.

The line leads to the server that was named and to no other, and an answer on it has an end. A request that fails and may do later is made
again by the client itself, as late as the provider asks for.
"""

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

from rl_advisor.finding import Assessment
from rl_advisor.output import Answer
from rl_advisor.output.errors import install
from rl_advisor.run import Run
from rl_advisor.tools.advisors import builtin
from rl_advisor.tools.advisors.model.session import ModelOptions, advise
from rl_advisor.tools.advisors.model.turns import Ask, Conversation, Entry, Unavailable

TIMEOUT, AGAIN = 300.0, 4
"""Seconds without a word from the provider, and how often a request is made again."""


Client = Callable[[ModelOptions, Answer], Any]
"""Wishes, and what every client is set up with -> a client, or None where there is no key; a provider's own."""
Send = Callable[[Any, ModelOptions, Conversation], Entry]
"""One turn, a provider's own; raises ValueError or the library's errors: clients come from one generator, so these bear the same names."""


def advisor(name: str, model: str, client: Client, send: Send) -> Callable[..., Assessment]:
    """A provider's ``assess``; ``name`` is that of the advisor, the client library and its extra, ``model`` the one asked by default."""

    def assess(run: Run, **wished: Any) -> Assessment:
        """The model's assessment of a run as it stands; the built-in one, saying so, when the model cannot be asked or fails.

        ``wished`` are ``ModelOptions``: ``model``, ``base_url`` of a server of one's own, ``max_cost`` in US dollars, ``max_tokens`` of
        everything sent and written, ``transcript`` to resume from.
        """
        options = ModelOptions.of(model, wished)
        return advise(name, run, builtin.assess(run), lambda: connect(name, client, send, options), options)

    return assess


def connect(name: str, make: Client, send: Send, wished: ModelOptions) -> Ask:
    """The function that asks the model.

    Raises:
        Unavailable: the client library or the key is missing.
    """
    try:
        import httpx2 as http

        library = import_module(name)
    except ImportError:
        raise Unavailable(f"its client library is not installed: {install(name)}") from None
    common = {"max_retries": AGAIN, "timeout": TIMEOUT, "base_url": wished.base_url, "http_client": bounded(http, TIMEOUT)}
    try:
        client = make(wished, common)
    except Exception as error:  # noqa: BLE001 - the client's own, of which each library has another
        raise Unavailable(f"its client could not be set up ({type(error).__name__})") from None
    if client is None:
        raise Unavailable(f"there is no key; set {name.upper()}_API_KEY")

    def ask(conversation: Conversation) -> Entry:
        try:
            return send(client, wished, conversation)
        except library.APIStatusError as error:
            raise Unavailable(refusal(error.status_code, getattr(error, "code", None) or error.type)) from error
        except (library.APIError, http.HTTPError) as error:
            raise Unavailable(f"the connection failed ({type(error).__name__})") from error
        except (ValueError, LookupError, TypeError, AttributeError) as broken:  # what came is no JSON, or none of the provider's
            raise Unavailable("the provider's answer was no message") from broken

    return ask


def refusal(status: int, kind: str | None) -> str:
    """What an answer of that status means; ``kind`` is the provider's own name of the error."""
    if kind in ("insufficient_quota", "billing_error") or status == 402:
        return "the account has no quota left"
    if status in (408, 409, 429) or status >= 500:
        return f"the provider stayed busy ({status})"
    return f"the provider refused the key ({status})" if status in (401, 403) else f"the provider refused the request ({status} {kind})"


LONGEST_ANSWER = 8 << 20
"""Bytes of one answer, with all that a stream wraps around its words: a token takes some 300, and a turn writes 8,000."""

_trusted = cache(lambda http: http.create_ssl_context())
"""The certificates of this machine's authorities, which take longer to read than a question takes to ask."""


def bounded(http: Any, seconds: float) -> Any:
    """A client of the library ``http`` that follows no redirect, and fails where an answer grows longer than any, or is packed."""

    class Stream(http.SyncByteStream):  # type: ignore[misc]
        """The bytes of an answer, counted."""

        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            """Each piece; raises the library's ``ReadError`` behind the last that is allowed."""
            came = 0
            for piece in self._stream:
                came += len(piece)
                if came > LONGEST_ANSWER:
                    raise http.ReadError("the answer came to no end")
                yield piece

        def close(self) -> None:
            self._stream.close()

    def counted(answer: Any) -> None:
        if answer.headers.get("Content-Encoding", "identity") != "identity":
            raise http.ReadError("the answer is packed, which nobody asked for")
        answer.stream = Stream(answer.stream)

    asked = {"headers": {"Accept-Encoding": "identity"}, "event_hooks": {"response": [counted]}}
    return http.Client(verify=_trusted(http), timeout=seconds, follow_redirects=False, **asked)
