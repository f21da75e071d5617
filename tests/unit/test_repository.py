"""What holds for the repository as a whole: the lock, the size of modules, the documents and what they refer to."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, get_args

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from agent_core import events
from erpilot.cli import problems
from erpilot.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
PROJECTS = sorted(ROOT.glob("packages/*/pyproject.toml"))
MODULES = sorted(ROOT.glob("packages/*/src/**/*.py"))
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
EVENTS = [*get_args(events.DurableEvent), *get_args(events.ShownEvent)]
SOURCES = ("*.md", "*.toml", "*.in", "*.lock", "Makefile", "NOTICE")
FOLDERS = ("packages", "tests", "bench", "evals", "docs", "scripts", ".ci")

# A path that only exists on the machine of whoever wrote it. Part of an address (example.org/home/x) is none.
MACHINE_PATH = re.compile(r"(?<![\w.])/(home|root|work|Users)/\w")


def under(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def lock_entries() -> dict[str, tuple[Requirement, int]]:
    """Name to requirement and number of hashes."""
    entries: dict[str, tuple[Requirement, int]] = {}
    for block in re.split(r"\n(?=\S)", (ROOT / "requirements.lock").read_text().strip()):
        first, *rest = block.splitlines()
        requirement = Requirement(first.rstrip(" \\"))
        hashes = [line for line in rest if re.fullmatch(r"\s+--hash=sha256:[0-9a-f]{64}( \\)?", line)]
        assert len(hashes) == len(rest), f"{first}: a line that is no hash"
        entries[canonicalize_name(requirement.name)] = (requirement, len(hashes))
    return entries


def wanted() -> list[Requirement]:
    """What the packages and requirements.in ask for, our own packages left out."""
    written = (line.partition(" #")[0].strip() for line in (ROOT / "requirements.in").read_text().splitlines())
    lines = [line for line in written if line and line[0] not in "#."]
    for project in PROJECTS:
        lines += tomllib.loads(project.read_text())["project"]["dependencies"]
    ours = {canonicalize_name(tomllib.loads(project.read_text())["project"]["name"]) for project in PROJECTS}
    return [each for each in map(Requirement, lines) if canonicalize_name(each.name) not in ours]


def test_every_locked_requirement_is_an_exact_version_with_hashes() -> None:
    assert len(lock_entries()) > 20
    for requirement, hashes in lock_entries().values():
        assert re.fullmatch(r"==[^,*]+", str(requirement.specifier)), requirement
        assert hashes >= 1, requirement


def test_the_lock_names_no_address_and_no_option() -> None:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert not [line for line in lines if "://" in line or line.startswith("-") or " @ " in line]


@pytest.mark.parametrize("requirement", wanted(), ids=lambda requirement: requirement.name)
def test_the_lock_satisfies_what_the_packages_ask_for(requirement: Requirement) -> None:
    locked, _ = lock_entries()[canonicalize_name(requirement.name)]
    version = str(locked.specifier).removeprefix("==")
    assert requirement.specifier.contains(version), f"{requirement} but {version} is locked: run make lock"


def test_all_packages_have_one_version_licence_and_range_of_pythons() -> None:
    projects = [tomllib.loads(project.read_text())["project"] for project in PROJECTS]
    for key in ("version", "license", "requires-python"):
        assert len({project[key] for project in projects}) == 1, key


@pytest.mark.parametrize("module", MODULES, ids=under)
def test_no_module_is_longer_than_400_lines(module: Path) -> None:
    assert len(module.read_text().splitlines()) <= 400


@pytest.mark.parametrize("module", [each for each in MODULES if each.name != "__init__.py"], ids=under)
def test_every_module_says_what_it_owns(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text()))


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    files = [path for pattern in SOURCES for path in ROOT.glob(pattern)]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    found = []
    for path in files:
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        found += [f"{under(path)}: {match[0]}" for match in MACHINE_PATH.finditer(text)]
    assert not found


@pytest.mark.parametrize("document", DOCUMENTS, ids=under)
def test_links_of_a_document_lead_to_files_that_exist(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text())
    missing = [target for target in targets if "://" not in target and not (document.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("document", DOCUMENTS, ids=under)
def test_make_targets_that_a_document_names_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = re.findall(r"^(?:`|\| `)?make ([a-z-]+)|`make ([a-z-]+)", document.read_text(), re.MULTILINE)
    assert {first or second for first, second in named} <= targets


@pytest.mark.parametrize("document", DOCUMENTS, ids=under)
def test_python_in_a_document_is_valid(document: Path) -> None:
    for block in re.findall(r"```python\n(.*?)```", document.read_text(), re.DOTALL):
        compile(block, under(document), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_the_page_on_events_explains_every_field(event: Any) -> None:
    page = (ROOT / "docs/events.md").read_text()
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", page, re.DOTALL | re.MULTILINE))
    assert event.__name__ in sections
    explained = set(re.findall(r"\w+", sections[event.__name__]))
    assert set(event.__struct_fields__) - {"v"} <= explained


def test_the_page_on_the_command_line_names_every_command_and_exit_code() -> None:
    page = (ROOT / "docs/cli.md").read_text()
    commands = set(re.findall(r"`erpilot ([a-z-]+)[ `]", page))
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    brought = {each.name for each in entry_points(group="erpilot.commands")}
    assert "serve" in brought
    assert commands == set(COMMANDS) | brought
    assert codes == {problems.UNEXPECTED, problems.USAGE, problems.STORAGE, problems.BUSY} | set(
        problems.EXIT_OF_REASON.values()
    )


def test_both_readmes_show_the_same_commands_code_and_exit_codes() -> None:
    def facts(name: str) -> tuple[list[str], list[str], list[str]]:
        text = (ROOT / name).read_text()
        headings = re.findall(r"^#+ ", text, re.MULTILINE)
        codes = re.findall(r"^\| (\d+) \|", text, re.MULTILINE)
        commands = re.findall(r"^(?:make|export|from|loop = ).*?(?=$|  +#)", text, re.MULTILINE)
        return headings, codes, commands

    assert facts("README.md") == facts("README.zh-CN.md")
