// From events to what a screen shows. Invariant: pure; `extend(extend(v, a), b)` equals `extend(v, [...a, ...b])` as far
// as the log goes, an event that was folded in already changes nothing, and an unknown event is shown, never an error.

import type { Cost, Recorded, Usage, UserMessage } from "../protocol";
import { plus } from "../text/decimal";
import { type KnownEvent, known } from "./events";
import { type Call, emptyView, NOTHING_LIVE, type NoteRow, type Row, type StepRow, type View } from "./view";

type Draft = { -readonly [Key in keyof View]: View[Key] } & {
  rows: Row[];
  events: Recorded[];
  rowOfCall: Map<string, number>;
};

/** The view after `items`, in their order. Durable events up to `view.seq` are left out: they are in it. */
export function extend(view: View, items: readonly Recorded[]): View {
  const draft: Draft = {
    ...view,
    rows: [...view.rows],
    events: [...view.events],
    rowOfCall: new Map(view.rowOfCall),
  };
  for (const item of items) {
    if (item.seq === null) shown(draft, known(item));
    else if (item.seq > draft.seq) {
      draft.seq = item.seq;
      draft.events.push(item);
      durable(draft, item.seq, item.at, known(item));
    }
  }
  return draft;
}

export function viewOf(sessionId: string, items: readonly Recorded[]): View {
  return extend(emptyView(sessionId), items);
}

/** Pieces of a stream only: cheap enough for thousands of them, since no array is copied. */
export function extendLive(view: View, text: string, reasoning: string): View {
  if (!text && !reasoning) return view;
  return { ...view, live: { text: view.live.text + text, reasoning: view.live.reasoning + reasoning } };
}

function shown(draft: Draft, event: KnownEvent): void {
  switch (event.type) {
    case "TextDelta":
      draft.live = { ...draft.live, text: draft.live.text + event.text };
      break;
    case "ReasoningDelta":
      draft.live = { ...draft.live, reasoning: draft.live.reasoning + event.text };
      break;
    case "TextWithdrawn":
      draft.live = NOTHING_LIVE;
      break;
    case "ToolProgress":
      editCall(draft, event.call_id, { progress: { text: event.text, fraction: event.fraction ?? null } });
      break;
  }
}

