"""A TLS connection on the event loop: what arrives, what waits, and how it ends."""

from __future__ import annotations

import _ssl
import asyncio
import ctypes
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from exec_daemon.handshake import secured
from exec_daemon.home import prepare
from exec_daemon.tls import ensure_certificates
from exec_daemon.tls_transport import TlsTransport
from tests.patience import AGES_S, PATIENCE_S, until_async

LARGE = bytes(range(256)) * 40_000  # 10 MB: more than the kernel keeps for a connection


@dataclass
class Heard(asyncio.Protocol):
    """What a protocol was told, in order; what has come is in `received`."""

    told: list[str] = field(default_factory=list)
    received: bytearray = field(default_factory=bytearray)
    lost: Exception | None = None
    on_data: Callable[[bytes], None] = lambda _: None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.told.append("made")

    def data_received(self, data: bytes) -> None:
        self.received += data
        self.on_data(data)

    def eof_received(self) -> None:
        self.told.append("eof")

    def pause_writing(self) -> None:
        self.told.append("pause")

    def resume_writing(self) -> None:
        self.told.append("resume")

    def connection_lost(self, exc: Exception | None) -> None:
        self.told.append("lost")
        self.lost = exc


@dataclass
class Pair:
    """Our end, and that of a client that blocks."""

    transport: TlsTransport
    heard: Heard
    client: ssl.SSLSocket

    async def read(self, most: int = 1 << 30) -> bytes:
        """What the client gets, until it ends or is that much."""
        return await asyncio.to_thread(self._read, most)

    def _read(self, most: int) -> bytes:
        received = bytearray()
        while len(received) < most and (piece := self.client.recv(65536)):
            received += piece
        return bytes(received)

    async def send(self, content: bytes) -> None:
        await asyncio.to_thread(self.client.sendall, content)

    async def ended(self) -> None:
        await until_async(lambda: "lost" in self.heard.told)


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    home = prepare(tmp_path_factory.mktemp("home") / "home")
    ensure_certificates(home)
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.load_cert_chain(home.server_cert, home.server_key)
    ours.num_tickets = 0
    return ours, ssl.create_default_context(cafile=home.ca_cert)


@pytest.fixture(params=[ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])
def connect(
    request: pytest.FixtureRequest, contexts: tuple[ssl.SSLContext, ssl.SSLContext]
) -> Callable[..., Any]:
    ours, theirs = contexts

    async def pair(**more: Any) -> Pair:
        theirs.maximum_version = request.param
        with socket.create_server(("127.0.0.1", 0)) as listener:
            plain = socket.create_connection(listener.getsockname(), timeout=PATIENCE_S)
            near, _ = listener.accept()
        near.setblocking(False)
        client, over_tls = await asyncio.gather(
            asyncio.to_thread(theirs.wrap_socket, plain, server_hostname="localhost"),
            secured(near, ours, PATIENCE_S),
        )
        heard = Heard()
        return Pair(TlsTransport(asyncio.get_running_loop(), over_tls, heard, **more), heard, client)

    return pair


@pytest.fixture
async def pair(connect: Callable[..., Any]) -> AsyncIterator[Pair]:
    made = await connect()
    yield made
    made.transport.abort()
    made.client.close()
    await made.ended()


async def test_what_is_sent_arrives_in_both_directions(pair: Pair) -> None:
    pair.heard.on_data = pair.transport.write
    for content in (b"a", b"b" * 16_384, b"c" * 16_385, b"d" * 100_000):
        await pair.send(content)
        assert await pair.read(len(content)) == content


async def test_a_large_body_comes_whole_however_it_is_cut(pair: Pair) -> None:
    await pair.send(LARGE)
    await until_async(lambda: len(pair.heard.received) == len(LARGE))
    assert pair.heard.received == LARGE


async def test_who_reads_slowly_is_waited_for_and_gets_all(pair: Pair) -> None:
    pair.transport.write(LARGE)
    pair.transport.write(b"end")
    assert pair.heard.told == ["made", "pause"]
    assert await pair.read(len(LARGE) + 3) == LARGE + b"end"
    await until_async(lambda: pair.heard.told == ["made", "pause", "resume"])


