// The protocol of Erpilot: events, envelopes, and the shapes of the HTTP resources.
// Made by `make protocol` from the types of the server; changes here are lost.

/** It was taken; what comes of it stands in the events. */
export interface Accepted {
  session_id: string;
  head: number;
  running: boolean;
  changed: boolean;
}

/** The figures of the answer at `answer_seq` and where each came from. */
export interface AnswerChecked {
  type: "AnswerChecked";
  answer_seq: number;
  figures: Figure[];
  untraced: string[];
  v: number;
}

/** A call that waits for a person. `arguments` is JSON text; `digest` binds an answer to them. */
export interface Approval {
  session_id: string;
  session_title: string;
  session_owner: string | null;
  call_id: string;
  seq: number;
  asked_at: number;
  tool: string;
  tier: string;
  arguments: string;
  digest: string;
  preview: Preview;
  why: string;
  may: ("always" | "approve" | "deny" | "edit")[];
  target: string | null;
  deadline: number | null;
  offer: Offer | null;
}

/** The answer to an `ApprovalRequested`, bound to its digest. */
export interface ApprovalDecided {
  type: "ApprovalDecided";
  call_id: string;
  digest: string;
  decision: "approved" | "cancelled" | "denied" | "expired";
  by: string;
  reason: string | null;
  arguments: string | null;
  grant_id: string | null;
  channel: string | null;
  v: number;
}

/** All that wait, the oldest first. */
export interface ApprovalList {
  approvals: Approval[];
}

/** A call waits for a person. `digest` is that of the canonical arguments; `deadline` in Unix seconds. */
export interface ApprovalRequested {
  type: "ApprovalRequested";
  call_id: string;
  index: number;
  tool: string;
  tier: string;
  arguments: string;
  digest: string;
  preview: Preview;
  target: string | null;
  versions: Record<string, string>;
  deadline: number | null;
  why: string;
  offer: Offer | null;
  v: number;
}

/** A file that a call produced, kept by hash. */
export interface Artifact {
  name: string;
  media_type: string;
  content: string;
  size: number;
}

/** What the model answered, whole. Times in seconds from the sending of the request. */
export interface AssistantMessage {
  type: "AssistantMessage";
  step: number;
  content: string | null;
  tool_calls: ToolCall[];
  reasoning: string | null;
  finish_reason: string;
  raw_finish_reason: string | null;
  refusal: string | null;
  flags: string[];
  replay: Record<string, unknown> | null;
  origin: string | null;
  time_to_first_token: number | null;
  duration: number | null;
  v: number;
}

/** A run begins, or goes on (`resumed`). `environment`: name of the content that its decisions depend on. */
export interface Began {
  kind: "run";
  run_id: string;
  model: string;
  by: string;
  at: number;
  resumed?: boolean;
  environment?: string;
  seq: number;
}

/** One field of one record, before and after, in the words of the shop. */
export interface Change {
  field: string;
  before: string | null;
  after: string | null;
  record: string | null;
}

/** A write, and what would take it back; `why_not` where nothing would. */
export interface Compensation {
  seq: number;
  tool: string;
  arguments: string;
  undo_tool: string | null;
  undo_arguments: string | null;
  why_not: string | null;
}

/** Events `from_seq` to `to_seq` reach later requests only in this form. */
export interface ContextCompacted {
  type: "ContextCompacted";
  kind: "clipped" | "dropped" | "masked" | "summarised";
  from_seq: number;
  to_seq: number;
  summary: string | null;
  pinned: string[];
  usage: Usage | null;
  cost: Cost | null;
  keep: number | null;
  by: string | null;
  v: number;
}

/** Money, exact. */
export interface Cost {
  amount: string;
  currency: string;
}

/** An answer to an approval. `digest`: of the question that was seen, so that no other one is answered. `arguments`: edited ones; they are shown and asked again. `always`: also takes the offer. */
export interface Decide {
  decision: "approve" | "deny";
  digest?: string | null;
  reason?: string | null;
  arguments?: Record<string, unknown> | null;
  always?: boolean;
}

/** The decision about a call that stands. */
export interface Decision {
  session_id: string;
  call_id: string;
  decision: "approved" | "cancelled" | "denied" | "expired";
  by: string | null;
  reason: string | null;
  running: boolean;
}

/** `common`: the last event that both have, 0 when there is none. */
export interface Diff {
  common: number;
  a: DiffSide;
  b: DiffSide;
  rows: DiffRow[];
}

/** A call that changed something, or may have. */
export interface DiffEffect {
  seq: number;
  tool: string;
  arguments: string;
  outcome: "done" | "uncertain";
}

