"""Who is asking and what they may do: identities, tokens, grants and the decision (docs/security.md)."""
