"""What runs beside the daemon: the nursery and the spawners that it forks, one for each running program.

    daemon ── control socket ──▶ nursery ── fork, confine ──▶ spawner ── posix_spawn ──▶ program
       └────────────────────── a socket of each spawner ───────┘

The nursery never touches a program: it makes spawners, kills them with all that they have started, and tells
when nothing of them is left. A spawner is confined once, serves one run at a time, and stays for the next
run as long as no process is left over. Standard library only, no threads, started with `-I -S`.
"""
