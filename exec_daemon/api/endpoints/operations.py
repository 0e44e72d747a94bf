"""`/healthz` and `/readyz`: for whoever watches the daemon. They ask for no identity and tell no more.

`/health` tells operators and viewers what is around the programs that this daemon runs (D044).
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from exec_daemon.api.answers import answer
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.operator_ops.spec import OpSpec
from exec_daemon.programs import ProgramError
from exec_daemon.services import Services
from messaging import ErrorCode


async def health(_: Request, __: Services) -> Response:
    """The process answers."""
    return answer({"status": "ok"})


async def ready(_: Request, services: Services) -> Response:
    """Calls can be taken: the store answers and the daemon is not about to stop."""
    if services.stopping.is_set():
        raise refuse(ErrorCode.UNAVAILABLE, "The daemon is stopping.")
    await services.store.last_position()
    return answer({"status": "ready"})


async def condition(ask: Ask) -> Response:
    """As `box doctor` shows it, but of the daemon itself: its cgroup and user may be others than yours."""
    services = ask.services
    await services.store.last_position()
    profile = services.settings.sandbox.profile(services.settings.home)
    try:
        around = (await services.programs.standing(profile)).to_json()
    except ProgramError as lacking:
        around = {"problem": str(lacking)}
    ops = {spec.name: _around(spec) for spec in services.settings.ops}
    return answer({"status": "ready", "programs": around, "ops": ops})


def _around(spec: OpSpec) -> str:
    return spec.sandbox if spec.confined else "nothing"
