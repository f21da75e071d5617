// What somebody wrote arrives once, whatever goes on in the session when it does.

import { afterEach, beforeEach, expect, it, vi } from "vitest";

type Answer = "said" | "queued" | "busy" | "refused";

let answers: Answer[];
let asked: string[];

function problem(kind: string): Response {
  const body = JSON.stringify({ type: `urn:erpilot:problem:${kind}`, title: kind, status: 409 });
  return new Response(body, { status: 409, headers: { "content-type": "application/problem+json" } });
}

beforeEach(() => {
  vi.resetModules();
  vi.useFakeTimers();
  asked = [];
  vi.stubGlobal("navigator", { language: "zh" });
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path.endsWith("/queue") ? "queue" : "say");
    const next = answers.shift();
    if (next === "said") {
      return new Response(`event: start\ndata: ${JSON.stringify({ session_id: "s" })}\n\n`);
    }
    if (next === "queued") return new Response(JSON.stringify({ session_id: "s" }));
    return problem(next ?? "failed");
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function posted(queue: boolean, ...given: Answer[]): Promise<readonly string[]> {
  answers = given;
  const { outbox, post } = await import("../src/state/outbox");
  post("s", "hello", queue);
  await vi.runAllTimersAsync();
  return outbox.get().map((letter) => letter.state);
}

it("is said when the run it should have waited for has ended", async () => {
  expect(await posted(true, "refused", "said")).toEqual([]);
  expect(asked).toEqual(["queue", "say"]);
});

it("waits for its turn when a run has begun meanwhile", async () => {
  expect(await posted(false, "busy", "queued")).toEqual([]);
  expect(asked).toEqual(["say", "queue"]);
});

it("is sent again when one run ended and another began between the two ways", async () => {
  expect(await posted(false, "busy", "refused", "said")).toEqual([]);
  expect(await posted(true, "refused", "busy", "refused", "said")).toEqual([]);
});

it("stays, with the reason, when it is refused either way", async () => {
  expect(await posted(false, "refused", "refused")).toEqual(["refused"]);
});
