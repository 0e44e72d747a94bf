"""Client certificates: who gets one, what it names, which are revoked, and when all that is read again."""
