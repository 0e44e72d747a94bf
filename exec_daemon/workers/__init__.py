"""Workers: agent processes that an op has started and a host process keeps (docs/workers.md).

rules.py      what may be started: templates and limits
spawning.py   what a spawn brings about: thread, envelope, job, worker; pure
desk.py       what a host says of a worker, and what follows from it
view.py       a worker as JSON
"""