function durable(draft: Draft, seq: number, at: number, event: KnownEvent): void {
  switch (event.type) {
    case "SessionStarted":
      draft.owner = event.owner ?? null;
      draft.profile = event.profile ?? draft.profile;
      if (event.parent) {
        draft.parent = event.parent;
        draft.rows.push({ kind: "forked", seq, at, parent: event.parent });
        // What was inherited was paid for, and is allowed, elsewhere.
        draft.usage = {};
        draft.costs = {};
        draft.steps = 0;
        draft.grants = [];
        draft.queue = [];
        draft.run = null;
      }
      break;
    case "RunStarted":
      draft.run = { id: event.run_id, model: event.model, seq, startedAt: at, end: null };
      draft.live = NOTHING_LIVE;
      break;
    case "UserMessage": {
      const row = { kind: "user" as const, seq, at, author: event.author, ...contentOf(event.content) };
      draft.queue = withoutQueued(draft.queue, event.client_message_id ?? null, row.text);
      draft.rows.push(row);
      draft.saidIds = withId(draft.saidIds, event.client_message_id);
      break;
    }
    case "MessageQueued": {
      draft.saidIds = withId(draft.saidIds, event.client_message_id);
      const { text } = contentOf(event.content);
      draft.queue = [...draft.queue, { seq, text, clientMessageId: event.client_message_id ?? null }];
      break;
    }
    case "StepStarted": {
      draft.live = NOTHING_LIVE;
      const open = writingStep(draft, event.step);
      if (open === null) draft.rows.push(newStep(seq, at, draft.run?.id ?? null, event.step, event.attempt));
      else editStep(draft, open, { attempt: event.attempt });
      break;
    }
    case "ModelAttemptFailed": {
      draft.live = NOTHING_LIVE;
      const place = stepFor(draft, seq, at, event.step);
      const { attempt, kind, message, wait, status } = event;
      const failures = [...step(draft, place).failures, { attempt, kind, message, wait, status: status ?? null, at }];
      editStep(draft, place, { failures });
      break;
    }
    case "AssistantMessage": {
      const place = stepFor(draft, seq, at, event.step);
      draft.live = NOTHING_LIVE;
      const calls = (event.tool_calls ?? []).map(
        (wish, index): Call => ({
          id: wish.id,
          index,
          tool: wish.name,
          arguments: wish.arguments,
          rawName: wish.raw_name ?? null,
          repaired: wish.repaired ?? false,
          state: "proposed",
          attempts: 0,
          startedAt: null,
          finishedAt: null,
          duration: null,
          cached: false,
          content: null,
          error: null,
          truncated: null,
          artifacts: [],
          question: null,
          progress: null,
          resolved: null,
          seq,
        }),
      );
      for (const call of calls) draft.rowOfCall.set(call.id, place);
      editStep(draft, place, {
        messageSeq: seq,
        messageAt: at,
        text: event.content,
        reasoning: event.reasoning ?? null,
        refusal: event.refusal ?? null,
        finishReason: event.finish_reason ?? null,
        flags: event.flags ?? [],
        calls,
        timeToFirstToken: event.time_to_first_token ?? null,
        duration: event.duration ?? null,
        outcome: "message",
      });
      break;
    }
    case "StepEnd": {
      draft.live = NOTHING_LIVE;
      const place = lastStep(draft, event.step);
      if (place !== null) {
        editStep(draft, place, { outcome: event.outcome, usage: event.usage ?? null, cost: event.cost ?? null });
      }
      draft.steps += 1;
      spend(draft, event.usage, event.cost);
      break;
    }
    case "ApprovalRequested":
      editCall(draft, event.call_id, {
        state: "asked",
        arguments: event.arguments,
        question: { seq, at, request: event, decision: null, decidedAt: null },
        seq,
      });
      draft.asking = [...draft.asking.filter((id) => id !== event.call_id), event.call_id];
      break;
    case "ApprovalDecided": {
      draft.asking = draft.asking.filter((id) => id !== event.call_id);
      const question = callOf(draft, event.call_id)?.question ?? null;
      const denied = event.decision !== "approved";
      editCall(draft, event.call_id, {
        state: denied ? "denied" : "approved",
        question: question ? { ...question, decision: event, decidedAt: at } : null,
        seq,
      });
      break;
    }
    case "TrustGranted":
      draft.grants = [...draft.grants, { seq, grant: event, revoked: false }];
      break;
    case "TrustRevoked":
      draft.grants = draft.grants.map((each) =>
        each.grant.grant_id === event.grant_id ? { ...each, revoked: true } : each,
      );
      break;
    case "ToolCallStarted": {
      const begun = callOf(draft, event.call_id);
      const startedAt = event.attempt > 1 && begun?.startedAt ? begun.startedAt : at;
      editCall(draft, event.call_id, { state: "running", attempts: event.attempt, startedAt, seq });
      break;
    }
    case "ToolCallFinished": {
      const uncertain = event.error?.type === "uncertain";
      const refused = event.error?.type === "denied" || event.error?.type === "expired";
      editCall(draft, event.call_id, {
        state: event.ok ? "ok" : uncertain ? "uncertain" : refused ? "denied" : "failed",
        finishedAt: at,
        duration: event.duration ?? null,
        attempts: event.attempts ?? 0,
        cached: event.cached ?? false,
        content: event.content,
        error: event.error ?? null,
        truncated: event.truncated ?? null,
        artifacts: event.artifacts ?? [],
        progress: null,
        resolved: null,
        seq,
      });
      draft.asking = draft.asking.filter((id) => id !== event.call_id);
      draft.doubtful = draft.doubtful.filter((id) => id !== event.call_id);
      if (uncertain) draft.doubtful = [...draft.doubtful, event.call_id];
      break;
    }
    case "OutcomeResolved": {
      draft.doubtful = draft.doubtful.filter((id) => id !== event.call_id);
      const states = { happened: "ok", did_not_happen: "failed", send_again: "approved" } as const;
      editCall(draft, event.call_id, { state: states[event.outcome], resolved: event.outcome, seq });
      break;
    }
    case "GuardTripped":
      draft.rows.push({ kind: "guard", seq, at, guard: event });
      break;
    case "ContextCompacted":
      spend(draft, event.usage, event.cost);
      draft.rows.push({
        kind: "compacted",
        seq,
        at,
        how: event.kind,
        from: event.from_seq,
        to: event.to_seq,
        summary: event.summary ?? null,
      });
      break;
    case "AnswerChecked": {
      const place = draft.rows.findLastIndex((row) => row.kind === "step" && row.messageSeq === event.answer_seq);
      if (place >= 0) editStep(draft, place, { figures: event.figures ?? [], untraced: event.untraced ?? [] });
      break;
    }
    case "RolledBack":
      draft.live = NOTHING_LIVE;
      draft.rows.push({ kind: "rolled_back", seq, at, to: event.to_seq, by: event.by, reason: event.reason ?? null });
      break;
    case "SessionLabelled":
      draft.title = event.title ?? draft.title;
      break;
    case "SummaryFailed":
      break;
    case "RunInterrupted":
      draft.rows.push({ kind: "interrupted", seq, at, by: event.by });
      break;
    case "LoopEnd": {
      draft.live = NOTHING_LIVE;
      const began = draft.run?.startedAt ?? at;
      if (draft.run) draft.run = { ...draft.run, end: event };
      draft.rows.push({ kind: "end", seq, at, end: event, began });
      break;
    }
    case "TextDelta":
    case "ReasoningDelta":
    case "TextWithdrawn":
    case "ToolProgress":
      break;
    default:
      draft.rows.push({ kind: "unknown", seq, at, type: (event as { type: string }).type } satisfies NoteRow);
  }
}

