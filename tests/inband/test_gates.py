"""`[gates]` in box.toml: what may be written, and how a person is told what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from inband import gates


def test_a_gate_is_read_as_it_is_written() -> None:
    table = {"mail": {"argv": ["/opt/gate", "x y"], "agents": ["heron"], "environment": {"A": "b"}}}
    assert gates.problem(table) is None
    mail = gates.specs(table)["mail"]
    assert (mail.argv, mail.agents, mail.environment["A"]) == (("/opt/gate", "x y"), ("heron",), "b")
    assert (mail.time_limit_s, mail.folder, mail.confined) == (30.0, "/", True)  # T-76
    assert gates.specs({"m": {"argv": ["true"], "time_limit_s": 5}})["m"].time_limit_s == 5.0


@pytest.mark.parametrize(
    ("name", "keys", "says"),
    [
        ("Mail", {"argv": ["true"]}, "`Mail`: no name of a gate"),
        ("mail", {}, "`mail`, `argv`: is missing: a list of strings"),
        ("mail", {"argv": "true"}, "must be a list of strings, the program first, not 'true'"),
        ("mail", {"argv": ["gates/mail.sh"]}, "is a relative path: write an absolute one"),
        ("mail", {"argv": ["true"], "agent": ["heron"]}, "is an unknown key. Did you mean agents?"),
        ("mail", {"argv": ["true"], "agents": "heron"}, "must be a list of names of agents"),
        ("mail", {"argv": ["true"], "environment": {"LD_PRELOAD": "x"}}, "`environment`: must be"),
        ("mail", {"argv": ["true"], "time_limit_s": 0}, "`time_limit_s`: must be"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(name: str, keys: dict[str, Any], says: str) -> None:
    assert says in str(gates.problem({name: keys}))
