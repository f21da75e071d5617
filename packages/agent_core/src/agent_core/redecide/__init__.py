"""Re-deciding: what today's code would decide over a recorded log.

Invariant: nothing here touches a model, a tool or the network; what the world said is taken from the log.
"""

from __future__ import annotations

from .check import Difference as Difference
from .check import Kind as Kind
from .check import read_log as read_log
from .check import redecide as redecide
from .reviewed import accept as accept
from .reviewed import not_accepted as not_accepted
from .reviewed import read_accepted as read_accepted