async def test_what_waits_is_sent_before_the_end(pair: Pair) -> None:
    pair.transport.write(LARGE)
    pair.transport.close()
    pair.transport.write(b"too late")
    assert pair.transport.is_closing()
    pair.client.suppress_ragged_eofs = False  # type: ignore[attr-defined]  # it ends with the goodbyes of TLS, or `recv` raises
    assert await pair.read() == LARGE
    pair.client.close()
    await pair.ended()
    assert pair.heard.lost is None


async def test_what_comes_after_our_end_does_not_cut_off_the_answer(pair: Pair) -> None:
    pair.transport.write(b"answer")
    pair.transport.close()
    await pair.send(b"x" * 100_000)
    assert await pair.read() == b"answer"
    assert pair.heard.received == b""


async def test_who_goes_on_sending_after_our_end_is_cut_off(pair: Pair) -> None:
    pair.transport.close()
    with pytest.raises(OSError):  # noqa: PT011 - a pipe or a connection, whichever comes first
        await pair.send(LARGE)
    await pair.ended()


async def test_who_neither_reads_nor_ends_is_left_in_time(connect: Callable[..., Any]) -> None:
    pair = await connect(leave_s=0.05)
    pair.transport.write(LARGE)
    pair.transport.close()
    await pair.ended()
    idle = await connect(leave_s=0.05)
    idle.transport.close()
    await idle.ended()
    pair.client.close()
    idle.client.close()


async def test_the_other_sides_end_is_told_and_answered(pair: Pair) -> None:
    plain = await asyncio.to_thread(pair.client.unwrap)  # waits for our goodbye
    assert plain.recv(1) == b""
    plain.close()
    await pair.ended()
    assert (pair.heard.told, pair.heard.lost) == (["made", "eof", "lost"], None)


async def test_a_connection_that_is_reset_is_lost_with_its_error(pair: Pair) -> None:
    pair.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    pair.client.close()
    await pair.ended()
    assert isinstance(pair.heard.lost, OSError)
    assert pair.heard.received == b""


async def test_what_is_no_tls_ends_the_connection(pair: Pair) -> None:
    with socket.socket(fileno=pair.client.detach()) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10)
        await pair.ended()
    assert isinstance(pair.heard.lost, ssl.SSLError)
    assert pair.heard.received == b""


async def test_an_abort_ends_at_once_and_once(pair: Pair) -> None:
    pair.transport.write(LARGE)
    pair.transport.abort()
    pair.transport.abort()
    pair.transport.close()
    await pair.ended()
    assert pair.heard.told == ["made", "pause", "lost"]


async def test_nothing_is_read_while_reading_is_paused(pair: Pair) -> None:
    pair.heard.on_data = lambda _: pair.transport.pause_reading()
    await pair.send(b"x" * 16_384 + b"y" * 16_384)
    await until_async(lambda: len(pair.heard.received) == 16_384)
    await asyncio.sleep(0.05)
    assert pair.heard.received == b"x" * 16_384
    pair.transport.resume_reading()
    pair.transport.resume_reading()
    await until_async(lambda: len(pair.heard.received) == 32_768)


async def test_a_protocol_that_fails_ends_its_connection_and_the_loop_is_told(pair: Pair) -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    pair.heard.on_data = lambda data: [][len(data)]
    await pair.send(b"x")
    await pair.ended()
    assert isinstance(told[0]["exception"], IndexError)


