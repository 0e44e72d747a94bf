"""The words of the grammar that random texts are made of, in pools."""

from __future__ import annotations

_CALLS = r"""
[TOOL tools.list {}]
[EXEC cron.list {}]
[TOOL cron.list]
[DM {"to":"a","text":"b"}]
[TOOL box.exec {"action":"disk"}]
[TOOL box.disk]
[TOOL {"op":"tools.list"}]
[TOOL {"q":"[TOOL tools.list {}]"}]
[TOOL box.exec {"args":{"action":"cpu"}}]
[DM {"t":"use `ls`"}]
[DM {"t":"“ „ « ~~ \" '"}]
[DM {"t":"<code> <!-- <think>"}]
[TOOL x {"a":
[TOOL x {bad}]
[TOOL x {bad}
[TOOL x {"a":1
[DM {"a":"
[TOOL
[DM
[EXEC dm.send
[DM dm.send {
[TOOL job.get]
[TOOL a:b {x
[TOOLBOX {
[RESULT {
[RESULT {"verdict":"ok"}]
{
}
]
}]
"}]
"a":1
"""
_WORDS = r"""
[RESULT] PASS
[RESULT] FAIL: x
**[RESULT] PASS**: x
- [RESULT] done
[RESULT] ok.
curl https://localhost/exec -d '{"op":"tools.list"}'
$ curl -sXPOST https://127.0.0.1:1/exec -d "{\"op\":\"cron.list\"}"
curl https://x.example
curl -d @- https://localhost/exec <<'E'
E
curl "https://[::1]:8443/exec" --json='{"op":"x"}'
curl https://localhost/exec -sd '{"op":"a"}' -H 'A: b' # x
curl https://localhost/exec \
-d '{"op":"dm.read"}'
tools.list
functions.tools_list {}
{"type":"function","function":{"name":"x","arguments":"{}"}}
[{"op":"x"}, {"tool":"y","input":{"a":1}}]
{"op":"x","id":"7","parameters":"{\"a\":1}"}
{"op":"x","args":1}
cron.list {}
box.exec {"action":"cpu"}
disk
logs nginx
{"op":"cron.list"}
{"action":"df"}
```tool
~~~exec
```box
```bash
```sh x`
``````
~~~~
~~~ `tool`
  ```exec
```TOOL x
```
~~~
````
``` x
word
é
1
"""
_MARKS = r"""
“
”
„
«
»
‘
’
‹
›
「
」
"
'
`
``
~~
~
~~~
*
**
_
\
\\
!
(
(u)
[1]
[a](b)
.
:
<div>
</div>
<b>
</b>
<answer>
<pre>
</pre>
<!--
-->
<!-->
<?
?>
<!X
>
<![CDATA[
]]>
<code>
</code>
<q>
</q>
<s>
</s>
<del>
<kbd x="1">
<https://a.b/c>
<a title="
">
<a b='
<script>
</style>
<textarea>
<DIV x
<x-y z>
</x-y >
<!--->
<!-- -->
<!-- x --
<a b='c'd>
<a:b>
<a.b@c.d>
&quot;
<think>
</think>
<Thinking a="b">
</thinking>
<think/>
<reasoning>
</reasoning>
"""
BLOCKS = [
    "> ",
    ">",
    "- ",
    "-",
    "* ",
    "1. ",
    "2) ",
    "    ",
    "  ",
    "   ",
    "\t",
    "# ",
    "## ",
    "---",
    "***",
    "===",
]
BLOCKS += ["| a |", "|---|", "| ", "|-|-|", "a | b", "[ ] ", "- [x] ", "a \\| b", "a\\\\|b", ":-:|-:", "|"]
BLOCKS += [
    "+\t",
    "10. ",
    "0) ",
    "001. ",
    "1234567890. ",
    "--",
    "- - -",
    "=",
    "####### ",
    "#\t",
    " \t",
    "     ",
]
STARTS = [
    *BLOCKS,
    "```",
    "~~~",
    "````",
    "``` x",
    "<div>",
    "</div>",
    "<pre>",
    "<?",
    "?>",
    "<!X",
    "| a |",
    "***",
]
ODD = ["\u00a0", "\u200b", "\ufeff", "\x1b[1m", "\x00", "\ud800", "\x0c", "\x85", "\u2028"]
ENDS = ["\n", "\n", "\n", "\n", "\n\n", "\r\n", "\r"]

GROUPS = ([w for w in _CALLS.split("\n") if w], [w for w in _WORDS.split("\n") if w])
MARKS = [w for w in _MARKS.split("\n") if w]
TOKENS = [*GROUPS[0], *GROUPS[1], *MARKS, *BLOCKS, *ENDS, *ODD]
QUOTING = [mark for mark in MARKS if not mark.startswith("<") or mark in ("<code>", "<!--", '<a title="')]
POOLS = [GROUPS[0], GROUPS[1], MARKS, QUOTING, BLOCKS, ENDS, ODD]
# How often each pool is drawn from: a bit of all, block structure, the inside of a line, fences, quoting.
PROFILES = [
    [5, 3, 4, 2, 4, 6, 0.2],
    [3, 2, 1, 0, 9, 6, 0.1],
    [4, 0.5, 8, 0, 0.3, 1, 0.2],
    [2, 8, 0.5, 0, 1, 8, 0.1],
    [3, 0, 0, 9, 0.1, 0.5, 0.1],
]
