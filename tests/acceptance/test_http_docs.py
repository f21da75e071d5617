"""The examples of docs/http.md, run against a real ``erpilot serve``: every resource with curl, a client in Python and
one in TypeScript.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from erpilot_api.app import create_app
from scripts import build_web
from tests.support.cli import QUESTION, environment, erpilot, start
from tests.support.http_api import house_of
from tests.support.loops import loop_over

ROOT = Path(__file__).parents[2]
PATIENCE = 240
"""Seconds; no test fails because the machine is slow."""
PAGE = (ROOT / "docs/http.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Served:
    """A server that runs: its address, and a code that was not used yet."""

    home: Path
    address: str
    code: str

    def token(self) -> str:
        """A token for programs, as a person makes one."""
        (name,) = [line.split()[0] for line in erpilot(self.home, "users", "list").out.splitlines()[1:2]]
        return erpilot(self.home, "users", "token", name).out.strip()


@pytest.fixture
def served(home: Path) -> Iterator[Served]:
    process = start(home, ["serve", "--port", "0"])
    assert process.stderr is not None
    said = b""
    while b"#code=" not in said:
        line = process.stderr.readline()
        assert line, said.decode()
        said += line
    found = re.search(rb"(http://127\.0\.0\.1:\d+)/#code=(\S+)", said)
    assert found is not None
    yield Served(home, found[1].decode(), found[2].decode())
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_the_examples_name_every_operation_of_the_api() -> None:
    document = create_app(house_of(loop_over()[0])).openapi()
    wanted = {
        (method.upper(), re.sub(r"\{\w+\}", "*", path)) for path, item in document["paths"].items() for method in item
    }
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    named = set()
    for line in lines:
        for path in re.findall(r"\$ERPILOT(/api/[^\s\"'?)]*)", line):
            method = re.search(r"-X (\w+)", line)
            named.add((method[1] if method else "GET", re.sub(r"\$\w+", "*", path)))
    assert named - wanted == {("GET", "/api/openapi.json")}
    assert wanted <= named


def test_the_curl_examples_work_one_after_the_other(served: Served, tmp_path: Path) -> None:
    folder = tmp_path / "examples"
    folder.mkdir()
    script = "set -eu\nset -o pipefail\n" + "\n".join(blocks("sh"))
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment(served.home, ERPILOT=served.address, CODE=served.code),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    out = done.stdout.decode()
    assert done.returncode == 0, out + done.stderr.decode()
    refused = ("decided already", "not in doubt", "nothing is going on")
    for words in (*refused, "鑫源商行的订单", "event: done", '"status":"ok"'):
        assert words in out
    verified = erpilot(tmp_path / "elsewhere", "verify", str(folder / "session.jsonl"))
    assert verified.code == 0, verified.err


def test_the_python_client_of_the_docs_reads_an_answer_to_its_end(served: Served) -> None:
    (program,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", program, served.address, served.token(), QUESTION],
        env=environment(served.home),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "合计 6927.00 元" in done.stdout.decode()


def test_the_typescript_client_of_the_docs_compiles_against_the_protocol_and_reads_an_answer(
    served: Served, tmp_path: Path
) -> None:
    (client,) = blocks("typescript")
    node = build_web.node_or_install()
    with build_web._alone():
        build_web.install_modules(node)
    path = os.pathsep.join([str(Path(node.node).parent), os.environ["PATH"]])
    shutil.copy(ROOT / "apps/web/src/protocol.ts", tmp_path / "protocol.ts")
    (tmp_path / "client.ts").write_text(client, encoding="utf-8")
    (tmp_path / "main.ts").write_text(
        'import { ask } from "./client";\n'
        "declare const process: { argv: string[]; stdout: { write(text: string): void } };\n"
        "const [base, token, message] = process.argv.slice(2) as [string, string, string];\n"
        "for await (const item of ask(base, token, message))\n"
        '  if (item.event.type === "TextDelta") process.stdout.write((item.event as { text: string }).text);\n',
        encoding="utf-8",
    )
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    options = [
        "--target",
        "es2022",
        "--module",
        "esnext",
        "--moduleResolution",
        "bundler",
        "--lib",
        "es2022,dom,dom.iterable",
    ]
    compiled = subprocess.run(
        [
            str(build_web.WEB / "node_modules/.bin/tsc"),
            "--strict",
            "--types",
            "",
            "--outDir",
            "out",
            *options,
            "main.ts",
            "client.ts",
        ],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert compiled.returncode == 0, compiled.stdout.decode()
    main = tmp_path / "out/main.js"
    main.write_text(main.read_text(encoding="utf-8").replace('"./client"', '"./client.js"'), encoding="utf-8")
    done = subprocess.run(
        [node.node, str(main), served.address, served.token(), QUESTION],
        cwd=tmp_path / "out",
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "合计 6927.00 元" in done.stdout.decode()
