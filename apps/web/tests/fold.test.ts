// The fold against the golden logs of the runtime, at every cut.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { extend, extendLive, viewOf } from "../src/log/fold";
import { type Call, emptyView, type StepRow, type View } from "../src/log/view";
import type { Recorded } from "../src/protocol";
import { fold } from "../src/state/session";

const GOLDEN = join(import.meta.dirname, "../../../tests/golden/v1");
const logs = new Map(
  readdirSync(GOLDEN)
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => [name.replace(".jsonl", ""), items(readFileSync(join(GOLDEN, name), "utf8"))]),
);

function items(text: string): Recorded[] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Recorded);
}

function log(name: string): Recorded[] {
  const found = logs.get(name);
  if (!found) throw new Error(`no golden log ${name}`);
  return found;
}

function calls(view: View): Call[] {
  return view.rows.flatMap((row) => (row.kind === "step" ? [...row.calls] : []));
}

function steps(view: View): StepRow[] {
  return view.rows.filter((row) => row.kind === "step");
}

const shown = (event: object): Recorded =>
  ({ session_id: "s", seq: null, at: 0, event: { v: 1, ...event }, hash: null }) as Recorded;

describe("a view", () => {
  it("is the same wherever the log is cut, and when events come twice", () => {
    expect(logs.size).toBeGreaterThanOrEqual(6);
    for (const [name, all] of logs) {
      const whole = viewOf("s", all);
      expect(whole.seq, name).toBe(all.length);
      expect(whole.events, name).toHaveLength(all.length);
      for (let cut = 0; cut <= all.length; cut += 1) {
        const half = viewOf("s", all.slice(0, cut));
        expect(extend(half, all.slice(cut)), `${name} at ${cut}`).toEqual(whole);
        expect(extend(half, all), `${name} from ${cut}, all again`).toEqual(whole);
      }
    }
  });

  it("leaves what it was made from as it was", () => {
    for (const [name, all] of logs) {
      const half = viewOf("s", all.slice(0, all.length >> 1));
      const before = structuredClone(half);
      extend(half, all);
      expect(half, name).toEqual(before);
    }
  });

  it("keeps the rows that did not change as the same objects", () => {
    const all = log("reads");
    const before = viewOf("s", all.slice(0, 8));
    const after = extend(before, all.slice(8, 9));
    expect(after.rows[0]).toBe(before.rows[0]);
    expect(after.rows[1]).not.toBe(before.rows[1]);
  });

  it("shows calls in the order of the message, whatever ended first", () => {
    const view = viewOf("s", log("reads"));
    const [first, second, third] = steps(view)[0]?.calls ?? [];
    expect([first?.id, second?.id, third?.id]).toEqual(["c1", "c2", "c3"]);
    expect(second).toMatchObject({
      state: "ok",
      attempts: 2,
      repaired: true,
      rawName: "lookup",
      truncated: { total: 9000 },
    });
    expect(third).toMatchObject({ state: "failed", error: { type: "validation" }, startedAt: null });
  });

  it("follows a question from asking to what became of it", () => {
    const all = log("writes");
    const asking = viewOf("s", all.slice(0, 10));
    expect(asking.asking).toEqual(["c1", "c2", "c3", "c4"]);
    expect(asking.run?.end?.reason).toBe("awaiting_approval");
    const view = viewOf("s", all);
    const byId = new Map(calls(view).map((call) => [call.id, call]));
    expect(byId.get("c1")).toMatchObject({ state: "ok", resolved: "happened", attempts: 3 });
    expect(byId.get("c2")).toMatchObject({ state: "denied", question: { decision: { reason: "too much" } } });
    expect(byId.get("c3")).toMatchObject({ state: "denied", error: { type: "expired" } });
    expect(view.asking).toEqual([]);
    expect(view.doubtful).toEqual([]);
    expect(viewOf("s", all.slice(0, 27)).doubtful).toEqual(["c1"]);
    expect(view.grants.map((each) => [each.grant.grant_id, each.revoked])).toEqual([
      ["g1", false],
      ["g2", true],
    ]);
  });

  it("adds up tokens and money, exactly, and a fork begins with none", () => {
    expect(viewOf("s", log("reads"))).toMatchObject({ costs: { CNY: "0.0123" }, usage: { prompt_tokens: 120 } });
    const forked = viewOf("s", log("turns"));
    expect(forked.parent).toEqual({ session_id: "elsewhere", seq: 14 });
    expect(forked.costs).toEqual({});
  });

  it("takes a queued message off the queue when it is said", () => {
    expect(viewOf("s", log("turns").slice(0, 9)).queue.map((each) => each.text)).toEqual(["and this", "no id"]);
    expect(viewOf("s", log("turns").slice(0, 10)).queue.map((each) => each.text)).toEqual(["no id"]);
  });

  it("puts failed attempts into the step that they belong to", () => {
    const [first, second] = steps(viewOf("s", log("troubles")));
    expect(first).toMatchObject({ attempt: 3, outcome: "failed" });
    expect(first?.failures.map((each) => each.kind)).toEqual(["overloaded", "invalid_request", "auth"]);
    expect(second).toMatchObject({ outcome: "message", flags: ["empty_response"] });
  });

  it("shows an event of a newer server instead of failing", () => {
    const item = {
      session_id: "s",
      seq: 1,
      at: 1,
      event: { type: "Telepathy", v: 1 },
      hash: null,
    } as unknown as Recorded;
    expect(viewOf("s", [item]).rows).toEqual([{ kind: "unknown", seq: 1, at: 1, type: "Telepathy" }]);
  });
});

