// The resources of the server, one function each. Paths and shapes are those of docs/http.md and protocol.ts.

import type {
  Accepted,
  ApprovalList,
  Decide,
  Decision,
  Diff,
  Entered,
  Forked,
  Me,
  ReportList,
  RolledBackTo,
  Say,
  SessionChange,
  SessionList,
  SessionSummary,
  Start,
  UndoPlan,
} from "../protocol";
import { ask, path, send, Trouble } from "./http";
import { read } from "./stream";

export const enter = (code: string) => ask<Entered>(path(["session"]), { body: { code } });
export const me = () => ask<Me>(path(["session"]));

export function sessions(search: string, archived: boolean, before: string | null, signal?: AbortSignal) {
  const query = { query: search.trim() || null, archived: archived || null, before };
  return ask<SessionList>(path(["sessions"], query), { signal });
}

export const change = (id: string, body: SessionChange) =>
  ask<SessionSummary>(path(["sessions", id]), { method: "PATCH", body });

/** Says something; resolves as soon as the server has it, with the session it went to. The run goes on by itself. */
export async function say(body: Say): Promise<Start> {
  const stop = new AbortController();
  const response = await send(path(["chat", "stream"]), { body, signal: stop.signal });
  return new Promise((resolve, reject) => {
    read(response, {
      heard() {},
      named(name, data) {
        if (name === "start") {
          resolve(JSON.parse(data) as Start);
          stop.abort();
        }
      },
      plain() {},
    }).then(
      () => reject(new Trouble(0, "")),
      () => reject(new Trouble(0, "")),
    );
  });
}

export const queue = (id: string, message: string, client_message_id: string) =>
  ask<Accepted>(path(["sessions", id, "queue"]), { body: { message, client_message_id } });

export const interrupt = (id: string) => ask<Accepted>(path(["sessions", id, "interrupt"]), { method: "POST" });

export const resume = (id: string) => ask<Accepted>(path(["sessions", id, "resume"]), { method: "POST" });

export const approvals = (signal?: AbortSignal) => ask<ApprovalList>(path(["approvals"]), { signal });

/** `editedArguments`: JSON text, sent as it was written, since numbers of a person are not to pass through floats. */
export function decide(id: string, call: string, body: Decide, editedArguments: string | null) {
  const written = JSON.stringify(body);
  const json = editedArguments === null ? written : `${written.slice(0, -1)},"arguments":${editedArguments}}`;
  return ask<Decision>(path(["sessions", id, "approvals", call]), { json });
}

export const resolve = (id: string, call: string, outcome: "happened" | "did_not_happen" | "send_again") =>
  ask<Accepted>(path(["sessions", id, "outcomes", call]), { body: { outcome } });

export const revoke = (id: string, grant: string) =>
  ask<Accepted>(path(["sessions", id, "trust", grant]), { method: "DELETE" });

export const fork = (id: string, at: number) => ask<Forked>(path(["sessions", id, "fork"]), { body: { at } });

/** `undo`: what would take back the writes behind `to` is asked, call by call. */
export const rollBack = (id: string, to: number, undo = false) =>
  ask<RolledBackTo>(path(["sessions", id, "rollback"]), { body: { to, undo } });

export const undoPlan = (id: string, to: number) => ask<UndoPlan>(path(["sessions", id, "undo"], { to }));

export const diff = (a: string, b: string) => ask<Diff>(path(["sessions", a, "diff"], { other: b }));

export const reports = (id: string) => ask<ReportList>(path(["sessions", id, "reports"]));

/** Where the browser finds a session as a file. */
export const exportAddress = (id: string) => path(["sessions", id, "export"]);
