// A conversation as it was at any of its events, moved through by hand or by itself.

import { ArrowLeft, Pause, Play, SkipBack, SkipForward } from "lucide-react";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { gist } from "../log/describe";
import { extend } from "../log/fold";
import { emptyView, type View } from "../log/view";
import { IconButton } from "../parts/Button";
import { Plain } from "../parts/Plain";
import type { Recorded } from "../protocol";
import { SessionContext } from "../state/context";
import { useOpened } from "../state/hooks";
import { go } from "../state/route";
import type { OpenSession, Source } from "../state/session";
import { oneLine } from "../text/format";
import { useWords } from "../text/words";
import { Conversation } from "./Conversation";
import { TopBar } from "./TopBar";

interface Props {
  id: string;
  /** Up to here; 0: the beginning. */
  seq: number;
  openList: (() => void) | null;
  waiting: number;
}

export default function Replay(props: Props) {
  const session = useOpened(props.id);
  return session ? <Player {...props} session={session} /> : <main className="pane" id="main" tabIndex={-1} />;
}

const PACE_MS = 450;

function Player({ id, seq, openList, waiting, session }: Props & { session: OpenSession }) {
  const say = useWords();
  const whole = useSyncExternalStore(session.subscribe, session.settled);
  const past = useMemo(() => pastOf(id), [id]);
  const [at, setAt] = useState(seq);
  const [playing, setPlaying] = useState(seq === 0);
  const place = Math.min(at, whole.seq);
  past.moveTo(whole.events, place);
  const last = whole.seq;
  useEffect(() => {
    if (!playing || last === 0) return;
    if (place >= last) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => setAt(place + 1), PACE_MS);
    return () => clearTimeout(timer);
  }, [playing, place, last]);
  const context = useMemo(
    () => ({
      sessionId: id,
      readOnly: true,
      callOf: () => null,
      showCall: () => {},
      forkAt: () => {},
      replayTo: () => {},
      rollBackTo: () => {},
      showEvent: () => {},
    }),
    [id],
  );
  const move = (to: number) => {
    setPlaying(false);
    setAt(Math.max(0, Math.min(last, to)));
  };
  const current = whole.events[place - 1];
  return (
    <SessionContext value={context}>
      <main className="pane" id="main" tabIndex={-1}>
        <TopBar title={say("replay")} openList={openList} waiting={waiting}>
          <IconButton
            icon={ArrowLeft}
            label={say("leave_replay")}
            onClick={() => go({ at: "session", id, seq: null })}
          />
        </TopBar>
        <Conversation source={past.source} />
        <div className="dock">
          <div className="player">
            <IconButton
              icon={SkipBack}
              label={say("back_one")}
              disabled={place === 0}
              onClick={() => move(place - 1)}
            />
            <IconButton
              icon={playing ? Pause : Play}
              label={playing ? say("pause") : say("play")}
              onClick={() => {
                if (!playing && place >= last) setAt(0);
                setPlaying(!playing);
              }}
            />
            <IconButton
              icon={SkipForward}
              label={say("next_one")}
              disabled={place >= last}
              onClick={() => move(place + 1)}
            />
            <input
              type="range"
              min={0}
              max={last}
              value={place}
              aria-label={say("position")}
              aria-valuetext={current ? `${place} ${current.event.type}` : "0"}
              onChange={(event) => move(Number(event.target.value))}
            />
            <span className="player-at">{say("of", { at: place, n: last })}</span>
          </div>
          <p className="player-event faint">
            <Plain text={current ? `${current.event.type} ${oneLine(gist(current), 80)}` : " "} />
          </p>
        </div>
      </main>
    </SessionContext>
  );
}

/** A source that shows a prefix of a log. Going on folds only what is new; going back folds the prefix again. */
function pastOf(id: string) {
  let view: View = emptyView(id);
  const listeners = new Set<() => void>();
  const source: Source = {
    id,
    view: () => view,
    settled: () => view,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  let told = false;
  return {
    source,
    moveTo(events: readonly Recorded[], seq: number) {
      if (seq === view.seq) return;
      view = seq > view.seq ? extend(view, events.slice(view.seq, seq)) : extend(emptyView(id), events.slice(0, seq));
      if (told) return;
      told = true;
      queueMicrotask(() => {
        told = false;
        for (const listener of listeners) listener();
      });
    },
  };
}
