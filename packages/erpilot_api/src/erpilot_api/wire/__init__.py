"""Every shape that crosses HTTP besides the events: what is sent in, what is answered, the envelopes of a stream.

Invariant: one definition serves the handlers, the OpenAPI document and the TypeScript types of the page. Times are Unix
seconds, money is decimal text by currency, events stand in the form they have everywhere (``events.Recorded``).
"""

from __future__ import annotations

from .approvals import Action as Action
from .approvals import Approval as Approval
from .approvals import ApprovalList as ApprovalList
from .approvals import Decide as Decide
from .approvals import Decision as Decision
from .approvals import Doubt as Doubt
from .approvals import Grant as Grant
from .approvals import GrantList as GrantList
from .approvals import Resolve as Resolve
from .base import Answer as Answer
from .base import Body as Body
from .base import ClientId as ClientId
from .base import Role as Role
from .base import Seq as Seq
from .base import Text as Text
from .branches import Compensation as Compensation
from .branches import Diff as Diff
from .branches import DiffEffect as DiffEffect
from .branches import DiffRow as DiffRow
from .branches import DiffSide as DiffSide
from .branches import Fork as Fork
from .branches import Forked as Forked
from .branches import RollBack as RollBack
from .branches import RolledBackTo as RolledBackTo
from .branches import UndoPlan as UndoPlan
from .entrance import Enter as Enter
from .entrance import Entered as Entered
from .entrance import Me as Me
from .envelopes import Done as Done
from .envelopes import PartialStep as PartialStep
from .envelopes import Problem as Problem
from .envelopes import Start as Start
from .looking import NumberedAnswer as NumberedAnswer
from .looking import Numbers as Numbers
from .looking import Replay as Replay
from .looking import Report as Report
from .looking import ReportList as ReportList
from .looking import StepRequest as StepRequest
from .sessions import Accepted as Accepted
from .sessions import Queue as Queue
from .sessions import QueuedMessage as QueuedMessage
from .sessions import Say as Say
from .sessions import Session as Session
from .sessions import SessionChange as SessionChange
from .sessions import SessionList as SessionList
from .sessions import SessionStatus as SessionStatus
from .sessions import SessionSummary as SessionSummary
