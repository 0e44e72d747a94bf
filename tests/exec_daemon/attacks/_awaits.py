"""An op that runs until the test lets it end: how busy the machine is does not matter."""

from __future__ import annotations

import getpass
from typing import Any, Final

from exec_daemon.operator_ops.spec import specs
from exec_daemon.programs.sandbox import Sandbox

# Settings of a daemon. The file is the tests' own, and so has to be who looks for it.
AWAITS: Final[dict[str, Any]] = {
    "sandbox": Sandbox(user=getpass.getuser()),
    "ops": specs(
        {
            "my.await": {
                "argv": ["/bin/sh", "-c", 'until [ -e "$0" ]; do sleep 0.05; done', "{file}"],
                "summary": "Wait until there is a file.",
                "side_effecting": False,
                "confined": False,
                "time_limit_s": 600,
                "arguments": {"file": {"max_length": 999}},
            }
        }
    ),
}
