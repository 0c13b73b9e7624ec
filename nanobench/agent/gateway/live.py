"""The wire: requests to a provider over HTTP or HTTPS."""

import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from io import BytesIO
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from nanobench.agent.gateway.route import Upstream
from nanobench.agent.gateway.transport import TransportError, TransportFailure, UpstreamRequest

_CONNECT_SECONDS = 30.0
_KEEP_ALIVE_SECONDS = 15.0  # below what servers keep, so that seldom a closed one is taken
_LONGEST_HEADER = 1 << 16
_ONE_PIECE = 1 << 19
_GZIP = b"\x1f\x8b"
_NO_DEFAULTS = ("User-Agent", "Accept", "Content-Type")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class LiveResponse:
    """A reply from the wire; its body is decompressed if the provider compressed it."""

    replayed = False

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.headers: Mapping[str, str] = {
            name.lower(): value for name, value in response.headers.items()
        }

    @property
    def status(self) -> int:
        """HTTP status."""
        return self._response.status

    @property
    def ended(self) -> bool:
        """Whether the last chunk came with the end of the body."""
        return self._response.content.at_eof()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives.

        Raises:
            TransportError: it breaks off, nothing comes for too long, or it cannot be decoded.
        """
        codings = self.headers.get("content-encoding", "")
        if "," in codings:
            raise TransportError("reset", f"the reply is compressed twice ({codings})")
        content, inflate = self._response.content, None
        try:
            chunk = await content.readany()
            if chunk.startswith(_GZIP):  # some edges compress and do not say so
                inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            while chunk:
                if decoded := inflate.decompress(chunk) if inflate else chunk:
                    yield decoded
                chunk = await content.readany()
        except (aiohttp.ClientError, OSError, TimeoutError, zlib.error) as error:
            raise transport_error(error) from None

    async def close(self) -> None:
        """Let go of the connection; one whose reply was read to its end is used again."""
        if self.ended:
            self._response.release()
        else:
            self._response.close()


class LiveTransport:
    """Reaches one provider. Redirects are not followed: a key goes nowhere but to its provider.

    Raises:
        OSError: the certificate file cannot be read (`ssl.SSLError`: it is none).
    """

    def __init__(self, upstream: Upstream, idle_seconds: float) -> None:
        self._base = upstream.base_url.rstrip("/")
        self._timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=_CONNECT_SECONDS, sock_read=idle_seconds
        )
        self._ssl = _trust(upstream)
        self._proxy = _proxy(URL(self._base))
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: UpstreamRequest) -> LiveResponse:
        """Send a request and wait for the reply's headers.

        Raises:
            TransportError: none came.
        """
        try:
            response = await self._open().request(
                request.method,
                URL(self._base + request.route, encoded=True),
                headers=request.headers,
                data=_payload(request.body),
                allow_redirects=False,
                proxy=self._proxy,
            )
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise transport_error(error) from None
        return LiveResponse(response)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        """The session is made inside the event loop in which it is used."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, ssl=self._ssl, keepalive_timeout=_KEEP_ALIVE_SECONDS
                ),
                timeout=self._timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=_NO_DEFAULTS,
                max_line_size=_LONGEST_HEADER,
                max_field_size=_LONGEST_HEADER,
            )
        return self._session


def transport_error(error: Exception) -> TransportError:
    """What went wrong, without address: the first kind that fits."""
    kinds: tuple[tuple[type[Exception], TransportFailure, str], ...] = (
        (TimeoutError, "timeout", "the provider sent nothing for too long"),
        (aiohttp.ClientSSLError, "tls", "no trusted connection to the provider can be made"),
        (aiohttp.ClientConnectorDNSError, "dns", "the provider's host name is not known"),
        (aiohttp.ClientConnectorError, "refused", "the provider cannot be reached"),
        (aiohttp.InvalidURL, "dns", "the provider's address is no URL"),
    )
    for kind, failure, message in kinds:
        if isinstance(error, kind):
            return TransportError(failure, message)
    return TransportError("reset", "the connection to the provider broke off")


def _payload(body: bytes) -> bytes | BytesIO | None:
    """Small bodies go out in one piece with their headers, large ones do not block the loop."""
    return BytesIO(body) if len(body) > _ONE_PIECE else body or None


def _trust(upstream: Upstream) -> ssl.SSLContext | bool:
    if not upstream.base_url.lower().startswith("https:"):
        return True
    context = ssl.create_default_context()
    if upstream.ca_cert_path is not None:
        context.load_verify_locations(cafile=upstream.ca_cert_path)
    return context


def _proxy(base: URL) -> str | None:
    """The environment's proxy, read here: aiohttp's own way also takes passwords from .netrc."""
    host = base.host or ""
    if host in _LOOPBACK or proxy_bypass(host):
        return None
    return getproxies().get(base.scheme)
