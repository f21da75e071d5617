// The page: who is there, the list of conversations, and what is looked at.

import { Suspense, useEffect, useState } from "react";
import * as api from "../net/api";
import { Trouble } from "../net/http";
import { lazily } from "../parts/lazily";
import { Sheet } from "../parts/Sheet";
import type { Me } from "../protocol";
import { MeContext } from "../state/context";
import { useLoaded, useMedia } from "../state/hooks";
import { deliverAll, onArrival } from "../state/outbox";
import { go, route } from "../state/route";
import { useStore } from "../state/store";
import { useWords } from "../text/words";
import { Enter } from "./Enter";
import { SessionScreen } from "./SessionScreen";
import { Sidebar } from "./Sidebar";
import { Start } from "./Start";

const Inbox = lazily(() => import("./Inbox"));
const Replay = lazily(() => import("./Replay"));
const Compare = lazily(() => import("./Compare"));

type Entry =
  | { state: "asking" }
  | { state: "outside"; failed: boolean }
  | { state: "unreachable" }
  | { state: "in"; me: Me };

export function App() {
  const [entry, setEntry] = useState<Entry>({ state: "asking" });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    const come = async () => {
      try {
        const me = await entered();
        if (!over) setEntry({ state: "in", me });
      } catch (error) {
        if (over) return;
        if (error instanceof Trouble && error.status !== 0 && error.status < 500) {
          setEntry({ state: "outside", failed: error.problem?.type?.includes("wrong-code") ?? false });
        } else {
          setEntry({ state: "unreachable" });
          timer = setTimeout(come, 2000);
        }
      }
    };
    void come();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, []);
  const say = useWords();
  if (entry.state === "in") {
    return (
      <MeContext value={entry.me}>
        <Inside onRefused={() => setEntry({ state: "outside", failed: false })} />
      </MeContext>
    );
  }
  if (entry.state === "outside")
    return <Enter failed={entry.failed} onEntered={(me) => setEntry({ state: "in", me })} />;
  return <main className="center faint">{entry.state === "unreachable" ? say("unreachable") : ""}</main>;
}

let entering: Promise<Me> | null = null;

/** Uses the one-time code of the address once, whatever is drawn how often. */
function entered(): Promise<Me> {
  const code = /[#&?]code=([^&]+)/.exec(location.hash)?.[1];
  if (code) {
    history.replaceState(null, "", "#/");
    route.set({ at: "new" });
    entering = api.enter(decodeURIComponent(code)).then((answer) => answer.me);
    // Somebody who is in already needs no code.
    entering = entering.catch((error) => api.me().catch(() => Promise.reject(error)));
  }
  const asked = entering ?? api.me();
  entering = asked;
  asked.catch(() => {
    entering = null;
  });
  return asked;
}

function Inside({ onRefused }: { onRefused(): void }) {
  const say = useWords();
  const at = useStore(route);
  const wide = useMedia("(min-width: 860px)");
  const [listOpen, setListOpen] = useState(false);
  const waiting = useLoaded("approvals", api.approvals, 4000);

  useEffect(() => {
    deliverAll();
    return onArrival((letter, sessionId) => {
      if (letter.sessionId === null && route.get().at === "new") go({ at: "session", id: sessionId, seq: null }, true);
    });
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every move closes the list
  useEffect(() => setListOpen(false), [at]);
  useEffect(() => {
    if (waiting.trouble?.status === 401) onRefused();
  }, [waiting.trouble, onRefused]);

  const count = waiting.value?.approvals.length ?? 0;
  const sidebar = <Sidebar waiting={count} />;
  const openList = wide ? null : () => setListOpen(true);
  return (
    <div className="shell">
      <a className="skip" href="#main" onClick={skipToMain}>
        {say("skip")}
      </a>
      {wide && sidebar}
      {listOpen && (
        <Sheet title={say("sessions")} side="left" bare onClose={() => setListOpen(false)}>
          {sidebar}
        </Sheet>
      )}
      <Suspense fallback={<main id="main" className="pane" />}>
        {at.at === "session" && (
          <SessionScreen key={at.id} id={at.id} jump={at} openList={openList} waiting={count} onRefused={onRefused} />
        )}
        {at.at === "new" && <Start openList={openList} waiting={count} />}
        {at.at === "inbox" && <Inbox openList={openList} waiting={waiting} />}
        {at.at === "replay" && <Replay key={at.id} id={at.id} seq={at.seq} openList={openList} waiting={count} />}
        {at.at === "compare" && (
          <Compare key={`${at.a} ${at.b}`} a={at.a} b={at.b} openList={openList} waiting={count} />
        )}
      </Suspense>
    </div>
  );
}

/** The part behind "#" names a place of the page, so this link moves the focus by hand. */
function skipToMain(event: { preventDefault(): void }): void {
  event.preventDefault();
  const main = document.getElementById("main");
  main?.focus();
}
