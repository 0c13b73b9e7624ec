"""What never gets into a cassette: keys, and the provider's address."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from nanobench.agent.gateway.route import Upstream

KEY_MARK, HOST_MARK = b"<key>", b"<host>"
_SHORTEST_KEY = 8  # "none", "ollama" and the like are no secrets, and stand in innocent texts
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
_SAFE_HEADER = re.compile(
    r"content-type|retry-after(-ms)?|x-should-retry|(x|anthropic)-ratelimit-[a-z-]+"
)


class Scrubber:
    """Takes the secrets of one provider out of texts and headers."""

    def __init__(self, upstream: Upstream) -> None:
        secrets = {upstream.api_key or ""}
        for name, value in upstream.headers.items():
            if _SECRET_HEADER.search(name):
                secrets |= {value, value.rpartition(" ")[2]}
        long = sorted((s for s in secrets if len(s) >= _SHORTEST_KEY), key=len, reverse=True)
        self._secrets = [secret.encode() for secret in long]
        address = urlsplit(upstream.base_url)
        hosts = [address.netloc.rpartition("@")[2], address.hostname or ""]
        self._hosts = [host.encode() for host in hosts if host]

    def secrets(self, content: bytes) -> bytes:
        """The text without keys."""
        for secret in self._secrets:
            content = content.replace(secret, KEY_MARK)
        return content

    def body(self, status: int, content: bytes) -> bytes:
        """A reply's body without keys, and where it is an error without the host.

        A good reply is the model's, whose code may well name a provider's address.
        """
        content = self.secrets(content)
        if status >= 400:
            for host in self._hosts:
                content = content.replace(host, HOST_MARK)
        return content

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers that are worth keeping; names in lower case."""
        return {
            name.lower(): self.secrets(value.encode("utf-8", "replace")).decode()
            for name, value in sorted(headers.items())
            if _SAFE_HEADER.fullmatch(name.lower())
        }
