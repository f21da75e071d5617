"""The suite itself: a case for what an ERP does not declare passes only when the ERP refuses it as documented."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

import pytest

from erpilot.shop.backend import Capability, ErpBackend, Whoami, Write, Written, offered
from erpilot.shop.errors import NotFound, Unsupported
from erpilot.shop.values import Company
from tests.support.erp_samples import SAMPLES
from tests.support.erp_world import REFUSED, World, needs, refused


class Nothing(ErpBackend):
    """Declares nothing and does nothing."""

    kind = "nothing"

    async def whoami(self) -> Whoami:
        return Whoami("nobody", Company("无"), self.kind, offered(Nothing), frozenset())

    def now(self) -> datetime:
        return datetime(2026, 11, 30, tzinfo=UTC)

    async def find_by_key(self, key: str) -> Written | None:
        return None


class Silent(Nothing):
    """Answers what it does not declare."""

    async def cancel_order(self, number: str, *, reason: str, rest_only: bool = False, write: Write) -> Written:
        raise NotFound("There is no such order.")


class Misnamed(Nothing):
    """Refuses under another name."""

    async def cancel_order(self, number: str, *, reason: str, rest_only: bool = False, write: Write) -> Written:
        raise Unsupported("deliver_order", self.kind)


class Somewhere:
    def __init__(self, backend: ErpBackend) -> None:
        self.backend = backend


@needs("cancel_order")
async def case(world: World) -> None:
    raise AssertionError("the body of a case for what is not declared does not run")


async def _run(backend: ErpBackend) -> None:
    await cast("Any", case)(world=Somewhere(backend))


async def test_what_is_not_declared_and_refused_passes_and_is_counted() -> None:
    REFUSED.clear()
    await _run(Nothing())
    assert REFUSED == ["cancel_order"]
    REFUSED.clear()


async def test_what_is_not_declared_but_answered_fails() -> None:
    with pytest.raises(NotFound):
        await _run(Silent())
    with pytest.raises(AssertionError):
        await _run(Misnamed())


async def test_there_is_a_sample_for_everything_that_can_be_declared() -> None:
    from erpilot.shop.backend import READS, VERBS

    assert set(SAMPLES) == {*VERBS, *READS}


@pytest.mark.parametrize("capability", sorted(SAMPLES))
async def test_a_backend_refuses_whatever_it_does_not_override(capability: Capability) -> None:
    REFUSED.clear()
    await refused(Nothing(), capability)
    assert [capability] == REFUSED
    REFUSED.clear()
