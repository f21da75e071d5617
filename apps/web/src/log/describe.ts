// An event in one line, and whether words stand in it. Invariant: cheap enough to be done for ten thousand events.

import type { Recorded } from "../protocol";
import { known } from "./events";

/** What an event says besides its type, in no language: names and texts as they stand. */
export function gist(item: Recorded): string {
  const event = known(item);
  switch (event.type) {
    case "SessionStarted":
      return event.parent ? `${event.parent.session_id} @ ${event.parent.seq}` : (event.profile ?? "");
    case "RunStarted":
      return event.model;
    case "UserMessage":
    case "MessageQueued":
      return event.content.map((part) => (part.kind === "text" ? part.text : part.name)).join(" ");
    case "StepStarted":
      return `${event.step}${event.attempt > 1 ? ` · ${event.attempt}` : ""}`;
    case "ModelAttemptFailed":
      return `${event.kind} ${event.message}`;
    case "AssistantMessage":
      return event.content || event.tool_calls.map((call) => call.name).join(", ") || (event.refusal ?? "");
    case "StepEnd":
      return event.outcome;
    case "ApprovalRequested":
      return `${event.tool} ${event.preview.title}`;
    case "ApprovalDecided":
      return [event.decision, event.by, event.reason].filter(Boolean).join(" · ");
    case "TrustGranted":
      return `${event.tool} · ${event.by}`;
    case "TrustRevoked":
      return `${event.grant_id} · ${event.by}`;
    case "ToolCallStarted":
      return `${event.tool}${event.attempt > 1 ? ` · ${event.attempt}` : ""}`;
    case "ToolCallFinished":
      return `${event.tool}${event.ok ? "" : ` · ${event.error?.type ?? ""} ${event.error?.message ?? ""}`}`;
    case "OutcomeResolved":
      return `${event.outcome} · ${event.by}`;
    case "GuardTripped":
      return `${event.guard} · ${event.action}`;
    case "ContextCompacted":
      return `${event.kind} ${event.from_seq}–${event.to_seq}`;
    case "AnswerChecked":
      return `${event.figures.length} / ${event.untraced.length}`;
    case "RolledBack":
      return `→ ${event.to_seq}`;
    case "SessionLabelled":
      return [event.title, event.by].filter(Boolean).join(" · ");
    case "RunInterrupted":
      return event.by;
    case "LoopEnd":
      return `${event.reason}${event.message ? ` · ${event.message}` : ""}`;
    default:
      return "";
  }
}

/** Whether all words (in lower case) stand in the event. */
export function holds(item: Recorded, words: readonly string[]): boolean {
  const event = known(item);
  const more =
    event.type === "ToolCallFinished"
      ? event.content
      : event.type === "AssistantMessage"
        ? event.tool_calls.map((call) => call.arguments).join(" ")
        : event.type === "ApprovalRequested"
          ? event.arguments
          : "";
  const text = `${item.event.type} ${gist(item)} ${more}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/**
 * The events that hold all words of `search`, told as they are found: works a few milliseconds at a time, so that typing
 * and scrolling go on meanwhile. Returns a function that ends the search.
 */
export function find(
  events: readonly Recorded[],
  search: string,
  told: (found: readonly Recorded[], over: boolean) => void,
): () => void {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found: Recorded[] = [];
  let at = 0;
  let stopped = false;
  const work = () => {
    if (stopped) return;
    const until = performance.now() + 6;
    for (; at < events.length && performance.now() < until; at += 1) {
      const item = events[at] as Recorded;
      if (holds(item, words)) found.push(item);
    }
    told([...found], at >= events.length);
    if (at < events.length) setTimeout(work);
  };
  work();
  return () => {
    stopped = true;
  };
}
