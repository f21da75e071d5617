// A session's events as they happen, over any number of connections. Invariant: each durable event is handed on once, in
// order, whatever was cut, repeated or restarted in between; what is only shown starts afresh with each connection.

import { createParser } from "eventsource-parser";
import type { PartialStep, Recorded, Start } from "../protocol";
import { path, send, Trouble } from "./http";

export type Link = "connecting" | "live" | "lost" | "refused" | "gone";

export interface Listener {
  /** A connection begins: text shown so far of an unfinished step is void as soon as something follows. */
  start(start: Start): void;
  item(item: Recorded): void;
  partial(partial: PartialStep): void;
  link(state: Link): void;
}

const SILENCE_MS = 45_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 4_000;

/** Follows a session from behind event `after` until the function that it returns is called. */
export function follow(sessionId: string, after: number, listener: Listener): () => void {
  const stop = new AbortController();
  void run(sessionId, after, listener, stop.signal);
  return () => stop.abort();
}

async function run(sessionId: string, after: number, listener: Listener, stopped: AbortSignal): Promise<void> {
  let cursor = after;
  let failures = 0;
  while (!stopped.aborted) {
    const silence = new AbortController();
    const signal = AbortSignal.any([stopped, silence.signal]);
    const heard = watch(silence);
    try {
      const url = path(["sessions", sessionId, "events"], { after: cursor, follow: "always" });
      const headers = { accept: "text/event-stream", "last-event-id": String(cursor) };
      const response = await send(url, { headers, signal });
      await read(response, {
        heard,
        named(name, data) {
          if (name === "start") {
            failures = 0;
            listener.link("live");
            listener.start(JSON.parse(data) as Start);
          } else if (name === "partial") listener.partial(JSON.parse(data) as PartialStep);
        },
        plain(data) {
          const item = JSON.parse(data) as Recorded;
          if (item.seq === null) listener.item(item);
          else if (item.seq === cursor + 1) {
            cursor = item.seq;
            listener.item(item);
          } else if (item.seq > cursor) silence.abort(); // a gap: ask again from where it opened
        },
      });
    } catch (error) {
      if (error instanceof Trouble && (error.status === 401 || error.status === 403)) return listener.link("refused");
      if (error instanceof Trouble && (error.status === 404 || error.status === 410)) return listener.link("gone");
    } finally {
      heard.end();
    }
    if (stopped.aborted) return;
    failures += 1;
    if (failures > 1) listener.link("lost");
    await pause(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)), stopped);
  }
}

interface Watch {
  (): void;
  end(): void;
}

/** Aborts when nothing, not even a heartbeat, was heard for too long: a connection can die without a word. */
function watch(silence: AbortController): Watch {
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  return Object.assign(heard, { end: () => clearTimeout(timer) });
}

interface Frames {
  heard(): void;
  named(name: string, data: string): void;
  plain(data: string): void;
}

/** Reads frames until the body ends. */
export async function read(response: Response, frames: Frames): Promise<void> {
  const parser = createParser({
    onEvent(event) {
      if (event.event && event.event !== "message") frames.named(event.event, event.data);
      else frames.plain(event.data);
    },
  });
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  if (!reader) return;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    frames.heard();
    parser.feed(decoder.decode(value, { stream: true }));
  }
}

/** Waits, but no longer than until the machine is on the network again or somebody looks at the page. */
function pause(ms: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      globalThis.removeEventListener?.("online", done);
      stopped.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms * (0.75 + Math.random() / 2));
    globalThis.addEventListener?.("online", done);
    stopped.addEventListener("abort", done);
  });
}
