"""The set-up script, run for real on small checkouts: what it says when it cannot, and that it can be run again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/set-up.sh"

# Builds an editable wheel with the standard library alone, so that nothing has to be downloaded.
BACKEND = """\
import pathlib, zipfile

def build_editable(directory, config_settings=None, metadata_directory=None):
    name = "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(directory, name), "w") as wheel:
        wheel.writestr("tiny.pth", str(pathlib.Path.cwd()))
        wheel.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1\\n")
        wheel.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("tiny-1.dist-info/RECORD", "")
    return name
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def make_checkout(folder: Path) -> Path:
    package = folder / "packages/tiny"
    package.mkdir(parents=True)
    (package / "pyproject.toml").write_text(PROJECT)
    (package / "backend.py").write_text(BACKEND)
    (package / "tiny.py").write_text("answer = 42\n")
    (folder / "requirements.lock").write_text("# nothing\n")
    (folder / "scripts").mkdir()
    shutil.copy(SCRIPT, folder / "scripts")
    return folder


def set_up(checkout: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, **environment}
    command = ["sh", str(checkout / "scripts/set-up.sh")]
    return subprocess.run(command, env=settings, capture_output=True, text=True, timeout=120, check=False)


def fake_python(folder: Path, version: str, *, ensurepip: bool = True) -> str:
    """Answers the question for its version, and fails to import when ensurepip is to be missing."""
    path = folder / "fake-python"
    path.write_text(f'#!/bin/sh\ncase "$2" in *version_info*) echo {version} ;; *) exit {int(not ensurepip)} ;; esac\n')
    path.chmod(0o755)
    return str(path)


def works(checkout: Path) -> bool:
    command = [str(checkout / ".venv/bin/python"), "-c", "import tiny; print(tiny.answer)"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout == "42\n"


def test_a_python_that_does_not_run_is_said_in_one_sentence(tmp_path: Path) -> None:
    done = set_up(make_checkout(tmp_path / "c"), PYTHON="/nowhere/python")
    assert done.returncode == 1
    assert done.stderr == "PYTHON=/nowhere/python does not run: name a Python 3.11, 3.12 or 3.13.\n"


def test_a_machine_without_python_is_told_to_install_one(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("sh", "dirname", "uname"):
        os.symlink(str(shutil.which(name)), tmp_path / "bin" / name)
    done = set_up(make_checkout(tmp_path / "c"), PATH=str(tmp_path / "bin"), PYTHON="")
    assert done.returncode == 1
    assert done.stderr.startswith("There is no python3 here: install Python")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("version", ["2.7", "3.10", "3.14"])
def test_an_unsuitable_python_is_named_with_its_version(tmp_path: Path, version: str) -> None:
    python = fake_python(tmp_path, version)
    done = set_up(make_checkout(tmp_path / "c"), PYTHON=python)
    assert done.returncode == 1
    assert f"{python} is Python {version}: install one" in done.stderr
    assert not (tmp_path / "c/.venv").exists()


def test_a_python_without_ensurepip_is_told_which_package_to_install(tmp_path: Path) -> None:
    done = set_up(make_checkout(tmp_path / "c"), PYTHON=fake_python(tmp_path, "3.12", ensurepip=False))
    assert done.returncode == 1
    assert "apt-get install python3-venv" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_set_up_is_done_once_and_done_again_when_something_changed_or_broke(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "a shop")

    first = set_up(checkout, PYTHON=sys.executable)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith("Creating .venv")
    assert works(checkout)

    again = set_up(checkout, PYTHON=sys.executable)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")

    (checkout / "requirements.lock").write_text("# changed\n")
    changed = set_up(checkout, PYTHON=sys.executable)
    assert changed.stdout.startswith("Updating .venv")

    # Interrupted: no mark yet, and half an environment.
    (checkout / ".venv/set-up-from").unlink()
    shutil.rmtree(next((checkout / ".venv").glob("lib/python*/site-packages/pip")))
    recovered = set_up(checkout, PYTHON=sys.executable)
    assert recovered.returncode == 0
    assert works(checkout)

    # Moved: console scripts hold absolute paths.
    moved = checkout.rename(tmp_path / "elsewhere")
    assert set_up(moved, PYTHON=sys.executable).stdout.startswith("Creating .venv")
    assert works(moved)


@pytest.mark.slow
def test_a_failing_install_is_shown_and_leaves_no_mark(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "c")
    (checkout / "requirements.lock").write_text("tiny==1 --hash=sha256:" + "0" * 64 + "\n")
    done = set_up(checkout, PYTHON=sys.executable, PIP_NO_INDEX="1")
    assert done.returncode == 1
    assert "tiny" in done.stderr
    assert done.stderr.rstrip().endswith("run this again to go on.")
    assert not (checkout / ".venv/set-up-from").exists()
