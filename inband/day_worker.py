"""The worker of the day in the life: an agent's command line, as one runs for each turn. Run by path.

What it is told comes on stdin, and what it prints is its reply.
"""

from __future__ import annotations

import sys
import time

# A model takes its time; without it the worker would be done before anybody has read that it works.
_THINKS_S = 0.7
LOOKS = """I look.

[TOOL box.exec {"action": "disk"}]
"""
REPORTS = """There is room on the disk.

[DM {"to": "heron", "text": "I have seen to the disk: there is room."}]
[RESULT] PASS: there is room on the disk
"""


def reply(told: str) -> str:
    """First it looks; when it is shown what there is, it reports and ends."""
    return REPORTS if "#1 box.exec disk" in told else LOOKS


if __name__ == "__main__":
    time.sleep(_THINKS_S)
    sys.stdout.write(reply(sys.stdin.read()))