/** One event of each, side by side (`Recorded`); null where the other one has nothing like it. */
export interface DiffRow {
  a: Recorded | null;
  b: Recorded | null;
  same: boolean;
}

/** What one session did since they parted. */
export interface DiffSide {
  session_id: string;
  head: number;
  steps: number;
  usage: Usage;
  costs: Record<string, string>;
  effects: DiffEffect[];
}

/** `event: done`, the last frame of a stream that came to its end. A stream without it was cut off: ask again for what comes after the last `id`. */
export interface Done {
  session_id: string;
  seq: number;
  reason: string;
}

/** A call whose outcome is not known. */
export interface Doubt {
  session_id: string;
  call_id: string;
  tool: string;
  arguments: string;
  message: string;
}

/** The run is over, or waits. */
export interface Ended {
  kind: "end";
  run_id: string;
  reason: string;
  steps: number;
  at: number;
  message?: string | null;
  usage?: Usage | null;
  amount?: string | null;
  currency?: string | null;
  seq: number;
}

/** The one-time code of a link that `erpilot serve` printed. */
export interface Enter {
  code: string;
}

/** `token`: for programs, as `Authorization: Bearer`; a browser has it as a cookie already. */
export interface Entered {
  token: string;
  expires: number;
  me: Me;
}

/** Every event; `type` tells them apart. A reader leaves alone what it does not know. */
export type Event = SessionStarted | RunStarted | UserMessage | MessageQueued | StepStarted | ModelAttemptFailed | AssistantMessage | StepEnd | ApprovalRequested | ApprovalDecided | TrustGranted | TrustRevoked | ToolCallStarted | ToolCallFinished | OutcomeResolved | GuardTripped | ContextCompacted | SummaryFailed | AnswerChecked | RolledBack | SessionLabelled | RunInterrupted | LoopEnd | TextDelta | ReasoningDelta | TextWithdrawn | ToolProgress | UnknownEvent;

/** Why a call has no result, for whoever can act on it. */
export interface Fault {
  type: "cancelled" | "denied" | "execution" | "expired" | "limit" | "repeated_call" | "timeout" | "uncertain" | "unknown_tool" | "validation";
  message: string;
  hint?: string | null;
}

/** A number of an answer and where it came from. */
export interface Figure {
  text: string;
  call_id?: string | null;
  path?: string | null;
  derivation?: string | null;
}

/** A file, kept by the hash of its content. */
export interface FilePart {
  kind: "file";
  name: string;
  media_type: string;
  content: string;
  size: number;
}

/** `at`: the event to go on from, 1 to the head of the session. */
export interface Fork {
  at: number;
}

/** The new session. */
export interface Forked {
  session_id: string;
  parent: string;
  parent_seq: number;
}

/** Something volatile (today's date, a recalled fragment) as it was when the message was sent. */
export interface Frozen {
  kind: string;
  text: string;
  sources?: number[];
}

/** A standing grant: calls it covers run unasked. */
export interface Grant {
  session_id: string;
  grant_id: string;
  tool: string;
  by: string;
  target: string | null;
  limits: Record<string, unknown>;
  expires: number | null;
}

/** Grants that stand. */
export interface GrantList {
  grants: Grant[];
}

/** A guard spoke: which, on what evidence, and what it did. */
export interface GuardTripped {
  type: "GuardTripped";
  guard: string;
  action: "answered" | "ended" | "warned";
  evidence: Record<string, unknown>;
  call_ids: string[];
  v: number;
}

/** The run is over, or waits. `completed` is True only for the reason `completed`. */
export interface LoopEnd {
  type: "LoopEnd";
  run_id: string;
  steps: number;
  completed: boolean;
  reason: "awaiting_approval" | "budget" | "completed" | "error" | "guard" | "interrupted" | "max_steps" | "model_error";
  usage: Usage | null;
  cost: Cost | null;
  message: string | null;
  v: number;
}

/** Which stored contents a request was made of. The messages are those of the request of the `StepStarted` at event `base` followed by `added`; without a base, `added` alone. `frame` and `tools` are contents too (see `messages.Wire`), and so is `form`: how values were made bytes (see `requests.Form`), None for the canonical form. */
export interface Manifest {
  added: string[];
  frame: string;
  tools?: string | null;
  base?: number | null;
  form?: string | null;
}

/** Whose requests these are, and what the server runs with. `approves`: tiers this person may approve. */
export interface Me {
  user: string;
  role: "buyer" | "clerk" | "manager" | "money" | "owner" | "warehouse";
  approves: string[];
  sees_all: boolean;
  model: string;
  offline: boolean;
  profiles: string[];
  currency: string | null;
  exchange_rate: string | null;
}

