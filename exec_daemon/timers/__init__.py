"""Timers: when something is due (pure), what follows from it (pure), and the task that sees to it.

reading.py    what was written -> a schedule, or what is wrong with it
schedule.py   a schedule and a moment -> the next time; years of clock changes are in here
zones.py      time zones by name, and the zone of this machine
plan.py       what a timer is to do: schedule, message, policies
rules.py      what a timer does next: pure, `Timer` and a moment -> `TimerStep`
turns.py      what a run does next: verdicts, nudges, deadlines
scheduler.py  the task that applies the rules when it is time
"""
