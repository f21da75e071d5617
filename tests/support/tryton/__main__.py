"""The Tryton server of the tests, by hand.

python -m tests.support.tryton prepare    make what is kept, where it is missing
python -m tests.support.tryton serve      run a server until Ctrl-C; prints its address as JSON
"""

from __future__ import annotations

import json
import signal
import sys
import time

from . import environment, postgres, server
from .people import password


def main(arguments: list[str]) -> int:
    """Exit code: 0, 1 when something is missing, 2 for a wrong command."""
    try:
        match arguments:
            case ["prepare"]:
                named = postgres.named()
                if named:
                    server.prepare_on(named)
                else:
                    server.prepare()
            case ["serve"]:
                with server.tryton_server() as running:
                    facts = {"url": running.url, "database": running.database}
                    facts |= {user: password(user) for user in ("admin", "owner", "assistant")}
                    sys.stdout.write(json.dumps(facts) + "\n")
                    sys.stdout.flush()
                    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
                    while True:
                        time.sleep(3600)
            case _:
                sys.stderr.write((__doc__ or "") + "\n")
                return 2
    except environment.SetUpFailed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