/** A message that arrived while a run was going; the next run begins with it. */
export interface MessageQueued {
  type: "MessageQueued";
  content: (TextPart | FilePart)[];
  author: string;
  client_message_id: string | null;
  context: Frozen[];
  v: number;
}

/** A request failed; `wait` seconds until the next attempt, None when there is none. */
export interface ModelAttemptFailed {
  type: "ModelAttemptFailed";
  step: number;
  attempt: number;
  kind: string;
  message: string;
  wait: number | null;
  status: number | null;
  remedy: string | null;
  shown: boolean;
  retryable: boolean | null;
  retry_after: number | null;
  v: number;
}

/** Something to know besides, in no language: a screen has words for the codes it knows, with places for `values`. */
export interface Notice {
  code: string;
  values?: Record<string, string>;
}

/** The check of one answer, as its `AnswerChecked` says. */
export interface NumberedAnswer {
  seq: number;
  answer_seq: number;
  figures: Figure[];
  untraced: string[];
}

/** Where the figures of the answers came from. */
export interface Numbers {
  session_id: string;
  answers: NumberedAnswer[];
}

/** A standing grant that a person may give with the answer, and what it would cover. */
export interface Offer {
  sentence: string;
  target?: string | null;
  limits?: Record<string, unknown>;
  seconds?: number | null;
}

/** The session begins, or branches off `parent`. Times in Unix seconds. */
export interface Opened {
  kind: "session";
  session_id: string;
  at: number;
  profile?: string | null;
  parent?: string | null;
  parent_seq?: number | null;
  seq: number;
}

/** What was found out about an `uncertain` call. */
export interface OutcomeResolved {
  type: "OutcomeResolved";
  call_id: string;
  outcome: "did_not_happen" | "happened" | "send_again";
  by: string;
  content: string | null;
  source: "backend" | "person";
  v: number;
}

/** Where a forked session branched off: it inherits the parent's events 1 to `seq`. */
export interface Parent {
  session_id: string;
  seq: number;
}

/** `event: partial`: what had been shown of the step that is going on, for a reader who came in the middle. It takes the place of every delta of that step so far. */
export interface PartialStep {
  session_id: string;
  step_seq: number;
  text: string;
  reasoning: string;
}

/** What a write would do, for the person who decides. `title` and the fields of changes may be codes, for which a screen has words in the person's language. */
export interface Preview {
  title: string;
  changes?: Change[];
  notes?: string[];
  asked_by?: string | null;
  measures?: Record<string, string>;
  notices?: Notice[];
  raised?: boolean;
}

/** RFC 9457. Also the data of `event: error`, after which a stream ends. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail?: string | null;
  errors?: string[];
  session_id?: string | null;
  standing?: Decision | null;
}

/** A call that waits for a person, and the answer. `digest`: of the arguments that were shown; `deadline` in Unix seconds. */
export interface Question {
  kind: "approval";
  call_id: string;
  tool: string;
  tier: string;
  arguments: string;
  preview: Preview;
  digest?: string;
  target?: string | null;
  why?: string;
  offer?: Offer | null;
  deadline?: number | null;
  decision?: string | null;
  by?: string | null;
  reason?: string | null;
  edited?: string | null;
  grant_id?: string | null;
  seq: number;
}

/** A message that is said when the run that is going on has completed. */
export interface Queue {
  message: string;
  client_message_id?: string | null;
}

/** A message that waits for the run to end. */
export interface QueuedMessage {
  text: string;
  author: string;
  client_message_id: string | null;
}

/** A piece of the model's reasoning; never part of the answer. */
export interface ReasoningDelta {
  type: "ReasoningDelta";
  text: string;
  v: number;
}

/** An event in its place: the data of every frame that is no envelope. `seq` and `hash` are null for what is only shown; `at` is Unix seconds, UTC. */
export interface Recorded {
  session_id: string;
  seq: number | null;
  at: number;
  event: Event;
  hash: string | null;
}

/** Anything else that bears on the conversation: a guard, a compaction, an interruption, a rollback, a grant. */
export interface Remark {
  kind: "remark";
  about: string;
  facts?: Record<string, string>;
  seq: number;
}

/** A session as a transcript; nothing is run again. */
export interface Replay {
  session_id: string;
  head: number;
  items: TranscriptItem[];
}

