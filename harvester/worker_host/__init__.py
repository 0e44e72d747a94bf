"""The host that keeps workers: what the daemon's store wants is started, watched and ended (docs/workers.md).

template.py   how a worker of a template is started
launch.py     the first program of each worker: environment, lifeline, then its argv
turns.py      which messages of a thread are a worker's next turn; pure
children.py   workers that run an agent's command line for each turn
contained.py  the same with a container for each turn
walls.py      what stands around a container
panes.py      workers that are a tmux session
tmux.py       tmux, one command at a time
processes.py  processes by the worker that they belong to
report.py     what the daemon is told, and how often
host.py       the loop that brings what is wanted and what there is together
"""

from harvester.worker_host.host import WorkerHost
from harvester.worker_host.template import HostTemplate
from harvester.worker_host.walls import Walls

__all__ = ["HostTemplate", "Walls", "WorkerHost"]
