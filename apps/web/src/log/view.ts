// What a screen shows of a session, as values. Invariant: everything here is derived from the events of one log; a row
// keeps its identity (the same object) as long as nothing in it changed, so a screen can compare by reference.

import type {
  ApprovalDecided,
  ApprovalRequested,
  Artifact,
  Cost,
  Fault,
  Figure,
  GuardTripped,
  LoopEnd,
  Offer,
  Parent,
  Recorded,
  Truncation,
  TrustGranted,
  Usage,
} from "../protocol";

export type CallState = "proposed" | "asked" | "approved" | "running" | "ok" | "failed" | "denied" | "uncertain";

/** The question a call waits for, or waited for, and its answer. */
export interface Question {
  seq: number;
  at: number;
  request: ApprovalRequested;
  decision: ApprovalDecided | null;
  decidedAt: number | null;
}

/** One call of a tool, from the model's wish to what became of it. Times are Unix seconds. */
export interface Call {
  id: string;
  index: number;
  tool: string;
  /** JSON text; that of the newest question where there was one. */
  arguments: string;
  rawName: string | null;
  repaired: boolean;
  state: CallState;
  attempts: number;
  startedAt: number | null;
  finishedAt: number | null;
  duration: number | null;
  cached: boolean;
  content: string | null;
  error: Fault | null;
  truncated: Truncation | null;
  artifacts: readonly Artifact[];
  question: Question | null;
  progress: { text: string; fraction: number | null } | null;
  resolved: string | null;
  /** The event that holds its newest state. */
  seq: number;
}

export interface Failure {
  attempt: number;
  kind: string;
  message: string;
  wait: number | null;
  status: number | null;
  at: number;
}

export interface UserRow {
  kind: "user";
  seq: number;
  at: number;
  text: string;
  files: readonly { name: string; size: number }[];
  author: string;
}

/** One request to the model and the calls it led to. */
export interface StepRow {
  kind: "step";
  seq: number;
  at: number;
  runId: string | null;
  step: number;
  attempt: number;
  failures: readonly Failure[];
  /** The event of the message, null while it is being written. */
  messageSeq: number | null;
  messageAt: number | null;
  text: string | null;
  reasoning: string | null;
  refusal: string | null;
  finishReason: string | null;
  flags: readonly string[];
  calls: readonly Call[];
  usage: Usage | null;
  cost: Cost | null;
  timeToFirstToken: number | null;
  duration: number | null;
  outcome: "writing" | "message" | "failed" | "interrupted";
  figures: readonly Figure[];
  untraced: readonly string[];
}

export type NoteRow =
  | { kind: "guard"; seq: number; at: number; guard: GuardTripped }
  | { kind: "compacted"; seq: number; at: number; how: string; from: number; to: number; summary: string | null }
  | { kind: "rolled_back"; seq: number; at: number; to: number; by: string; reason: string | null }
  | { kind: "interrupted"; seq: number; at: number; by: string }
  | { kind: "forked"; seq: number; at: number; parent: Parent }
  | { kind: "end"; seq: number; at: number; end: LoopEnd; began: number }
  | { kind: "unknown"; seq: number; at: number; type: string };

export type Row = UserRow | StepRow | NoteRow;

export interface Queued {
  seq: number;
  text: string;
  clientMessageId: string | null;
}

export interface Grant {
  seq: number;
  grant: TrustGranted;
  revoked: boolean;
}

export interface Run {
  id: string;
  model: string;
  seq: number;
  startedAt: number;
  /** null while it goes on. */
  end: LoopEnd | null;
}

export interface View {
  sessionId: string;
  /** The newest durable event that was folded in; 0 for none. */
  seq: number;
  /** As somebody named it. */
  title: string | null;
  owner: string | null;
  profile: string | null;
  parent: Parent | null;
  rows: readonly Row[];
  /** Every durable event, in order. */
  events: readonly Recorded[];
  run: Run | null;
  /** Text and reasoning of the step that is being written; never part of the log. */
  live: Live;
  usage: Usage;
  /** Money by currency, exact, as decimal text. */
  costs: Readonly<Record<string, string>>;
  steps: number;
  queue: readonly Queued[];
  /** `client_message_id` of everything that was said or queued. */
  saidIds: ReadonlySet<string>;
  grants: readonly Grant[];
  /** Ids of calls that wait for a person, in the order in which they were asked. */
  asking: readonly string[];
  /** Ids of calls of unknown outcome. */
  doubtful: readonly string[];
  /** Row by call id, of the newest call with it. */
  rowOfCall: ReadonlyMap<string, number>;
}

export interface Live {
  text: string;
  reasoning: string;
}

export const NOTHING_LIVE: Live = { text: "", reasoning: "" };

export function emptyView(sessionId: string): View {
  return {
    sessionId,
    seq: 0,
    title: null,
    owner: null,
    profile: null,
    parent: null,
    rows: [],
    events: [],
    run: null,
    live: NOTHING_LIVE,
    usage: {},
    costs: {},
    steps: 0,
    queue: [],
    saidIds: new Set(),
    grants: [],
    asking: [],
    doubtful: [],
    rowOfCall: new Map(),
  };
}

export function isRunning(view: View): boolean {
  return view.run !== null && view.run.end === null;
}

export type { Offer };
