"""Tools of MCP servers as ops of ours, for agents that have only text: `[mcp."github"]` in `box.toml`.

    spec     what the operator wrote, and what is wrong with it
    pins     the tools as the operator approved them
    link     the connection to one server, made when it is first needed
    op       an approved tool as an op
    schema   holds a call to what the tool takes, for a bounded time
    at_start all of them, when the daemon starts

Only approved tools are ops. A server that changes what a tool says or takes has that op refused until it is
approved again. Needs the extra `mcp`; without `[mcp]` nothing of it is imported.
"""
