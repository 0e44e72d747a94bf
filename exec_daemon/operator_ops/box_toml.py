"""The operator's ops as the settings file has them, for a list that is made without a daemon (O-51)."""

from __future__ import annotations

from collections.abc import Mapping

from exec_daemon.operator_ops.spec import OpSpec, specs
from exec_daemon.operator_ops.table import problem
from exec_daemon.settings_file import section


def written_ops(environment: Mapping[str, str]) -> tuple[OpSpec, ...]:
    """The ops of the settings file that is meant here. Raises `DaemonError` where it is not right."""
    return specs(section(environment, "ops", problem))
