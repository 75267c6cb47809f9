"""Any provider as an advisor: what its module says of its wire is joined with the one driver, its failures told in the driver's words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rl_advisor.advisors import builtin
from rl_advisor.advisors.model.failures import failure
from rl_advisor.advisors.model.session import ModelOptions, advise
from rl_advisor.advisors.model.turns import Ask, Busy, Conversation, Entry, Unavailable
from rl_advisor.advisors.model.wire import bounded
from rl_advisor.assessment import Assessment
from rl_advisor.output.errors import install
from rl_advisor.run import Run

TIMEOUT = 300.0
"""Seconds without a word from the provider."""


@dataclass(frozen=True)
class Provider:
    """What is a provider's own: its clients come from one generator, so their errors bear the same names."""

    name: str
    """Of the advisor, and of the extra that brings the client library."""
    model: str
    """Asked where nobody names one."""
    libraries: Callable[[], tuple[Any, Any, type[Exception]]]
    """The client library, the HTTP library below it, and the client's own error; raises ImportError where they are not installed."""
    client: Callable[[Any, ModelOptions, dict[str, Any]], Any]
    """Library, wishes, and what every client is set up with -> a client, or None where there is no key."""
    send: Callable[[Any, ModelOptions, Conversation], Entry]
    """One turn; raises ValueError or the library's own errors."""


def advisor(provider: Provider) -> Callable[..., Assessment]:
    """The provider's ``assess``."""

    def assess(run: Run, **wished: Any) -> Assessment:
        """The model's assessment of a run as it stands; the built-in one, saying so, when the model cannot be asked or fails.

        ``wished`` are ``ModelOptions``: ``model``, ``base_url`` of a server of one's own, ``max_cost`` in US dollars, ``max_tokens`` of
        everything sent and written, ``transcript`` to resume from.
        """
        options = ModelOptions.of(provider.model, wished)
        return advise(provider.name, run, builtin.assess(run), lambda known: connect(provider, known), options)

    return assess


def connect(provider: Provider, wished: ModelOptions) -> Ask:
    """The function that asks the model.

    Raises:
        Unavailable: the client library or the key is missing.
    """
    try:
        library, http, wrong = provider.libraries()
    except ImportError:
        raise Unavailable(f"its client library is not installed: {install(provider.name)}") from None
    common = {"max_retries": 0, "timeout": TIMEOUT, "base_url": wished.base_url, "http_client": bounded(http, TIMEOUT)}
    try:
        client = provider.client(library, wished, common)
    except wrong as error:
        raise Unavailable(f"its client could not be set up ({type(error).__name__})") from None
    if client is None:
        raise Unavailable(f"there is no key; set {provider.name.upper()}_API_KEY")

    def ask(conversation: Conversation) -> Entry:
        try:
            return provider.send(client, wished, conversation)
        except library.APIStatusError as error:
            raise failure(error.status_code, error.response.headers, getattr(error, "code", None) or error.type) from error
        except (library.APIError, http.HTTPError) as error:
            raise Busy(f"the connection failed ({type(error).__name__})") from error
        except (ValueError, AssertionError) as broken:
            # The clients' own words for a stream that ends too early or is no JSON.
            raise Busy("the provider's answer was no message") from broken

    return ask
