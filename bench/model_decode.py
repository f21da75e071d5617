"""CPU of the model client against a hand-written loop on aiohttp and msgspec, on the same streams in the same run.

    python -m bench.model_decode [--rounds 5]

Prints milliseconds of CPU in the client and the ratio, for a burst of 20,000 deltas, 200 calls with 100 KB of arguments
each, 2,000 deltas that arrive one by one, and a task of three turns. The server runs in a process of its own. The loop
reads typed chunks and joins by index, and nothing else: no dialects, no judgement, no errors.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from multiprocessing.connection import Connection
from typing import Any

import aiohttp
import msgspec
from msgspec import Struct

from agent_core.messages import Message, TextDelta, ToolCall, ToolSchema
from agent_core.model import OpenAIModel

ARGUMENTS = json.dumps({"text": "x" * 100_000})
WORDS = ["您好", ",", "订单", "123", " Your", " order", " ships", "\n", " is", " $"]
TOOL = ToolSchema("put", "Writes.", {"type": "object", "properties": {"text": {"type": "string"}}})


def event(delta: dict[str, Any], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1764500000,
        "model": "m",
        "choices": [choice],
    }
    data = b"data: " + json.dumps(chunk, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


def text(count: int) -> list[bytes]:
    return [event({"content": WORDS[number % 10]}) for number in range(count)] + ending("stop")


def calls(count: int, piece: int, arguments: str) -> list[bytes]:
    events = []
    for number in range(count):
        function = {"name": "put", "arguments": ""}
        events.append(
            event({"tool_calls": [{"index": number, "id": f"c{number}", "type": "function", "function": function}]})
        )
        for start in range(0, len(arguments), piece):
            fragment = {"index": number, "function": {"arguments": arguments[start : start + piece]}}
            events.append(event({"tool_calls": [fragment]}))
    return events + ending("tool_calls")


def ending(reason: str) -> list[bytes]:
    done = b"data: [DONE]\n\n"
    return [event({}, reason), b"%x\r\n%s\r\n0\r\n\r\n" % (len(done), done)]


ANSWERS: dict[str, list[bytes]] = {}
"""What the server sends, by model."""


class Server(asyncio.Protocol):
    """Answers each request with the events of its model: in one write, or one by one."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.buffer = b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, blank, body = self.buffer.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
        )
        if not blank or len(body) < length:
            return
        self.buffer = body[length:]
        request = json.loads(body[:length])
        model, results = request["model"], sum(message["role"] == "tool" for message in request["messages"])
        if model == "task":
            model = {0: "one call", 1: "two calls"}.get(results, "words")
        self.transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        if model == "paced":
            self.pace(ANSWERS["paced"], 0)
        else:
            self.transport.write(b"".join(ANSWERS[model]))

    def pace(self, events: list[bytes], number: int) -> None:
        if self.transport.is_closing():
            return
        self.transport.write(events[number])
        if number + 1 < len(events):
            asyncio.get_running_loop().call_later(0.0005, self.pace, events, number + 1)


def serve(report: Connection) -> None:
    ANSWERS.update(
        {
            "burst": text(20_000),
            "arguments": calls(200, 2_000, ARGUMENTS),
            "paced": text(2_000),
            "one call": calls(1, 8, '{"text":"order 123"}'),
            "two calls": calls(2, 8, '{"text":"order 123"}'),
            "words": text(200),
        }
    )

    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
        report.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


# --- the hand-written loop ---


class Function(Struct):
    name: str | None = None
    arguments: str | None = None


class Fragment(Struct):
    index: int
    id: str | None = None
    function: Function | None = None


class Delta(Struct):
    content: str | None = None
    tool_calls: list[Fragment] | None = None


class Choice(Struct):
    delta: Delta


class Chunk(Struct):
    choices: list[Choice]


decode = msgspec.json.Decoder(Chunk).decode
Turn = Callable[[list[Message]], Awaitable[tuple[str, list[ToolCall]]]]


def by_hand(session: aiohttp.ClientSession, url: str, model: str) -> Turn:
    tools = [{"type": "function", "function": {"name": TOOL.name, "parameters": TOOL.parameters}}]

    async def payloads(body: bytes) -> AsyncIterator[bytes]:
        async with session.post(
            f"{url}/chat/completions", data=body, headers={"content-type": "application/json"}
        ) as response:
            rest = b""
            async for data in response.content.iter_any():
                *events, rest = (rest + data).split(b"\n\n")
                for one in events:
                    if one[6:12] != b"[DONE]":
                        yield one[6:]

    async def turn(messages: list[Message]) -> tuple[str, list[ToolCall]]:
        sent = [{"role": message.role, "content": message.content} for message in messages]
        body = msgspec.json.encode({"model": model, "messages": sent, "tools": tools, "stream": True})
        words: list[str] = []
        opened: dict[int, list[str]] = {}
        async for payload in payloads(body):
            for choice in decode(payload).choices:
                if choice.delta.content:
                    words.append(choice.delta.content)
                for fragment in choice.delta.tool_calls or ():
                    call = opened.setdefault(fragment.index, ["", "", ""])
                    if fragment.id:
                        call[0] = fragment.id
                    if fragment.function and fragment.function.name:
                        call[1] += fragment.function.name
                    if fragment.function and fragment.function.arguments:
                        call[2] += fragment.function.arguments
        for call in opened.values():
            msgspec.json.decode(call[2])
        return "".join(words), [ToolCall(call[0], call[1], call[2]) for call in opened.values()]

    return turn


def by_client(client: OpenAIModel) -> Turn:
    async def turn(messages: list[Message]) -> tuple[str, list[ToolCall]]:
        words: list[str] = []
        made: list[ToolCall] = []
        async for item in client.stream_chat(messages, [TOOL]):
            if type(item) is TextDelta:
                words.append(item.text)
            elif type(item) is ToolCall:
                made.append(item)
        return "".join(words), made

    return turn


async def task(turn: Turn) -> tuple[str, int]:
    """Turns until one has no call; the text and how many calls there were."""
    messages = [Message(role="system", content="Be brief."), Message(role="user", content="Order 123?")]
    count = 0
    while True:
        words, made = await turn(messages)
        count += len(made)
        if not made or count >= 200:
            return words, count
        messages.append(Message(role="assistant", tool_calls=tuple(made)))
        messages += [Message(role="tool", content='{"ok":true}', tool_call_id=call.id) for call in made]


async def measure(url: str, rounds: int) -> None:
    print(f"{'stream':<12}{'by hand':>12}{'client':>12}{'ratio':>8}   ms of CPU, best of {rounds}")
    async with aiohttp.ClientSession() as session:
        for name, times in (("burst", 1), ("arguments", 1), ("paced", 1), ("task", 50)):
            async with OpenAIModel(url, model=name) as client:
                turns = {"by hand": by_hand(session, url, name), "client": by_client(client)}
                best: dict[str, float] = {}
                results = set()
                for _ in range(rounds):
                    for who, turn in turns.items():
                        started = time.process_time()
                        for _ in range(times):
                            results.add(await task(turn))
                        best[who] = min(best.get(who, 1e9), (time.process_time() - started) / times * 1e3)
                assert len(results) == 1, "the two do not agree"
                ratio = best["client"] / best["by hand"]
                print(f"{name:<12}{best['by hand']:>12.2f}{best['client']:>12.2f}{ratio:>8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    server = context.Process(target=serve, args=(there,), daemon=True)
    server.start()
    try:
        asyncio.run(measure(f"http://127.0.0.1:{here.recv()}/v1", arguments.rounds))
    finally:
        server.terminate()
        server.join()


if __name__ == "__main__":
    main()
