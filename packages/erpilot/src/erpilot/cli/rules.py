"""What somebody decided in advance about calls of certain tools, as it is written: ``deny create_quotation``.

Invariant: a rule that is not understood, or names no tool, is refused with where it stands; it is never ignored, and
never taken for a wider one.
"""

from __future__ import annotations

import fnmatch
import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .problems import STORAGE, USAGE, Problem

if TYPE_CHECKING:
    from agent_core.config import Rule

EFFECTS = ("deny", "ask", "allow")
PROJECT_FILE = Path(".erpilot") / "rules.toml"
"""In the working directory."""
SESSION_SOURCE = "--rule"

Scope = Literal["user", "project", "session"]


@dataclass(frozen=True, slots=True)
class WrittenRule:
    """One rule and where it stands. ``tool`` and ``target`` are shell patterns."""

    effect: str
    tool: str
    target: str | None = None
    reason: str | None = None
    scope: Scope = "user"
    source: str = ""

    def text(self) -> str:
        """As it is written."""
        return " ".join(part for part in (self.effect, self.tool, self.target) if part)

    def toml(self) -> str:
        """As it stands in a file."""
        if self.reason is None:
            return json.dumps(self.text(), ensure_ascii=False)
        named = {"effect": self.effect, "tool": self.tool, "target": self.target, "reason": self.reason}
        pairs = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in named.items() if value)
        return "{" + ", ".join(pairs) + "}"


def read_rules(written: object, scope: Scope, source: str) -> tuple[WrittenRule, ...]:
    """A list of rules: texts (``deny create_quotation``), or tables with effect, tool, target and reason."""
    if not isinstance(written, list):
        raise Problem(USAGE, "rules_no_list", source=source)
    return tuple(_rule(each, scope, source) for each in written)


def read_project_rules(folder: Path) -> tuple[WrittenRule, ...]:
    """The rules of a working directory; none when it has no such file."""
    path = folder / PROJECT_FILE
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise Problem(STORAGE, "config_unreadable", path=path, why=error.strerror or error) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Problem(USAGE, "rules_not_toml", path=path, why=error) from None
    if unknown := sorted(raw.keys() - {"rules"}):
        raise Problem(USAGE, "unknown_setting", name=unknown[0], source=path, known="rules")
    return read_rules(raw.get("rules", []), "project", str(path))


def check_tools(rules: Iterable[WrittenRule], tools: Sequence[str]) -> None:
    """Refuses a rule that holds for none of these tools."""
    for rule in rules:
        if not any(fnmatch.fnmatchcase(tool, rule.tool) for tool in tools):
            known = ", ".join(tools)
            raise Problem(USAGE, "rule_no_tool", source=rule.source, rule=rule.text(), tool=rule.tool, known=known)


def as_rule(written: WrittenRule) -> Rule:
    """As the runtime knows it."""
    from agent_core.config import Rule

    effect: Any = written.effect
    return Rule(effect=effect, tool=written.tool, target=written.target, scope=written.scope, reason=written.reason)


def _rule(written: object, scope: Scope, source: str) -> WrittenRule:
    if isinstance(written, dict):
        if not all(isinstance(value, str) for value in written.values()):
            raise Problem(USAGE, "rule_unclear", source=source, rule=written)
        if unknown := sorted(written.keys() - {"effect", "tool", "target", "reason"}):
            known = "effect, tool, target, reason"
            raise Problem(USAGE, "unknown_setting", name=unknown[0], source=source, known=known)
        effect, tool, target = (written.get(key, "").strip() for key in ("effect", "tool", "target"))
        reason = written.get("reason", "").strip()
    elif isinstance(written, str):
        effect, tool, target = (*written.split(None, 2), "", "", "")[:3]
        target, reason = target.strip(), ""
    else:
        raise Problem(USAGE, "rule_unclear", source=source, rule=written)
    if effect not in EFFECTS:
        raise Problem(USAGE, "rule_effect", source=source, effect=effect, rule=written, known=", ".join(EFFECTS))
    text = f"{tool}{target}{reason}"
    if not tool or any(character.isspace() for character in tool) or not text.isprintable():
        raise Problem(USAGE, "rule_unclear", source=source, rule=written)
    return WrittenRule(effect, tool, target or None, reason or None, scope, source)
