"""``python -m evals.real_model``: READ questions to a real model through the whole product, and what came of them.

Invariant: exit code 0 however weak the model is; 2 for a wrong use, 4 when the endpoint answered no question at all.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from agent_core.errors import ModelError
from agent_core.model.client import OpenAIModel
from erpilot.profiles import PROFILES

from .interview import ask
from .marks import mark
from .questions import QUESTIONS, QuestionFile, read_questions
from .recording import Recorder
from .report import HEAD, About, Result, as_json, row, table


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        file = read_questions(parsed.questions)
        if parsed.only:
            file = _only(file, parsed.only)
        return asyncio.run(_run(parsed, file))
    except (ValueError, ModelError) as error:
        print(error, file=sys.stderr)
        return 2


async def _run(parsed: argparse.Namespace, file: QuestionFile) -> int:
    about = About(
        model=parsed.model,
        base_url=parsed.base_url,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        today=file.today.isoformat(),
        questions=parsed.questions.name,
        max_steps=parsed.max_steps,
    )
    profile = PROFILES["shop"]
    results: list[Result] = []
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="erpilot-eval-")))
        base_url, recorder = parsed.base_url, None
        if parsed.record is not None:
            recorder = Recorder(parsed.record, base_url, parsed.shown or parsed.model)
            base_url = await stack.enter_async_context(recorder.serving())
        key = os.environ.get("OPENAI_API_KEY") or None
        model = OpenAIModel(base_url, key, parsed.model, idle_timeout=parsed.patience)
        await stack.enter_async_context(model)
        print(" | ".join(HEAD), file=sys.stderr)
        for question in file.question:
            if recorder is not None:
                recorder.label = question.id
            found = await ask(question, model, profile, home, file.today, max_steps=parsed.max_steps)
            results.append(Result(found, mark(found)))
            print(" | ".join(row(results[-1])), file=sys.stderr, flush=True)
            if parsed.json is not None:
                parsed.json.write_bytes(as_json(about, results))
    print(f"{about.model}, {about.date}, {about.questions} on {about.today}\n\n{table(results)}")
    if all(result.interview.reason == "model_error" for result in results):
        print(f"No question was answered: {results[-1].interview.message}", file=sys.stderr)
        return 4
    return 0


def _only(file: QuestionFile, wanted: Sequence[str]) -> QuestionFile:
    known = {question.id for question in file.question}
    if unknown := [name for name in wanted if name not in known]:
        raise ValueError(f"There is no question {unknown[0]!r}; there are: {', '.join(sorted(known))}.")
    return QuestionFile(file.today, tuple(question for question in file.question if question.id in wanted))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evals.real_model",
        description="Asks a real model READ questions about the built-in shop, through the product, and reports. "
        "A key is taken from OPENAI_API_KEY.",
    )
    parser.add_argument(
        "--base-url", required=True, metavar="URL", help="an OpenAI-compatible endpoint, https://host/v1"
    )
    parser.add_argument("--model", required=True, metavar="NAME", help="the model's name at the endpoint")
    parser.add_argument("--shown", metavar="NAME", help="what recordings call the model (default: its name)")
    parser.add_argument(
        "--questions", type=Path, default=QUESTIONS, metavar="FILE", help="default: questions.toml here"
    )
    parser.add_argument("--only", action="append", metavar="ID", help="ask this question; can be repeated")
    parser.add_argument("--record", type=Path, metavar="DIR", help="keep every body that the endpoint answers with")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything here, after each question anew")
    parser.add_argument("--max-steps", type=int, default=8, metavar="N", help="model turns per question (default 8)")
    parser.add_argument(
        "--patience", type=float, default=900.0, metavar="SECONDS", help="silence of the endpoint that is waited for"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
