"""Requests that the gateway answers itself, without a provider."""

from nanobench.agent.gateway.dialects.base import ErrorText


class RefusedError(Exception):
    """A request that is answered with an error of ours, in its dialect, and never tried again."""

    def __init__(self, status: int, error: ErrorText) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error
