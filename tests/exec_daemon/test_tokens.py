"""Bearer tokens."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.tokens import BOOTSTRAP, bearer, ensure_bootstrap, issue, new_secret, sha256
from exec_daemon.home import Home, prepare
from exec_daemon.store import TokenRecord, random_id
from exec_daemon.store.memory import MemoryStore

NOW = "2026-12-01T09:00:00.000Z"
EVE = Identity(Role.VIEWER, "eve")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return prepare(tmp_path / "home")


async def made(store: MemoryStore, expires_at: str | None = None, scopes: tuple[str, ...] = ()) -> str:
    token, _ = await issue(
        store, EVE, clock=lambda: NOW, new_id=random_id, expires_at=expires_at, scopes=scopes
    )
    return token


async def test_a_token_proves_the_identity_it_was_made_for(store: MemoryStore) -> None:  # O-33
    asker = await bearer(store, await made(store, scopes=("dm.*",)), NOW)
    assert asker
    assert (asker.identity, asker.scopes) == (EVE, ("dm.*",))


async def test_the_store_knows_the_hash_and_not_the_token(store: MemoryStore) -> None:  # O-33
    token = await made(store)
    (record,) = await store.tokens()
    assert record.sha256 == sha256(token)
    assert token not in repr(record)


@pytest.mark.parametrize(
    ("expires_at", "valid"),
    [(None, True), ("2026-12-01T09:00:00.001Z", True), (NOW, False), ("2026-11-30T23:59:59.999Z", False)],
)
async def test_a_token_is_valid_until_it_expires(
    store: MemoryStore, expires_at: str | None, valid: bool
) -> None:
    assert (await bearer(store, await made(store, expires_at), NOW) is not None) is valid


async def test_a_revoked_or_unknown_token_proves_nothing(store: MemoryStore) -> None:  # D074
    token = await made(store)
    (record,) = await store.tokens()
    await store.revoke_token(record.id)
    for worthless in (token, new_secret(), "", "é\ud800", record.sha256):
        assert await bearer(store, worthless, NOW) is None


class Asked(MemoryStore):
    """Notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.hashes: list[str] = []

    async def token_by_sha256(self, sha256: str) -> TokenRecord | None:
        self.hashes.append(sha256)
        return await super().token_by_sha256(sha256)


async def test_what_is_looked_up_tells_nothing_of_how_much_was_right() -> None:  # D074
    store = Asked()
    token = await made(store)
    store.hashes.clear()
    for given in (token, token[:-1] + "!", "x" + token[1:]):
        await bearer(store, given, NOW)
    assert store.hashes == [sha256(token), sha256(token[:-1] + "!"), sha256("x" + token[1:])]
    alike = [sum(a == b for a, b in zip(store.hashes[0], other, strict=True)) for other in store.hashes[1:]]
    assert max(alike) < 32  # a letter that differs anywhere is another hash


SECRET = re.compile(r"token|secret|signature|proof|hashed|\bcode\b")
COMPARING = (
    "access/tokens.py",
    "access/callback_secret.py",
    "api/asker.py",
    "web/sessions.py",
    "web/sign_in.py",
)


def compared(file: Path) -> Iterator[str]:
    """What is compared letter by letter in this file."""
    source = file.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            yield str(ast.get_source_segment(source, node))


def test_no_secret_is_compared_letter_by_letter() -> None:  # D074
    root = Path(__file__).resolve().parents[2]
    files = [*(root / "exec_daemon" / name for name in COMPARING), root / "messaging" / "signature.py"]
    assert [one for file in files for one in compared(file) if SECRET.search(one)] == []
    assert sum("compare_digest" in file.read_text(encoding="utf-8") for file in files) == 3


def test_tokens_are_long_and_never_alike() -> None:
    tokens = {new_secret() for _ in range(100)}
    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 50


async def bootstrapped(store: MemoryStore, home: Home) -> list[str]:
    await ensure_bootstrap(store, home, clock=lambda: NOW, new_id=random_id)
    return [home.token(str(who.role)).read_text().strip() for who in BOOTSTRAP]


async def test_the_first_start_leaves_a_token_for_operator_and_harvester(
    store: MemoryStore, home: Home
) -> None:
    for who, token in zip(BOOTSTRAP, await bootstrapped(store, home), strict=True):
        asker = await bearer(store, token, NOW)
        assert asker
        assert asker.identity == who
    assert await bootstrapped(store, home) == await bootstrapped(store, home)
    assert len(await store.tokens()) == len(BOOTSTRAP)


async def test_a_token_file_that_proves_nothing_is_replaced(store: MemoryStore, home: Home) -> None:
    before = await bootstrapped(store, home)
    for record in await store.tokens():
        await store.revoke_token(record.id)
    after = await bootstrapped(store, home)
    assert not set(before) & set(after)


async def test_a_token_file_with_the_token_of_another_is_replaced(store: MemoryStore, home: Home) -> None:
    await bootstrapped(store, home)
    home.token("operator").write_text(await made(store))
    asker = await bearer(store, (await bootstrapped(store, home))[0], NOW)
    assert asker
    assert asker.identity.role is Role.OPERATOR
