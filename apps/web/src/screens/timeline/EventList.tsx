// Every event of the log in one line each, found by words, looked into one at a time.

import { GitFork, MessageSquare, Play, Search, Undo2 } from "lucide-react";
import { useContext, useEffect, useState } from "react";
import { find, gist } from "../../log/describe";
import type { View } from "../../log/view";
import { Button } from "../../parts/Button";
import { parsed, Result } from "../../parts/Data";
import { FixedList } from "../../parts/FixedList";
import { Plain } from "../../parts/Plain";
import type { Recorded } from "../../protocol";
import { SessionContext } from "../../state/context";
import { lang } from "../../state/prefs";
import { go } from "../../state/route";
import { useStore } from "../../state/store";
import { clock, fullTime, oneLine } from "../../text/format";
import { useWords } from "../../text/words";

interface Props {
  view: View;
  shown: number | null;
  onShown(seq: number | null): void;
}

export function EventList({ view, shown, onShown }: Props) {
  const say = useWords();
  const language = useStore(lang);
  const [search, setSearch] = useState("");
  const [found, setFound] = useState<readonly Recorded[] | null>(null);
  const events = search.trim() ? (found ?? []) : view.events;
  useEffect(() => {
    if (!search.trim()) {
      setFound(null);
      return;
    }
    return find(view.events, search, setFound);
  }, [view.events, search]);
  const chosen = shown === null ? null : (view.events[shown - 1] ?? null);
  return (
    <div className="events">
      <label className="search">
        <Search size={16} aria-hidden />
        <input
          type="search"
          value={search}
          placeholder={say("search_events")}
          aria-label={say("search_events")}
          onChange={(event) => setSearch(event.target.value)}
        />
      </label>
      <p className="faint small-text" role="status">
        {say("matches", { n: events.length })}
      </p>
      {events.length === 0 ? (
        <p className="faint empty">{search.trim() ? say("nothing_found") : say("no_events")}</p>
      ) : (
        <FixedList
          count={events.length}
          height={34}
          label={say("events")}
          keyOf={(index) => events[index]?.seq ?? index}
          show={shown === null ? null : events.findIndex((item) => item.seq === shown)}
          row={(index) => {
            const item = events[index] as Recorded;
            return (
              <button
                type="button"
                className="event-line"
                aria-pressed={shown === item.seq}
                onClick={() => onShown(shown === item.seq ? null : item.seq)}
              >
                <span className="event-seq">{item.seq}</span>
                <span className={`event-type ${kindOf(item)}`}>{item.event.type}</span>
                <span className="event-gist faint">
                  <Plain text={oneLine(gist(item), 60)} />
                </span>
                <time className="faint">{clock(item.at, language)}</time>
              </button>
            );
          }}
        />
      )}
      {chosen && <Detail item={chosen} />}
    </div>
  );
}

function Detail({ item }: { item: Recorded }) {
  const say = useWords();
  const language = useStore(lang);
  const { sessionId, readOnly, forkAt, replayTo, rollBackTo } = useContext(SessionContext);
  const seq = item.seq ?? 0;
  return (
    <section className="event-detail" aria-label={say("event", { seq })}>
      <h3>
        {seq} · {item.event.type}
      </h3>
      <p className="faint small-text">{fullTime(item.at, language)}</p>
      {!readOnly && (
        <div className="card-actions">
          <Button icon={GitFork} onClick={() => forkAt(seq)}>
            {say("fork_here")}
          </Button>
          <Button kind="quiet" icon={Play} onClick={() => replayTo(seq)}>
            {say("replay_here")}
          </Button>
          <Button kind="quiet" icon={MessageSquare} onClick={() => go({ at: "session", id: sessionId, seq })}>
            {say("show_here")}
          </Button>
          <Button kind="quiet" icon={Undo2} onClick={() => rollBackTo(seq)}>
            {say("roll_back_here")}
          </Button>
        </div>
      )}
      <Result key={seq} content={readable(item)} />
    </section>
  );
}

/** The event as JSON, with the JSON that stands in its texts as part of it. */
function readable(item: Recorded): string {
  const values = Object.entries(item.event as object).map(([name, value]) => [
    name,
    (name === "content" || name === "arguments") && typeof value === "string" ? (parsed(value) ?? value) : value,
  ]);
  return JSON.stringify(Object.fromEntries(values));
}

function kindOf(item: Recorded): string {
  const type = item.event.type;
  if (type.startsWith("ToolCall") || type === "OutcomeResolved") return "tool";
  if (type.startsWith("Approval") || type.startsWith("Trust")) return "person";
  if (type === "UserMessage" || type === "MessageQueued") return "user";
  if (type === "GuardTripped" || type === "ModelAttemptFailed" || type === "RunInterrupted") return "trouble";
  return "plain";
}
