// Parts of the page that are loaded when they are shown. Invariant: a page that is older than its server (which was
// updated and has these parts under other names by now) loads itself anew instead of showing nothing.

import { type ComponentType, lazy } from "react";
import { keep, recall } from "../state/prefs";

/** Milliseconds; whoever was loaded anew so shortly before is told the error. */
const AGAIN = 20_000;

// biome-ignore lint/suspicious/noExplicitAny: any component may be loaded
export function lazily<T extends ComponentType<any>>(load: () => Promise<{ default: T }>) {
  return lazy(() =>
    load().catch((error: unknown) => {
      if (Date.now() - Number(recall("reloaded") ?? 0) < AGAIN) throw error;
      keep("reloaded", String(Date.now()));
      location.reload();
      return new Promise<never>(() => {});
    }),
  );
}