function contentOf(parts: UserMessage["content"]) {
  const text = parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
  const files = parts.flatMap((part) => (part.kind === "file" ? [{ name: part.name, size: part.size }] : []));
  return { text, files };
}

function withId(ids: ReadonlySet<string>, id: string | null): ReadonlySet<string> {
  return id === null || ids.has(id) ? ids : new Set(ids).add(id);
}

function withoutQueued(queue: View["queue"], id: string | null, text: string): View["queue"] {
  const place = queue.findIndex((each) => (id === null ? each.text === text : each.clientMessageId === id));
  return place < 0 ? queue : queue.filter((_, index) => index !== place);
}

function newStep(seq: number, at: number, runId: string | null, number: number, attempt: number): StepRow {
  return {
    kind: "step",
    seq,
    at,
    runId,
    step: number,
    attempt,
    failures: [],
    messageSeq: null,
    messageAt: null,
    text: null,
    reasoning: null,
    refusal: null,
    finishReason: null,
    flags: [],
    calls: [],
    usage: null,
    cost: null,
    timeToFirstToken: null,
    duration: null,
    outcome: "writing",
    figures: [],
    untraced: [],
  };
}

function step(draft: Draft, place: number): StepRow {
  return draft.rows[place] as StepRow;
}

function editStep(draft: Draft, place: number, change: Partial<StepRow>): void {
  draft.rows[place] = { ...step(draft, place), ...change };
}

/** The step of this number that a message is still expected for, of the run that is going on. */
function writingStep(draft: Draft, number: number): number | null {
  const place = lastStep(draft, number);
  if (place === null) return null;
  const row = step(draft, place);
  return row.outcome === "writing" && row.runId === (draft.run?.id ?? null) ? place : null;
}

function lastStep(draft: Draft, number: number): number | null {
  for (let place = draft.rows.length - 1; place >= 0; place -= 1) {
    const row = draft.rows[place];
    if (row?.kind === "step") return row.step === number ? place : null;
  }
  return null;
}

function stepFor(draft: Draft, seq: number, at: number, number: number): number {
  const open = writingStep(draft, number);
  if (open !== null) return open;
  draft.rows.push(newStep(seq, at, draft.run?.id ?? null, number, 1));
  return draft.rows.length - 1;
}

function callOf(draft: Draft, id: string): Call | null {
  const place = draft.rowOfCall.get(id);
  if (place === undefined) return null;
  return step(draft, place).calls.find((call) => call.id === id) ?? null;
}

function editCall(draft: Draft, id: string, change: Partial<Call>): void {
  const place = draft.rowOfCall.get(id);
  if (place === undefined) return;
  const calls = step(draft, place).calls.map((call) => (call.id === id ? { ...call, ...change } : call));
  editStep(draft, place, { calls });
}

function spend(draft: Draft, usage: Usage | null, cost: Cost | null): void {
  if (usage) draft.usage = sum(draft.usage, usage);
  if (cost) draft.costs = { ...draft.costs, [cost.currency]: plus(draft.costs[cost.currency] ?? "0", cost.amount) };
}

const COUNTS = [
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
] as const;

/** Count by count; one that neither reports stays unknown. */
export function sum(a: Usage, b: Usage): Usage {
  const total: Usage = {};
  for (const name of COUNTS) {
    const [mine, theirs] = [a[name] ?? null, b[name] ?? null];
    if (mine !== null || theirs !== null) total[name] = (mine ?? 0) + (theirs ?? 0);
  }
  return total;
}
