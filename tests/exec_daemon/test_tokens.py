"""Bearer tokens."""

from __future__ import annotations

from pathlib import Path

import pytest

from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.tokens import BOOTSTRAP, bearer, ensure_bootstrap, issue, new_secret, sha256
from exec_daemon.home import Home, prepare
from exec_daemon.store import random_id
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
