// What somebody wrote and the server may not have yet. Invariant: a text leaves the outbox only when the server has said
// that it has it, or why it will not take it; sending again is harmless, since each text keeps its id.

import * as api from "../net/api";
import { Trouble } from "../net/http";
import { keep, recall } from "./prefs";
import { store } from "./store";

export interface Letter {
  id: string;
  /** null: begins a session. */
  sessionId: string | null;
  text: string;
  /** While a run was going on: to be said behind it. */
  queue: boolean;
  state: "sending" | "retrying" | "refused";
  why: string | null;
}

export const outbox = store<readonly Letter[]>(restored());

const arrivals = new Set<(letter: Letter, sessionId: string) => void>();

/** Tells where a letter went. */
export function onArrival(listener: (letter: Letter, sessionId: string) => void): () => void {
  arrivals.add(listener);
  return () => arrivals.delete(listener);
}

export function post(sessionId: string | null, text: string, queue: boolean): Letter {
  const letter: Letter = { id: newId(), sessionId, text, queue, state: "sending", why: null };
  put([...outbox.get(), letter]);
  void deliver(letter);
  return letter;
}

/** Takes up what an earlier page load left behind. */
export function deliverAll(): void {
  for (const letter of outbox.get()) if (letter.state !== "refused") void deliver(letter);
}

export function discard(id: string): void {
  put(outbox.get().filter((letter) => letter.id !== id));
}

async function deliver(letter: Letter): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const sessionId = await send(letter);
      for (const listener of arrivals) listener(letter, sessionId);
      discard(letter.id);
      return;
    } catch (error) {
      const trouble = error instanceof Trouble ? error : new Trouble(400, String(error));
      const again = trouble.status === 0 || trouble.status === 429 || trouble.status >= 500;
      change(letter.id, again ? { state: "retrying" } : { state: "refused", why: trouble.message });
      if (!again) return;
      await new Promise((resolve) => setTimeout(resolve, Math.min(8000, 500 * 2 ** attempt)));
      if (!outbox.get().some((each) => each.id === letter.id)) return;
    }
  }
}

async function send(letter: Letter): Promise<string> {
  const { sessionId, text, id } = letter;
  if (sessionId === null) return (await api.say({ message: text, client_message_id: id })).session_id;
  const say = () => api.say({ message: text, client_message_id: id, session_id: sessionId });
  const queue = () => api.queue(sessionId, text, id);
  // The run ended in between: then it is simply the next thing said. Or one began in between, from another window or by
  // another person: then it waits for its turn.
  const [first, second] = letter.queue ? [queue, say] : [say, queue];
  try {
    return (await first()).session_id;
  } catch (error) {
    if (!isConflict(error)) throw error;
    try {
      return (await second()).session_id;
    } catch (again) {
      // Neither: one run ended and another began meanwhile. Only what both ways refuse in the same words is refused.
      const changed = isConflict(again) && again.problem?.type !== error.problem?.type;
      throw changed ? new Trouble(0, "") : again;
    }
  }
}

function isConflict(error: unknown): error is Trouble {
  return error instanceof Trouble && error.status === 409;
}

function change(id: string, by: Partial<Letter>): void {
  put(outbox.get().map((letter) => (letter.id === id ? { ...letter, ...by } : letter)));
}

function put(letters: readonly Letter[]): void {
  outbox.set(letters);
  keep("outbox", letters.length ? JSON.stringify(letters) : null);
}

function restored(): Letter[] {
  try {
    const letters = JSON.parse(recall("outbox") ?? "[]") as Letter[];
    return letters.filter((letter) => letter.state !== "refused" && typeof letter.text === "string");
  } catch {
    return [];
  }
}

function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `web-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
