"""The operator's ops as the settings file has them, for a list that is made without a daemon (O-51)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

from exec_daemon.errors import RuleUnusable
from exec_daemon.home import settings_file
from exec_daemon.operator_ops.spec import OpSpec, specs
from exec_daemon.operator_ops.table import problem


def written_ops(environment: Mapping[str, str]) -> tuple[OpSpec, ...]:
    """The ops of the settings file that is meant here. Raises `DaemonError` where it is not right."""
    path = settings_file(environment)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("ops", {})
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as broken:
        raise RuleUnusable(f"{path}: cannot be read: {broken}", str(path)) from None
    wrong = problem(table)
    if wrong is not None:
        raise RuleUnusable(f"{path}: `ops`: {wrong}; `box config check` names the line", str(path))
    return specs(table)
