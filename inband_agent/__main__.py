"""`python -m inband_agent`."""

from inband_agent.main import main

main()
