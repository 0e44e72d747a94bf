"""Calls that wait for a person: asked, shown whole, answered once, run once, told in the thread (O-36)."""
