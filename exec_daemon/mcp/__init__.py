"""The ops as tools of the Model Context Protocol, at `/mcp`: another form of `POST /exec`, and no more power.

Needs the extra `mcp`; nothing of it is imported before the first request.
"""
