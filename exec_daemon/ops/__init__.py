"""The ops of this daemon, one file each. What `ALLOWLIST` does not name cannot run (O-30)."""

from exec_daemon.ops import artifact_put, box_exec, dm_read, dm_send, job_get, tools_list

ALLOWLIST = (
    box_exec.OP,
    tools_list.OP,
    dm_read.OP,
    dm_send.OP,
    job_get.OP,
    artifact_put.OP,
)

__all__ = ["ALLOWLIST"]
