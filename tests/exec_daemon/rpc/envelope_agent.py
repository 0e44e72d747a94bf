"""A small agent that speaks the envelope: it says each prompt back. `argv[1]` may make it misbehave."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else ""


def say(event: str, **payload: Any) -> None:
    line = {"type": "event", "event": event, "agent": "echo", "ts": "", "payload": payload}
    print(json.dumps(line), flush=True)


def answer(message: str) -> None:
    if message == "die":
        os._exit(7)
    if message == "leave":
        subprocess.Popen(["sleep", "30"], start_new_session=True)
        os._exit(0)
    if message == "flood":
        sys.stderr.write("x" * (10 << 20))
        sys.stderr.flush()
    if message == "plain":
        print("no JSON at all", flush=True)
    if message == "spend":
        say("cost_update", total_cost_usd=2.5)
    if message == "claim":
        say("task_stopped", taskId="another")
    if message == "wait":
        return
    if message == "look":
        say("agent_end", text='Let me look.\n\n[TOOL tools.list {"filter": "box.exec"}]')
        return
    say("agent_output", chunk=f"{message} {os.environ.get('BOX_TASK_MODEL', '')}")
    say("agent_end", usage={"input_tokens": 1})


def main() -> None:
    if MODE == "silent":
        time.sleep(600)
    if MODE == "plain":
        print("Welcome!", flush=True)
        time.sleep(600)
    if MODE == "exits":
        sys.exit("no licence")
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    able = ["pause", "cancel"] if MODE == "able" else []
    say("ready", protocolVersion="1", capabilities=able)
    for line in sys.stdin:
        request = json.loads(line)
        if request["type"] == "prompt":
            answer(request["payload"]["message"])
        else:
            say("heard", request=request["type"], said=request["payload"])
            print(json.dumps({"id": request["id"], "ok": True, "result": {}}), flush=True)


main()
