"""The HTTP API: its table of endpoints, and what stands around each of them (docs/api.md)."""
