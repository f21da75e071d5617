// Where in the page somebody is, as the part of the address behind "#": it never reaches a server or a log.

import { store } from "./store";

export type Route =
  | { at: "new" }
  | { at: "session"; id: string; seq: number | null }
  | { at: "replay"; id: string; seq: number }
  | { at: "compare"; a: string; b: string }
  | { at: "inbox" };

export const route = store<Route>(parse(location.hash));

window.addEventListener("hashchange", () => route.set(parse(location.hash)));

export function go(to: Route, replace = false): void {
  const hash = write(to);
  if (replace) history.replaceState(null, "", hash);
  else if (hash !== location.hash) history.pushState(null, "", hash);
  route.set(to);
}

export function write(to: Route): string {
  switch (to.at) {
    case "session":
      return `#/s/${encodeURIComponent(to.id)}${to.seq === null ? "" : `/${to.seq}`}`;
    case "replay":
      return `#/replay/${encodeURIComponent(to.id)}/${to.seq}`;
    case "compare":
      return `#/compare/${encodeURIComponent(to.a)}/${encodeURIComponent(to.b)}`;
    case "inbox":
      return "#/inbox";
    default:
      return "#/";
  }
}

export function parse(hash: string): Route {
  const [where, first = "", second = ""] = hash.replace(/^#\/?/, "").split("/").map(decoded);
  const seq = /^\d{1,15}$/.test(second) ? Number(second) : null;
  if (where === "s" && first) return { at: "session", id: first, seq };
  if (where === "replay" && first) return { at: "replay", id: first, seq: seq ?? 0 };
  if (where === "compare" && first && second) return { at: "compare", a: first, b: second };
  return where === "inbox" ? { at: "inbox" } : { at: "new" };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
