"""`python -m inband` is `box`."""

from inband.cli import main

if __name__ == "__main__":
    main()
