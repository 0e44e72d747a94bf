"""The inside of a container: a small agent that speaks the container protocol (T-15 to T-30, T-75 to T-78).

    stdin ─▶ ContainerInput ─▶ script gate ─▶ first prompt ─▶ model ─▶ frame on stdout ─┐
                                                  ▲        idle frame, then follow-ups ◀┘

It needs nothing but Python and the packages `messaging` and `patterns`, so that an image stays small. It has
no tools: what it wants done it writes into its reply as directives, which the host harvests.
"""