/** The result of a report tool: its data, and a chart as a Vega-Lite specification where it has one. */
export interface Report {
  session_id: string;
  seq: number;
  call_id: string;
  tool: string;
  arguments: string;
  at: number;
  content: unknown;
  chart: Record<string, unknown> | null;
}

/** The newest first. */
export interface ReportList {
  reports: Report[];
}

/** What was found out about a call whose outcome was not known. */
export interface Resolve {
  outcome: "did_not_happen" | "happened" | "send_again";
  content?: string | null;
}

/** `to`: the event to go back to. */
export interface RollBack {
  to: number;
  reason?: string | null;
  undo?: boolean;
}

/** The conversation goes on from `to_seq`. Money, counters, effects and revocations stay as they are. */
export interface RolledBack {
  type: "RolledBack";
  to_seq: number;
  by: string;
  reason: string | null;
  v: number;
}

/** The conversation goes on from `to`; `writes`: what the way back did not undo, the newest first. */
export interface RolledBackTo {
  session_id: string;
  to: number;
  head: number;
  writes: Compensation[];
}

/** Somebody stopped the run. */
export interface RunInterrupted {
  type: "RunInterrupted";
  by: string;
  where: string | null;
  v: number;
}

/** A run begins. `environment` is the hash of everything its decisions depend on (see `state.Environment`). */
export interface RunStarted {
  type: "RunStarted";
  run_id: string;
  by: string;
  environment: string;
  model: string;
  base_seq: number;
  resumes: string | null;
  calibration: Record<string, number>;
  v: number;
}

/** A person's message, and what was frozen into it (kind, text). `queued`: it waits for the run to end. */
export interface Said {
  kind: "user";
  author: string;
  text: string;
  at: number;
  context?: [string, string][];
  queued?: boolean;
  seq: number;
}

/** A message for a session; a new one without `session_id`. A repeat of `client_message_id` with the same message is the same message. */
export interface Say {
  message: string;
  session_id?: string | null;
  client_message_id?: string | null;
  profile?: string | null;
}

/** One session: what a list says, and what is open in it. */
export interface Session {
  summary: SessionSummary;
  approvals: Approval[];
  uncertain: Doubt[];
  grants: Grant[];
  queue: QueuedMessage[];
}

/** What is not given stays. */
export interface SessionChange {
  title?: string | null;
  archived?: boolean | null;
}

/** What a session is called, and whether it is put away; None where that stays as it was. */
export interface SessionLabelled {
  type: "SessionLabelled";
  by: string;
  title: string | null;
  archived: boolean | null;
  v: number;
}

/** `next`: to be given as `before` for the rest; null at the end. */
export interface SessionList {
  sessions: SessionSummary[];
  next: string | null;
}

/** First event of a session, also of a fork (whose earlier events are its parent's). */
export interface SessionStarted {
  type: "SessionStarted";
  owner: string | null;
  tenant: string | null;
  profile: string | null;
  parent: Parent | null;
  salt: string;
  v: number;
}

/** A session in a list. */
export interface SessionSummary {
  session_id: string;
  title: string;
  owner: string | null;
  profile: string | null;
  status: "completed" | "failed" | "idle" | "interrupted" | "running" | "stopped" | "waiting";
  created_at: number;
  updated_at: number;
  head: number;
  archived: boolean;
  approvals: number;
  uncertain: number;
  steps: number;
  usage: Usage;
  costs: Record<string, string>;
  parent: string | null;
  parent_seq: number | null;
}

/** `event: start`, the first frame of every stream. */
export interface Start {
  session_id: string;
  after: number;
  head: number;
  running: boolean;
  repeated: boolean;
}

/** One turn of the model. `ordinal` counts the turns of the session; seconds from the sending of the request. */
export interface Step {
  kind: "step";
  ordinal: number;
  step: number;
  attempts?: number;
  text?: string | null;
  reasoning?: string | null;
  refusal?: string | null;
  calls?: string[];
  finish_reason?: string | null;
  duration?: number | null;
  time_to_first_token?: number | null;
  outcome?: string | null;
  usage?: Usage | null;
  amount?: string | null;
  currency?: string | null;
  failures?: string[];
  seq: number;
}

/** The model's part of a step is over: right after its message, before its tools. */
export interface StepEnd {
  type: "StepEnd";
  step: number;
  outcome: "failed" | "interrupted" | "message";
  usage: Usage | null;
  cost: Cost | null;
  v: number;
}

/** The request that a step sent: `body` is its exact text. */
export interface StepRequest {
  session_id: string;
  seq: number;
  body: string;
}

/** A request is about to be sent. */
export interface StepStarted {
  type: "StepStarted";
  step: number;
  attempt: number;
  request: Manifest;
  estimated_tokens: number;
  v: number;
}

