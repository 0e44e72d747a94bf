"""Timers: when something is due (pure), what follows from it (pure), and the task that sees to it.

reading.py    what was written -> a schedule, or what is wrong with it
schedule.py   a schedule and a moment -> the next time; years of clock changes are in here
zones.py      time zones by name, and the zone of this machine
plan.py       what a timer is to do: schedule, message, policies
present.py    what the store has of a timer and of who is woken
look.py       what a rule looks at: a timer, its runs, the moment
rules.py      what a timer that is due does next: a step, which the store takes whole or not at all
dispatch.py   the message of a run: envelope, job, thread
gates.py      programs that say whether an agent is woken
gating.py     what becomes of a run whose gate is asked: a step, again
gatekeeper.py asks gates beside the scheduler, and carries out what they say
turns.py      how a run goes on and ends: verdicts, the nudge, the deadline
changes.py    pause, resume, cancel, another plan
orders.py     a work order: one run without a schedule
scheduler.py  the task that applies the rules when it is time
desk.py       what comes from outside a schedule: a verdict, a run that is asked for, a cancel
view.py       a timer and its runs as JSON
"""
