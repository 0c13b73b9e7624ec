"""All dialects. A new one is one file and one entry here; an unknown one passes through."""

from nanobench.agent.gateway.dialects import errors
from nanobench.agent.gateway.dialects.anthropic import ANTHROPIC
from nanobench.agent.gateway.dialects.base import Dialect
from nanobench.agent.gateway.dialects.errors import ErrorDocument, ErrorTable
from nanobench.agent.gateway.dialects.google import GOOGLE
from nanobench.agent.gateway.dialects.ollama import OLLAMA
from nanobench.agent.gateway.dialects.openai_chat import OPENAI_CHAT
from nanobench.agent.gateway.dialects.openai_responses import OPENAI_RESPONSES
from nanobench.model.signals import ErrorClass

DIALECTS: tuple[Dialect, ...] = (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GOOGLE, OLLAMA)


def find_dialect(method: str, route: str) -> Dialect | None:
    """The dialect that a request is in; null when it is none that is known.

    Args:
        method: of the request; only POST asks a model.
        route: path after the base URL; a query does not matter.
    """
    path = route.partition("?")[0]
    if method != "POST":
        return None
    return next((dialect for dialect in DIALECTS if dialect.route.search(path)), None)


def classify_error(status: int, error: ErrorDocument, dialect: Dialect | None) -> ErrorClass:
    """The class of an error, by its dialect's table and then by all: vendors mix them."""
    return errors.classify(status, error, _tables(dialect))


def classify_http_error(status: int, body: str) -> ErrorClass:
    """The class of an error whose dialect is not known.

    Args:
        status: HTTP status; 200 for an error body under a good one.
        body: the body's text; need not be JSON.
    """
    return classify_error(status, errors.read_error(body), None)


def classify_message(message: str) -> ErrorClass | None:
    """The class that an error text alone gives away, or null."""
    return errors.classify_message(message, _tables(None))


def _tables(dialect: Dialect | None) -> list[ErrorTable]:
    own = [dialect.errors] if dialect else []
    return own + [other.errors for other in DIALECTS if other is not dialect]
