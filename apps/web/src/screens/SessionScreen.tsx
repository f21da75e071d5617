// One conversation: what was said and done, where to go on, and the timeline beside it.

import { GitCompare, ListTree, Play } from "lucide-react";
import { useCallback, useContext, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { isRunning, type View } from "../log/view";
import * as api from "../net/api";
import { Button, IconButton } from "../parts/Button";
import { Plain } from "../parts/Plain";
import { Sheet } from "../parts/Sheet";
import type { UndoPlan } from "../protocol";
import { MeContext, SessionContext } from "../state/context";
import { useAction, useMedia, useOpened } from "../state/hooks";
import { tellNews } from "../state/news";
import { outbox, post } from "../state/outbox";
import { keep, recall } from "../state/prefs";
import { go } from "../state/route";
import type { OpenSession } from "../state/session";
import { useStore } from "../state/store";
import { count, moneys, oneLine, tokensOf } from "../text/format";
import { useWords } from "../text/words";
import { Composer } from "./Composer";
import { Conversation, type Jump } from "./Conversation";
import { GoBack } from "./GoBack";
import { Timeline } from "./Timeline";
import { TopBar } from "./TopBar";

interface Props {
  id: string;
  jump: Jump;
  openList: (() => void) | null;
  waiting: number;
  onRefused(): void;
}

export function SessionScreen(props: Props) {
  const session = useOpened(props.id);
  return session ? <Opened {...props} session={session} /> : <main className="pane" id="main" tabIndex={-1} />;
}

function Opened({ id, session, jump, openList, waiting, onRefused }: Props & { session: OpenSession }) {
  const say = useWords();
  const me = useContext(MeContext);
  const view = useSettled(session);
  const link = useSyncExternalStore(session.subscribe, session.link);
  const stalled = useSyncExternalStore(session.subscribe, session.stalled);
  const wide = useMedia("(min-width: 1180px)");
  const [panel, setPanel] = useState(() => recall("timeline") === "open" && matchMedia("(min-width: 1180px)").matches);
  /** Where somebody wants to go back to, when something was changed since. */
  const [goingBack, setGoingBack] = useState<UndoPlan | null>(null);
  const [eventShown, setEventShown] = useState<number | null>(null);
  const action = useAction();
  const letters = useStore(outbox).filter((letter) => letter.sessionId === id && !view.saidIds.has(letter.id));
  const running = isRunning(view);
  const openPanel = useCallback(
    (open: boolean) => {
      setPanel(open);
      if (wide) keep("timeline", open ? "open" : null);
    },
    [wide],
  );

  // What waits, and the list of conversations, follow from what happens here.
  // biome-ignore lint/correctness/useExhaustiveDependencies: told whenever one of them changes
  useEffect(tellNews, [view.asking.length, running, view.title]);
  useEffect(() => {
    if (link === "refused") onRefused();
  }, [link, onRefused]);

  const context = useMemo(
    () => ({
      sessionId: id,
      readOnly: false,
      callOf: (call: string) => callIn(session.view(), call),
      showCall: (call: string) => {
        const place = session.view().rowOfCall.get(call);
        const row = place === undefined ? undefined : session.view().rows[place];
        if (row) go({ at: "session", id, seq: row.seq });
      },
      forkAt: (seq: number) =>
        action.run(async () => go({ at: "session", id: (await api.fork(id, seq)).session_id, seq: null })),
      replayTo: (seq: number) => go({ at: "replay", id, seq }),
      rollBackTo: (seq: number) =>
        action.run(async () => {
          const plan = await api.undoPlan(id, seq);
          if (plan.writes.length > 0) setGoingBack(plan);
          else await api.rollBack(id, seq);
        }),
      showEvent: (seq: number) => {
        setEventShown(seq);
        openPanel(true);
      },
    }),
    [id, session, action.run, openPanel],
  );

  const title = view.title || firstWords(view) || say("untitled");
  const total = [
    moneys(view.costs),
    tokensOf(view.usage) ? say("tokens", { n: count(tokensOf(view.usage) ?? 0) }) : null,
  ]
    .filter(Boolean)
    .join(" · ");
  const stop = () => action.run(() => api.interrupt(id));
  const resumable = !running && view.run?.end && !view.run.end.completed && view.run.end.reason !== "awaiting_approval";
  const timeline = (
    <Timeline session={session} eventShown={eventShown} onEventShown={setEventShown} onClose={() => openPanel(false)} />
  );

  return (
    <SessionContext value={context}>
      <main className="pane" id="main" tabIndex={-1}>
        <TopBar
          title={title}
          openList={openList}
          waiting={waiting}
          below={
            <p className="banner" role="status">
              {link === "lost" ? say("reconnecting") : link === "gone" ? say("gone") : (action.failure ?? "")}
            </p>
          }
        >
          <span className="top-total" title={say("total")}>
            {total}
          </span>
          {view.parent && (
            <IconButton
              icon={GitCompare}
              label={say("compare")}
              onClick={() => go({ at: "compare", a: view.parent?.session_id ?? "", b: id })}
            />
          )}
          <IconButton
            icon={Play}
            label={say("replay")}
            disabled={view.seq === 0}
            onClick={() => go({ at: "replay", id, seq: 0 })}
          />
          <IconButton icon={ListTree} label={say("timeline")} aria-pressed={panel} onClick={() => openPanel(!panel)} />
        </TopBar>
        {link !== "gone" && <Conversation source={session} letters={letters} jump={jump} />}
        <div className="dock">
          {view.queue.length > 0 && (
            <ul className="queue" aria-label={say("queued")}>
              {view.queue.map((message) => (
                <li key={message.seq}>
                  <span className="faint">{say("queued")}</span> <Plain text={oneLine(message.text, 90)} />
                </li>
              ))}
            </ul>
          )}
          {(stalled || resumable) && (
            <p className="resume">
              {stalled && <span>{say("stalled")}</span>}
              <Button onClick={() => action.run(() => api.resume(id))} disabled={action.busy}>
                {say("continue")}
              </Button>
            </p>
          )}
          <Composer
            draftKey={id}
            running={running && !stalled}
            cancels={view.asking.length > 0}
            focus={view.seq > 0}
            onSend={(text) => post(id, text, running)}
            onStop={stop}
            stopping={action.busy}
          />
          {me?.offline && <p className="dock-note faint">{say("offline_model")}</p>}
        </div>
      </main>
      {panel && wide && <aside className="panel">{timeline}</aside>}
      {panel && !wide && (
        <Sheet title={say("timeline")} side="right" bare onClose={() => openPanel(false)}>
          {timeline}
        </Sheet>
      )}
      {goingBack && (
        <GoBack
          writes={goingBack.writes}
          busy={action.busy}
          failure={action.failure}
          onBack={(undo) =>
            action.run(async () => {
              await api.rollBack(id, goingBack.to, undo);
              setGoingBack(null);
            })
          }
          onClose={() => setGoingBack(null)}
        />
      )}
    </SessionContext>
  );
}

/** The view without what is being written: it changes with events only, not with every piece of text. */
function useSettled(session: OpenSession): View {
  return useSyncExternalStore(session.subscribe, session.settled);
}

function callIn(view: View, id: string) {
  const place = view.rowOfCall.get(id);
  const row = place === undefined ? undefined : view.rows[place];
  return row?.kind === "step" ? (row.calls.find((call) => call.id === id) ?? null) : null;
}

function firstWords(view: View): string {
  const row = view.rows.find((each) => each.kind === "user");
  return row?.kind === "user" ? oneLine(row.text, 60) : "";
}
