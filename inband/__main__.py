"""`python -m inband` is `box`."""

import signal

# Until `main` runs, Ctrl-C ends us as it ends any program: without a traceback of half-loaded modules.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from inband.cli import main  # noqa: E402 - what comes first is the point

if __name__ == "__main__":
    main()
