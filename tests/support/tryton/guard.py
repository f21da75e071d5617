"""Runs a command for as long as its own standard input is open, so that nothing outlives the tests, however they end.

    python guard.py SIGNAL USER COMMAND...

SIGNAL (a number) is what the command gets at the end; USER (a number) whom it runs as, 0 for oneself. Uses the standard
library only, and starts in hundredths of a second (python -S).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

PATIENCE_SECONDS = 10
KILL = b"kill"
"""Written to its standard input, this ends the command at once."""


def main() -> int:
    """Exit code of the command."""
    ending, user, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    with open(os.devnull) as nothing:
        if user:
            child = subprocess.Popen(command, stdin=nothing, cwd="/", user=user, extra_groups=[])
        else:
            child = subprocess.Popen(command, stdin=nothing)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_input, args=(child, ending), daemon=True).start()
    return child.wait()


def _end_with_input(child: subprocess.Popen[bytes], ending: int) -> None:
    while asked := os.read(0, 1024):
        if asked == KILL:
            child.kill()
    child.send_signal(ending)
    try:
        child.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()


if __name__ == "__main__":
    sys.exit(main())
