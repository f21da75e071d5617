"""``python -m erpilot`` is the command ``erpilot``."""

import sys

from erpilot.cli.main import main

sys.exit(main())
