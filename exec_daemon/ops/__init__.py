"""The ops of this daemon, one file each. What `ALLOWLIST` does not name cannot run (O-30)."""

from exec_daemon.ops import (
    artifact_put,
    box_exec,
    cron_cancel,
    cron_create,
    cron_list,
    cron_pause,
    cron_resume,
    cron_update,
    dm_read,
    dm_send,
    job_get,
    swarm_send,
    swarm_spawn,
    swarm_stop,
    tools_list,
)

ALLOWLIST = (
    box_exec.OP,
    tools_list.OP,
    dm_read.OP,
    dm_send.OP,
    job_get.OP,
    artifact_put.OP,
    cron_create.OP,
    cron_list.OP,
    cron_update.OP,
    cron_pause.OP,
    cron_resume.OP,
    cron_cancel.OP,
    swarm_spawn.OP,
    swarm_send.OP,
    swarm_stop.OP,
)

__all__ = ["ALLOWLIST"]