async def test_a_handshake_that_does_not_come_about_closes_its_connection(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    for sent, within_s in ((b"\x16\x03\x01\x00\x05hello", AGES_S), (b"", 0.05)):
        near, far = socket.socketpair()
        near.setblocking(False)
        far.sendall(sent)
        with pytest.raises(OSError):  # noqa: PT011 - of TLS, or that the time is over
            await secured(near, contexts[0], within_s)
        assert near.fileno() == -1
        assert far.recv(100)[:1] == (b"\x15" if sent else b"")  # an alert (RFC 8446 6), for who can read one
        far.close()


class NewKeys:
    """A client by OpenSSL itself, whose records are kept: that of Python cannot ask for new keys."""

    def __init__(self) -> None:
        self._openssl = ctypes.CDLL(_ssl.__file__)  # and what that is linked with
        for name in ("TLS_client_method", "SSL_CTX_new", "SSL_new", "BIO_s_mem", "BIO_new"):
            getattr(self._openssl, name).restype = ctypes.c_void_p
        method = self._ask("TLS_client_method")
        self._tls = ctypes.c_void_p(self._ask("SSL_new", self._ask("SSL_CTX_new", method)))
        self._incoming = ctypes.c_void_p(self._ask("BIO_new", self._ask("BIO_s_mem")))
        self._outgoing = ctypes.c_void_p(self._ask("BIO_new", self._ask("BIO_s_mem")))
        self._openssl.SSL_set_bio(self._tls, self._incoming, self._outgoing)
        self._openssl.SSL_set_connect_state(self._tls)

    def _ask(self, name: str, *with_these: Any) -> Any:
        return getattr(self._openssl, name)(*map(ctypes.c_void_p, with_these))

    def _sealed(self) -> bytes:
        piece, sealed = ctypes.create_string_buffer(1 << 16), bytearray()
        while (count := self._openssl.BIO_read(self._outgoing, piece, len(piece))) > 0:
            sealed += piece.raw[:count]
        return bytes(sealed)

    def shake_hands(self, connection: socket.socket) -> None:
        while self._openssl.SSL_do_handshake(self._tls) != 1:
            connection.sendall(self._sealed())
            received = connection.recv(65536)
            self._openssl.BIO_write(self._incoming, received, len(received))
        connection.sendall(self._sealed())

    def records(self, count: int) -> bytes:
        """So many times new keys, and nothing else."""
        for _ in range(count):
            assert self._openssl.SSL_key_update(self._tls, 0) == 1
            assert self._openssl.SSL_do_handshake(self._tls) == 1
        return self._sealed()

    def content(self, content: bytes) -> bytes:
        """The record that holds it."""
        assert self._openssl.SSL_write(self._tls, content, len(content)) == len(content)
        return self._sealed()


@pytest.fixture
async def keys_and_ours(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
) -> AsyncIterator[tuple[NewKeys, socket.socket, TlsTransport, Heard]]:
    """A client of new keys, its socket, our end, and what that was told."""
    keys, heard = NewKeys(), Heard()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        far = socket.create_connection(listener.getsockname(), timeout=PATIENCE_S)
        near, _ = listener.accept()
    near.setblocking(False)
    _, over_tls = await asyncio.gather(
        asyncio.to_thread(keys.shake_hands, far), secured(near, contexts[0], PATIENCE_S)
    )
    yield keys, far, TlsTransport(asyncio.get_running_loop(), over_tls, heard), heard
    far.close()
    await until_async(lambda: "lost" in heard.told)


async def test_who_sends_nothing_but_new_keys_is_cut_off_and_keeps_nobody_waiting(
    keys_and_ours: tuple[NewKeys, socket.socket, TlsTransport, Heard],
) -> None:
    """They are counted in turns of the loop, not in time: those that have come are never read in one."""
    keys, far, transport, heard = keys_and_ours
    near: socket.socket = transport.get_extra_info("socket")
    records = keys.records(10_000)
    transport.pause_reading()
    await asyncio.to_thread(far.sendall, records)
    transport.resume_reading()
    turns = 0
    while not transport.is_closing():
        assert _waiting(near)  # not all of them are read
        await asyncio.sleep(0)
        turns += 1
    assert turns > 2
    assert heard.received == b""


async def test_new_keys_between_contents_are_taken(
    keys_and_ours: tuple[NewKeys, socket.socket, TlsTransport, Heard],
) -> None:
    keys, far, _, heard = keys_and_ours
    sealed = [
        keys.records(600) + keys.content(b"x") for _ in range(6)
    ]  # all in all three times what is too much
    await asyncio.to_thread(far.sendall, b"".join(sealed))
    await until_async(lambda: heard.received == b"x" * 6)
    assert heard.told == ["made"]


def _waiting(connection: socket.socket) -> bool:
    try:
        return bool(connection.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False
