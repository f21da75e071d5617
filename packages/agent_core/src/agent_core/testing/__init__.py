"""What tests of agents, tools and stores are made with; public API like the rest.

``ScriptedModel`` plays turns, ``MemoryStore`` forgets, ``conformance`` says whether a store keeps its promises,
``failpoints`` stop a program at a named place, ``ErpDouble`` accounts for every effect.
"""

from __future__ import annotations

from ..model.scripted import Request as Request
from ..model.scripted import ScriptedModel as ScriptedModel
from ..model.scripted import ScriptExhausted as ScriptExhausted
from ..store.memory import MemoryStore as MemoryStore
from .erp import Effect as Effect
from .erp import ErpDouble as ErpDouble
from .failpoints import SimulatedCrash as SimulatedCrash

__all__ = ["Effect", "ErpDouble", "MemoryStore", "Request", "ScriptExhausted", "ScriptedModel", "SimulatedCrash"]