/** One frame of a stream. `data` is JSON text; `event` tells what it holds: without one (or `message`) an event in its place. */
export interface StreamFrame {
  id?: string;
  event?: "message" | "start" | "partial" | "done" | "error";
  retry?: number;
  data: string;
}

/** Events `from_seq` to `to_seq` could not be summarised; `kind` as in `ModelAttemptFailed`. */
export interface SummaryFailed {
  type: "SummaryFailed";
  from_seq: number;
  to_seq: number;
  kind: string;
  message: string;
  usage: Usage | null;
  cost: Cost | null;
  by: string | null;
  v: number;
}

/** A piece of the visible answer. */
export interface TextDelta {
  type: "TextDelta";
  text: string;
  v: number;
}

/** Text as it was written. */
export interface TextPart {
  kind: "text";
  text: string;
}

/** All text of this step shown so far is void; what stays of it is sent again. */
export interface TextWithdrawn {
  type: "TextWithdrawn";
  reason: string;
  v: number;
}

/** One call as the model asked for it, whole. `arguments` is JSON text. A call with an `error` is never run: it is answered with that error and goes back into the history with `{}` for arguments, because endpoints refuse a history with broken JSON for ever. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
  raw_name?: string | null;
  repaired?: boolean;
  known?: boolean;
  error?: "invalid_json" | "not_an_object" | "truncated" | null;
  raw_arguments?: string | null;
  extra?: Record<string, unknown> | null;
}

/** The outcome of a call, as soon as it is known. A refused or cached call has no `ToolCallStarted`. */
export interface ToolCallFinished {
  type: "ToolCallFinished";
  call_id: string;
  index: number;
  tool: string;
  ok: boolean;
  content: string;
  error: Fault | null;
  digest: string;
  duration: number;
  attempts: number;
  cached: boolean;
  truncated: Truncation | null;
  artifacts: Artifact[];
  target: string | null;
  v: number;
}

/** The intent: durable before the effect. `idempotency_key` is the same on every attempt. */
export interface ToolCallStarted {
  type: "ToolCallStarted";
  call_id: string;
  index: number;
  attempt: number;
  tool: string;
  digest: string;
  idempotency_key: string;
  target: string | null;
  v: number;
}

/** A running tool says how far it is. `fraction` is 0 to 1, None when unknown. */
export interface ToolProgress {
  type: "ToolProgress";
  call_id: string;
  text: string;
  fraction: number | null;
  v: number;
}

/** A value of a replay; `kind` tells them apart. */
export type TranscriptItem = Opened | Began | Said | Step | Use | Question | Remark | Ended;

/** How much of an output the model was given, in characters, and the whole by hash. */
export interface Truncation {
  total: number;
  shown: number;
  whole: string | null;
}

/** A person lets later calls of this kind run unasked, within limits, until `expires` (Unix seconds). */
export interface TrustGranted {
  type: "TrustGranted";
  grant_id: string;
  tool: string;
  by: string;
  target: string | null;
  limits: Record<string, unknown>;
  expires: number | null;
  origin: string | null;
  v: number;
}

/** A grant ends. */
export interface TrustRevoked {
  type: "TrustRevoked";
  grant_id: string;
  by: string;
  reason: string | null;
  v: number;
}

/** The writes behind event `to`, the newest first. */
export interface UndoPlan {
  session_id: string;
  to: number;
  writes: Compensation[];
}

/** An event of a newer program: to be kept and otherwise left alone. */
export interface UnknownEvent {
  type: string;
  v: number;
}

/** Token counts as reported; None where the endpoint reported nothing. */
export interface Usage {
  prompt_tokens?: number | null;
  completion_tokens?: number | null;
  total_tokens?: number | null;
  cached_tokens?: number | null;
  cache_write_tokens?: number | null;
  reasoning_tokens?: number | null;
}

/** One tool call and what became of it. */
export interface Use {
  kind: "tool";
  call_id: string;
  step: number;
  index: number;
  tool: string;
  arguments: string;
  started_at?: number | null;
  finished_at?: number | null;
  attempts?: number;
  ok?: boolean | null;
  content?: string | null;
  error?: string | null;
  duration?: number;
  cached?: boolean;
  total?: number | null;
  seq: number;
}

/** What a person said. A repeat of `client_message_id` with the same content is the same message. */
export interface UserMessage {
  type: "UserMessage";
  content: (TextPart | FilePart)[];
  author: string;
  client_message_id: string | null;
  context: Frozen[];
  v: number;
}
