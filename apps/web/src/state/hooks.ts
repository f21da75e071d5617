// Small hooks that several screens need.

import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { Trouble } from "../net/http";
import { type Say, useWords } from "../text/words";
import { news } from "./news";
import { type OpenSession, openSession } from "./session";
import { useStore } from "./store";

export interface Loaded<T> {
  value: T | null;
  trouble: Trouble | null;
  reload(): void;
}

/** Asks again whenever `key` changes, every `everyMs` while somebody looks, and on `reload`; keeps the last answer. */
export function useLoaded<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  everyMs: number | null = null,
): Loaded<T> {
  const [state, setState] = useState<{ key: string; value: T | null; trouble: Trouble | null }>({
    key,
    value: null,
    trouble: null,
  });
  const [round, setRound] = useState(0);
  const loader = useRef(load);
  loader.current = load;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a round asks again
  useEffect(() => {
    const stop = new AbortController();
    loader.current(stop.signal).then(
      (value) => {
        if (!stop.signal.aborted) {
          setState((old) => (old.key === key && same(old.value, value) ? old : { key, value, trouble: null }));
        }
      },
      (error) => {
        if (stop.signal.aborted) return;
        const trouble = error instanceof Trouble ? error : new Trouble(0, String(error));
        setState((old) => ({ key, value: old.key === key ? old.value : null, trouble }));
      },
    );
    return () => stop.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  const told = useStore(news);
  // biome-ignore lint/correctness/useExhaustiveDependencies: lists that look by themselves also look at news
  useEffect(() => {
    if (everyMs !== null && told > 0) reload();
  }, [told]);
  useEffect(() => {
    if (everyMs === null) return;
    const look = () => {
      if (!document.hidden) reload();
    };
    const timer = setInterval(look, everyMs);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [everyMs, reload]);
  return { value: state.value, trouble: state.trouble, reload };
}

/** Equal answers keep the old object, so that nothing is drawn anew. */
function same(a: unknown, b: unknown): boolean {
  return a !== null && JSON.stringify(a) === JSON.stringify(b);
}

export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener("change", listener);
      return () => list.removeEventListener("change", listener);
    },
    () => matchMedia(query).matches,
  );
}

/** The time in seconds, looked at every second while `active`. */
export function useNow(active: boolean): number {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    if (!active) return;
    setNow(Date.now() / 1000);
    const timer = setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => clearInterval(timer);
  }, [active]);
  return now;
}

export function whyOf(error: unknown, say: Say): string {
  if (error instanceof Trouble) return error.status === 0 ? say("no_server") : error.message || String(error.status);
  return error instanceof Error ? error.message : String(error);
}

/** One action at a time: `run` does it, `busy` while it goes on, `failure` what came of it in words. */
export function useAction(): { busy: boolean; failure: string | null; run(action: () => Promise<unknown>): void } {
  const say = useWords();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const going = useRef(false);
  return {
    busy,
    failure,
    run(action) {
      if (going.current) return;
      going.current = true;
      setBusy(true);
      setFailure(null);
      action()
        .catch((error) => setFailure(say("failed", { why: whyOf(error, say) })))
        .finally(() => {
          going.current = false;
          setBusy(false);
        });
    },
  };
}

/** A session that is followed while the component is there; null before the first look at it. */
export function useOpened(id: string): OpenSession | null {
  const [session, setSession] = useState<OpenSession | null>(null);
  useEffect(() => {
    const opened = openSession(id);
    setSession(opened);
    return opened.close;
  }, [id]);
  return session;
}
