"""The state directory as one file, taken from a running daemon, and back.

archive    what an archive holds and how it is read, without trust
take       the state into an archive
put_back   an archive into the state
revoked    what was taken back since then, kept
exchange   one state in the place of another
"""
