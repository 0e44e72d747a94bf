"""Every command: what it takes, whether it changes something, what it does. `COMMANDS` is the table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from exec_daemon.rpc import looking, steering
from exec_daemon.rpc.command import Command
from exec_daemon.rpc.opening import open_task
from exec_daemon.rpc.payloads import Anything, Model, Nothing, OfTask, Open, Pause, Prompt, State, Switch
from exec_daemon.rpc.steering import of_running

COMMANDS: Final[Mapping[str, Command]] = MappingProxyType(
    {
        "create_or_open_task": Command(payload=Open, run=open_task),
        "switch_task": Command(payload=Switch, run=of_running(steering.switch)),
        "prompt": Command(payload=Prompt, run=of_running(steering.prompt)),
        "stop_task": Command(payload=OfTask, run=steering.stop),
        "pause": Command(payload=Pause, run=of_running(steering.pause)),
        "resume": Command(payload=OfTask, run=of_running(steering.resume)),
        "cancel": Command(payload=OfTask, run=of_running(steering.cancel)),
        "pi_set_model": Command(payload=Model, run=of_running(steering.set_model)),
        "extension_ui_response": Command(payload=Anything, run=of_running(steering.pass_on)),
        "system_bash": Command(payload=Anything, run=steering.system_bash),
        "runtime_get_state": Command(payload=State, run=looking.state, writes=False),
        "runtime_diag": Command(payload=Nothing, run=looking.diag, writes=False),
        "pi_get_available_models": Command(payload=Nothing, run=looking.models, writes=False),
    }
)
