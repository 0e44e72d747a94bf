"""Who is asking."""

from __future__ import annotations

import pytest

from exec_daemon.access.identity import Identity, Role, identity


@pytest.mark.parametrize("role", Role)
def test_an_identity_reads_back_as_it_was_written(role: Role) -> None:  # O-33
    assert identity(f"{role}/heron") == Identity(role, "heron")
    assert str(Identity(role, "heron")) == f"{role}/heron"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "heron",
        "agent",
        "agent/",
        "/heron",
        "root/heron",
        "agent/Heron",
        "agent/a/b",
        "agent/a\n",
        "AGENT/a",
    ],
)
def test_what_is_no_identity_names_nobody(text: str) -> None:
    assert identity(text) is None
