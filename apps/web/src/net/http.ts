// Requests to the server that the page came from. Invariant: whatever fails becomes one `Trouble` with a sentence that a
// person can act on; nothing here knows a resource.

import type { Problem } from "../protocol";

export class Trouble extends Error {
  /** `status` 0: the server could not be reached. */
  constructor(
    readonly status: number,
    message: string,
    readonly problem: Problem | null = null,
  ) {
    super(message);
  }
}

interface Options {
  method?: "GET" | "POST" | "PATCH" | "DELETE" | "PUT";
  body?: unknown;
  /** Instead of `body`: JSON text as it is to be sent. */
  json?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export async function send(path: string, options: Options = {}): Promise<Response> {
  const { body, json, method, headers, signal } = options;
  const written = json ?? (body === undefined ? null : JSON.stringify(body));
  let response: Response;
  try {
    response = await fetch(path, {
      method: method ?? (written === null ? "GET" : "POST"),
      headers: { ...(written === null ? {} : { "content-type": "application/json" }), ...headers },
      body: written,
      signal: signal ?? null,
      credentials: "same-origin",
      cache: "no-store",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Trouble(0, "");
  }
  if (!response.ok) throw await troubleOf(response);
  return response;
}

export async function ask<Answer>(path: string, options: Options = {}): Promise<Answer> {
  const response = await send(path, options);
  return (response.status === 204 ? null : await response.json()) as Answer;
}

async function troubleOf(response: Response): Promise<Trouble> {
  try {
    const problem = (await response.json()) as Problem;
    return new Trouble(response.status, problem.detail ?? problem.title ?? "", problem);
  } catch {
    return new Trouble(response.status, response.statusText);
  }
}

/** A path with its parts made safe; `query` without what is null. */
export function path(
  parts: readonly (string | number)[],
  query: Record<string, string | number | boolean | null> = {},
) {
  const given = Object.entries(query).filter(([, value]) => value !== null);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `/api/${parts.map((part) => encodeURIComponent(part)).join("/")}${search ? `?${search}` : ""}`;
}
