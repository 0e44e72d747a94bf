"""The host's side of containers: agents that talk through directories and framed output (docs/container.md).

    <data>/ipc/<lane>/messages, tasks ─▶ Sweep ─▶ authorise ─▶ Desk ══▶ daemon
    <data>/ipc/<lane>/input           ◀─ FollowUps ◀─ IpcThreads ◀──────┘
    Container (stdin, frames) ─▶ outputs;  Places (limits, queue), mounts

Who wrote a file says its directory and nothing in it. What an agent may do is decided twice: by the rules of
groups here, and by the daemon's grants for the group's agent.
"""
