"""Ops that an operator adds in `box.toml`, without code: `[ops."deploy.status"]` (docs/operator-ops.md).

table.py       which keys there are, and what is wrong with a value
spec.py        an op as it is written, once nothing is wrong with it
arguments.py   its arguments as a model, like those of our own ops
words.py       the words of its `argv`, with places for arguments
check.py       what of it is missing on this machine
op.py          the op itself; result.py says what came of a run
"""