describe("text that is being written", () => {
  const begun = () => viewOf("s", log("plain").slice(0, 4));

  it("is joined in order, withdrawn, and replaced by the message", () => {
    const pieces = ["订单", " 123", "。"].map((text) => ({ item: shown({ type: "TextDelta", text }) }));
    const written = fold(begun(), pieces);
    expect(written.live.text).toBe("订单 123。");
    expect(fold(written, [{ item: shown({ type: "TextWithdrawn", reason: "" }) }]).live.text).toBe("");
    const all = log("plain");
    expect(extend(written, all).live).toEqual({ text: "", reasoning: "" });
  });

  it("begins afresh with what the server says of an unfinished step", () => {
    const written = extendLive(begun(), "old", "");
    const again = fold(written, [
      { live: { text: "old and", reasoning: "" } },
      { item: shown({ type: "TextDelta", text: " new" }) },
    ]);
    expect(again.live.text).toBe("old and new");
  });

  it("changes no row", () => {
    const view = begun();
    expect(fold(view, [{ item: shown({ type: "TextDelta", text: "x" }) }]).rows).toBe(view.rows);
  });
});

it("ten thousand events are folded in pieces, and it is told how long that took", () => {
  const all = Array.from({ length: 1250 }, (_, turn) => turnOf(turn)).flat();
  const events = all.map(
    (event, index) => ({ session_id: "s", seq: index + 1, at: index, event, hash: null }) as unknown as Recorded,
  );
  const started = performance.now();
  let view = emptyView("s");
  for (let at = 0; at < events.length; at += 100) view = extend(view, events.slice(at, at + 100));
  expect(view.seq).toBe(10_000);
  expect(view.steps).toBe(2500);
  console.info(`10,000 events in ${Math.round(performance.now() - started)} ms`);
});

function turnOf(turn: number): object[] {
  const id = `c${turn}`;
  return [
    {
      type: "UserMessage",
      content: [{ kind: "text", text: `question ${turn}` }],
      author: "u",
      client_message_id: null,
      context: [],
    },
    { type: "StepStarted", step: 1, attempt: 1, request: { added: [], frame: "f" }, estimated_tokens: 1 },
    { type: "AssistantMessage", step: 1, content: null, tool_calls: [{ id, name: "get_order", arguments: "{}" }] },
    {
      type: "StepEnd",
      step: 1,
      outcome: "message",
      usage: { prompt_tokens: 1 },
      cost: { amount: "0.001", currency: "CNY" },
    },
    { type: "ToolCallStarted", call_id: id, index: 0, attempt: 1, tool: "get_order", digest: "", idempotency_key: "" },
    { type: "ToolCallFinished", call_id: id, index: 0, tool: "get_order", ok: true, content: "{}", artifacts: [] },
    { type: "AssistantMessage", step: 2, content: "answer", tool_calls: [] },
    { type: "StepEnd", step: 2, outcome: "message", usage: null, cost: null },
  ];
}
