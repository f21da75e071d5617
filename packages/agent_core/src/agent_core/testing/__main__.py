"""``python -m agent_core.testing MODULE [ARGUMENT ...]``: runs a module with the environment's fail points armed."""

from __future__ import annotations

import runpy
import sys

from .failpoints import arm_from_environment

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m agent_core.testing MODULE [ARGUMENT ...]")
    sys.argv = sys.argv[1:]
    arm_from_environment()
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
