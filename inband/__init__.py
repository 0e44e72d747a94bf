"""inband: the front door. Settings, the `box` command, and the one place where the parts are put together."""

__version__ = "0.1.0"
