// Two branches of one conversation, from where they part.

import { useContext } from "react";
import { known } from "../log/events";
import type { Call } from "../log/view";
import { Markdown } from "../markdown/Markdown";
import * as api from "../net/api";
import { Plain } from "../parts/Plain";
import type { DiffSide, Recorded } from "../protocol";
import { MeContext } from "../state/context";
import { useLoaded } from "../state/hooks";
import { lang } from "../state/prefs";
import { go, write } from "../state/route";
import { useStore } from "../state/store";
import { toolName } from "../text/codes";
import { minus } from "../text/decimal";
import { count, money, moneys, oneLine, tokensOf } from "../text/format";
import { useWords } from "../text/words";
import { follow } from "./Sidebar";
import { TopBar } from "./TopBar";

interface Props {
  a: string;
  b: string;
  openList: (() => void) | null;
  waiting: number;
}

export default function Compare({ a, b, openList, waiting }: Props) {
  const say = useWords();
  const { value, trouble } = useLoaded(`${a} ${b}`, () => api.diff(a, b));
  return (
    <main className="pane" id="main" tabIndex={-1}>
      <TopBar title={say("compare_title")} openList={openList} waiting={waiting} />
      <div className="scroll" tabIndex={0}>
        <div className="column wide compare">
          {trouble && (
            <p className="trouble">{trouble.status === 404 ? say("gone") : say("failed", { why: trouble.message })}</p>
          )}
          {value && (
            <>
              <p className="faint">{say("compare_common", { n: value.common })}</p>
              <div className="compare-sides">
                <Side side={value.a} name={say("original")} />
                <Side side={value.b} name={say("branch")} />
              </div>
              <p className="faint">{difference(value.a, value.b, say)}</p>
              {value.rows.length === 0 && <p>{say("no_difference")}</p>}
              {value.rows.map((row, index) => (
                <div key={index} className={`compare-row${row.same ? " same" : ""}`}>
                  <Told item={row.a} />
                  <Told item={row.b} />
                </div>
              ))}
            </>
          )}
        </div>
      </div>
    </main>
  );
}

function difference(a: DiffSide, b: DiffSide, say: ReturnType<typeof useWords>): string {
  const tokens = (tokensOf(b.usage) ?? 0) - (tokensOf(a.usage) ?? 0);
  const names = [...new Set([...Object.keys(a.costs), ...Object.keys(b.costs)])].sort();
  const costs = names.map((name) => {
    const amount = minus(String(b.costs[name] ?? "0"), String(a.costs[name] ?? "0"));
    return `${amount.startsWith("-") ? "" : "+"}${money(amount, name)}`;
  });
  const signed = `${tokens < 0 ? "−" : "+"}${count(Math.abs(tokens))}`;
  return [say("difference"), say("tokens", { n: signed }), ...costs].join(" · ");
}

function Side({ side, name }: { side: DiffSide; name: string }) {
  const say = useWords();
  const language = useStore(lang);
  const me = useContext(MeContext);
  const place = { at: "session" as const, id: side.session_id, seq: null };
  return (
    <section className="card" aria-label={name} data-user={me?.user}>
      <h2>
        <a href={write(place)} onClick={(event) => follow(event, () => go(place))}>
          {name}
        </a>
      </h2>
      <p className="faint">
        {[
          say("steps", { n: side.steps }),
          say("tokens", { n: count(tokensOf(side.usage) ?? 0) }),
          moneys(side.costs as Record<string, string>) ?? say("no_cost"),
        ].join(" · ")}
      </p>
      <h3>{say("effects")}</h3>
      {side.effects.length === 0 ? (
        <p className="faint">{say("no_effects")}</p>
      ) : (
        <ul className="plain-list">
          {side.effects.map((effect) => (
            <li key={effect.seq}>
              {toolName(effect.tool, language)}{" "}
              <span className="faint">
                <Plain text={oneLine(effect.arguments, 80)} />
              </span>
              {effect.outcome === "uncertain" && <span className="chip warn">{say("call_uncertain")}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Told({ item }: { item: Recorded | null }) {
  const say = useWords();
  const language = useStore(lang);
  if (item === null) return <div className="told nothing" />;
  const event = known(item);
  switch (event.type) {
    case "UserMessage":
      return (
        <div className="told">
          <div className="bubble">
            <Plain text={event.content.map((part) => (part.kind === "text" ? part.text : part.name)).join("")} />
          </div>
        </div>
      );
    case "AssistantMessage":
      return (
        <div className="told">
          {event.content && <Markdown text={event.content} />}
          {event.tool_calls.map((call) => (
            <p key={call.id} className="faint">
              → {toolName(call.name, language)} <Plain text={oneLine(call.arguments, 120)} />
            </p>
          ))}
        </div>
      );
    case "ToolCallFinished": {
      const state: Call["state"] = event.ok ? "ok" : event.error?.type === "uncertain" ? "uncertain" : "failed";
      return (
        <div className="told">
          <p className={`call ${state}`}>
            {toolName(event.tool, language)} <span className="faint">{say(`call_${state}`)}</span>
          </p>
          <p className="faint">
            <Plain text={oneLine(event.error?.message ?? event.content, 160)} />
          </p>
        </div>
      );
    }
    case "ApprovalDecided":
      return (
        <div className="told">
          <Plain text={say(`decided_${event.decision}`, { who: event.by })} />
          {event.reason && (
            <q>
              <Plain text={event.reason} />
            </q>
          )}
        </div>
      );
    case "LoopEnd":
      return <div className="told faint">{say(`end_${event.reason}`)}</div>;
    default:
      return <div className="told faint">{event.type}</div>;
  }
}
