from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from erpilot.cli.config import Settings, read_settings, write_settings
from erpilot.cli.problems import Problem
from erpilot.cli.rules import PROJECT_FILE, WrittenRule, as_rule, check_tools, read_project_rules, read_rules


def test_a_rule_is_effect_tool_and_target() -> None:
    [one, other, third] = read_rules(
        ["deny create_quotation", "ask create_* 鑫源 商行*", {"effect": "deny", "tool": "*", "reason": "Holiday."}],
        "user",
        "config.toml",
    )
    assert (one.effect, one.tool, one.target, one.scope) == ("deny", "create_quotation", None, "user")
    assert (other.tool, other.target) == ("create_*", "鑫源 商行*")
    assert as_rule(third).reason == "Holiday."
    assert as_rule(one).scope == "user"


@pytest.mark.parametrize(
    "written",
    [
        "forbid create_quotation",
        "deny",
        "",
        "deny  ",
        3,
        ["deny x"],
        {"effect": "deny"},
        {"effect": "deny", "tool": "x y"},
        {"effect": "deny", "tool": "x", "tier": "WRITE"},
        {"effect": "deny", "tool": 3},
        {"effect": "DENY", "tool": "x"},
        "deny x a\x1b[2J",
        "deny x a\nb",
    ],
    ids=repr,
)
def test_what_is_no_rule_is_refused_with_where_it_stands(written: object) -> None:
    with pytest.raises(Problem) as problem:
        read_rules([written], "project", "rules.toml")
    assert problem.value.code == 2
    assert problem.value.values["source"] == "rules.toml"


@pytest.mark.parametrize("tool", ["create_quotatoin", "crate_*", "WRITE"])
def test_a_rule_that_holds_for_no_tool_is_refused(tool: str) -> None:
    with pytest.raises(Problem) as problem:
        check_tools([WrittenRule("deny", tool)], ["create_quotation", "get_order"])
    assert problem.value.code == 2
    check_tools([WrittenRule("deny", "create_*")], ["create_quotation"])


def test_rules_survive_a_change_of_the_settings(tmp_path: Path) -> None:
    rules = (
        WrittenRule("deny", "create_quotation", 'a "b" c', None, "user", str(tmp_path / "config.toml")),
        WrittenRule("ask", "*", None, "because", "user", str(tmp_path / "config.toml")),
    )
    write_settings(tmp_path, Settings(model="offline", rules=rules))
    assert read_settings(tmp_path, {}) == Settings(model="offline", rules=rules)


@given(
    st.sampled_from(("deny", "ask", "allow")),
    st.from_regex(r"[a-z_*?\[\]]{1,20}", fullmatch=True),
    st.one_of(st.none(), st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1)),
    st.one_of(st.none(), st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1)),
)
def test_what_a_rule_writes_is_what_it_reads(effect: str, tool: str, target: str | None, reason: str | None) -> None:
    import tomllib

    rule = WrittenRule(effect, tool, target, reason, "user", "s")
    [again] = read_rules(tomllib.loads(f"rules = [{rule.toml()}]")["rules"], "user", "s")
    assert again == rule


def test_the_rules_of_a_folder_have_its_scope(tmp_path: Path) -> None:
    assert read_project_rules(tmp_path) == ()
    path = tmp_path / PROJECT_FILE
    path.parent.mkdir()
    path.write_text('rules = ["deny create_quotation"]', encoding="utf-8")
    [rule] = read_project_rules(tmp_path)
    assert (rule.scope, rule.source) == ("project", str(path))


@pytest.mark.parametrize("text", ["rules = 3", "rules = [", 'allow = ["x"]', "\xff", "rules = [3]"])
def test_a_file_of_rules_that_is_not_understood_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / PROJECT_FILE
    path.parent.mkdir()
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(Problem) as problem:
        read_project_rules(tmp_path)
    assert problem.value.code == 2
