"""JSON Lines RPC in the daemon (docs/rpc.md): tasks, which are agents' processes, and who hears of them.

`commands` is the table of what can be asked, `desk` makes each request happen once, `converse` is one
connection, whatever carries it. The protocol itself is `messaging.rpc`.
"""
