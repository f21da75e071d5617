"""This repository's runtime. Variants: ``sqlite`` (the log on disk, synced) and ``memory``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent_core import AgentLoop, LoopConfig, MemoryStore, OpenAIModel, SqliteStore, TextDelta, tool
from agent_core.events import AssistantMessage
from bench import harness


@asynccontextmanager
async def client(setting: harness.Setting) -> AsyncIterator[harness.Run]:
    """One loop for all tasks; each task is a session of its own."""
    loop = AgentLoop(
        model=OpenAIModel(setting.base_url, "x", setting.model),
        tools=[tool(function) for function in harness.FUNCTIONS.values()],
        store=SqliteStore(setting.folder / "bench.db") if setting.variant == "sqlite" else MemoryStore(),
        config=LoopConfig(system_prompt=harness.SYSTEM, max_steps=60, max_calls=60),
    )

    async def run(task: harness.Task) -> str:
        answer = ""
        async for item in loop.run(harness.QUESTION):
            match item.event:
                case TextDelta(text):
                    task.say(text)
                case AssistantMessage(content=str(content)):
                    answer = content
        return answer

    try:
        yield run
    finally:
        await loop.aclose()


if __name__ == "__main__":
    harness.main(client)
