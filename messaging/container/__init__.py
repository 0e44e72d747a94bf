"""What passes between a host and an agent in a container: frames, JSON on stdin, files in directories.

    host                                        container
    stdin  ── ContainerInput, then EOF ──▶      read once
    stdout ◀─ START / ContainerOutput / END ──  any number
    <ipc>/input/*.json, input/_close   ──▶      follow-ups, the end of the session
    <ipc>/messages, <ipc>/tasks/*.json ◀──      words for a chat, operations on tasks
    <ipc>/current_tasks.json, available_groups.json ──▶  snapshots

Pure: values, readers and writers. The host's side is `harvester.container`, the agent's `inband_agent`.
"""

from messaging.container.fields import WireError
from messaging.container.frames import (
    NANOCLAW,
    TALON,
    Framed,
    FrameReader,
    Markers,
    Unframed,
    framed,
)
from messaging.container.names import FileNames, is_file_name, is_folder
from messaging.container.outbound import ChatMessage, FollowUp
from messaging.container.output import ContainerOutput, SessionUsage, Status
from messaging.container.prompt import SCHEDULED_PREFIX, first_prompt, woken_prompt
from messaging.container.script import ScriptResult, script_result
from messaging.container.start import ContainerInput, LlmEndpoint
from messaging.container.tasks import (
    CancelTask,
    PauseTask,
    RefreshGroups,
    RegisterGroup,
    ResumeTask,
    ScheduleTask,
    TaskOperation,
    UpdateTask,
    read_task,
)

__all__ = [
    "NANOCLAW",
    "SCHEDULED_PREFIX",
    "TALON",
    "CancelTask",
    "ChatMessage",
    "ContainerInput",
    "ContainerOutput",
    "FileNames",
    "FollowUp",
    "FrameReader",
    "Framed",
    "LlmEndpoint",
    "Markers",
    "PauseTask",
    "RefreshGroups",
    "RegisterGroup",
    "ResumeTask",
    "ScheduleTask",
    "ScriptResult",
    "SessionUsage",
    "Status",
    "TaskOperation",
    "Unframed",
    "UpdateTask",
    "WireError",
    "first_prompt",
    "framed",
    "is_file_name",
    "is_folder",
    "read_task",
    "script_result",
    "woken_prompt",
]
