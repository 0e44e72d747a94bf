"""Run an agent's command line and say what it came to: the I/O around `harvester.adapters`.

run ─▶ Child (pipes, signals) ─▶ adapters ─▶ Outcome
        Watchdog (pure) says when to stop it; Audience shows events to who may not be reading
"""

from harvester.agent_run.audience import Audience
from harvester.agent_run.child import Command
from harvester.agent_run.run import run
from harvester.agent_run.watchdog import Limits

__all__ = ["Audience", "Command", "Limits", "run"]
