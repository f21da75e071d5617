"""What was learnt of models and is kept in the home, and what is set about the context of a conversation.

Invariant: the files may be deleted at any time; what they hold is learnt anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_core.config import ContextPolicy
from agent_core.context.calibration import Calibrations
from agent_core.model.profile import ProfileStore
from agent_core.summarising import Summariser

from .config import Settings
from .models import choose, client_of
from .problems import MODEL, Problem

if TYPE_CHECKING:
    from .texts import Texts

ENDPOINTS, CALIBRATION = "endpoints.json", "calibration.json"


def endpoint_profiles(home: Path) -> ProfileStore:
    """What each endpoint was found to accept."""
    return ProfileStore(home / ENDPOINTS)


def calibrations(home: Path) -> Calibrations:
    """How many tokens each model was found to make of a text."""
    return Calibrations(home / CALIBRATION)


def context_policy(settings: Settings) -> ContextPolicy:
    """How much of a conversation reaches the model."""
    return ContextPolicy() if settings.context_tokens is None else ContextPolicy(budget_tokens=settings.context_tokens)


def summariser(settings: Settings, environment: Mapping[str, str], home: Path, texts: Texts) -> Summariser | None:
    """The model that was set to sum up what is older; None: the one in use. One that cannot be used is refused."""
    if settings.summary_model is None:
        return None
    choice = choose(settings.summary_model, settings, environment)
    if choice.problem is not None:
        raise Problem(MODEL, "summary_model_unusable", why=texts(choice.problem[1], **choice.problem[2]))
    return Summariser(client_of(choice, "", endpoint_profiles(home)), choice.price)
