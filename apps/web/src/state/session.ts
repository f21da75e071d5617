// One open session: the log as far as it is known here, and the view of it. Invariant: a view changes at most once a
// frame of the screen, however many events came; the same event never counts twice.

import { extend, extendLive } from "../log/fold";
import { emptyView, isRunning, type Live, NOTHING_LIVE, type View } from "../log/view";
import { follow, type Link } from "../net/stream";
import type { Recorded } from "../protocol";

/** A view that can be watched. */
export interface Source {
  readonly id: string;
  view(): View;
  /** The view as of the newest event; the same object while text is being written. */
  settled(): View;
  subscribe(listener: () => void): () => void;
}

export interface OpenSession extends Source {
  link(): Link;
  /** A run has no end, and nobody is driving it. */
  stalled(): boolean;
  close(): void;
}

/** Events that are folded in one go, and milliseconds after which the next ones wait for the next frame, so that a long
 * log leaves time to draw. */
const AT_ONCE = 200;
const LONGEST_MS = 8;

type Pending = { item: Recorded } | { live: Live };

export function openSession(id: string): OpenSession {
  let view = emptyView(id);
  let settled = view;
  let link: Link = "connecting";
  let pending: Pending[] = [];
  let scheduled = false;
  /** What is shown of the step came over an earlier connection. */
  let stale = false;
  /** The head when the connection began; nothing is drawn before it is reached. */
  let until = 0;
  /** The newest event when the server said that nothing was going on; null while something may be. */
  let idleAt: number | null = null;
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };

  const flush = () => {
    scheduled = false;
    const deadline = performance.now() + LONGEST_MS;
    let next = view;
    let done = 0;
    do {
      next = fold(next, pending.slice(done, done + AT_ONCE));
      done += AT_ONCE;
    } while (done < pending.length && performance.now() < deadline);
    pending = pending.slice(done);
    if (pending.length > 0) schedule();
    if (next === view) return;
    view = next;
    if (view.rows !== settled.rows || view.seq !== settled.seq) settled = view;
    if (view.seq >= until) tell();
  };
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    // A hidden tab draws no frames.
    if (document.hidden) setTimeout(flush, 100);
    else requestAnimationFrame(flush);
  };
  const add = (entry: Pending) => {
    pending.push(entry);
    schedule();
  };

  const stop = follow(id, 0, {
    start(begun) {
      stale = true;
      until = begun.head;
      idleAt = begun.running ? null : begun.head;
    },
    item(item) {
      const delta = item.event.type === "TextDelta" || item.event.type === "ReasoningDelta";
      if (stale && item.seq === null && delta) add({ live: NOTHING_LIVE });
      if (item.seq !== null || delta) stale = false;
      add({ item });
    },
    partial(partial) {
      stale = false;
      add({ live: { text: partial.text, reasoning: partial.reasoning } });
    },
    link(state) {
      link = state;
      tell();
    },
  });

  return {
    id,
    view: () => view,
    settled: () => settled,
    stalled: () => isRunning(view) && idleAt !== null && view.seq === idleAt,
    link: () => link,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: stop,
  };
}

/** A batch in order, pieces of text joined before they are looked at. */
export function fold(view: View, batch: readonly Pending[]): View {
  let next = view;
  let items: Recorded[] = [];
  let text = "";
  let reasoning = "";
  const settle = () => {
    next = extendLive(next, text, reasoning);
    text = reasoning = "";
    if (items.length) next = extend(next, items);
    items = [];
  };
  for (const entry of batch) {
    if ("live" in entry) {
      settle();
      next = { ...next, live: entry.live };
      continue;
    }
    const { event, seq } = entry.item;
    if (seq === null && (event.type === "TextDelta" || event.type === "ReasoningDelta")) {
      if (items.length) settle();
      const piece = (event as { text: string }).text;
      if (event.type === "TextDelta") text += piece;
      else reasoning += piece;
    } else {
      if (text || reasoning) settle();
      items.push(entry.item);
    }
  }
  settle();
  return next;
}
