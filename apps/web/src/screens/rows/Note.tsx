// What the runtime noticed or did besides: ends of runs, guards, branches.

import { CircleAlert, CircleCheck, CircleStop, GitFork, Hourglass, ShieldAlert, Shrink, Undo2 } from "lucide-react";
import type { ReactNode } from "react";
import { useContext } from "react";
import type { NoteRow } from "../../log/view";
import { LongText } from "../../parts/Data";
import { Plain } from "../../parts/Plain";
import { SessionContext } from "../../state/context";
import { go, write } from "../../state/route";
import { count, money, seconds, tokensOf } from "../../text/format";
import { hasWord, useWords } from "../../text/words";
import { follow } from "../Sidebar";

export function Note({ row }: { row: NoteRow }) {
  const say = useWords();
  const { sessionId } = useContext(SessionContext);
  switch (row.kind) {
    case "end": {
      const { end } = row;
      const code = `end_${end.reason}`;
      const tokens = tokensOf(end.usage);
      const facts = [
        say("steps", { n: end.steps }),
        tokens === null ? null : say("tokens", { n: count(tokens) }),
        end.cost ? money(end.cost.amount, end.cost.currency) : say("no_cost"),
        seconds(Math.max(0, row.at - row.began)),
      ];
      const tone = end.completed ? "good" : end.reason === "awaiting_approval" ? "waits" : "bad";
      const Icon = end.completed
        ? CircleCheck
        : end.reason === "awaiting_approval"
          ? Hourglass
          : end.reason === "interrupted"
            ? CircleStop
            : CircleAlert;
      return (
        <Line icon={<Icon size={15} aria-hidden />} tone={tone} ended={end.reason}>
          <span>{hasWord(code) ? say(code) : end.reason}</span>
          {end.message && !end.completed && end.reason !== "awaiting_approval" && (
            <span>
              <Plain text={end.message} />
            </span>
          )}
          <span className="faint figures">{facts.filter(Boolean).join(" · ")}</span>
        </Line>
      );
    }
    case "guard":
      return (
        <Line icon={<ShieldAlert size={15} aria-hidden />} tone={row.guard.action === "ended" ? "bad" : "waits"}>
          <details>
            <summary>{say("guard", { name: row.guard.guard })}</summary>
            <LongText text={JSON.stringify(row.guard.evidence, null, 2)} limit={1200} />
          </details>
        </Line>
      );
    case "compacted":
      return (
        <Line icon={<Shrink size={15} aria-hidden />}>
          {row.summary ? (
            <details>
              <summary>{say("compacted", { from: row.from, to: row.to })}</summary>
              <LongText text={row.summary} />
            </details>
          ) : (
            say("compacted", { from: row.from, to: row.to })
          )}
        </Line>
      );
    case "rolled_back":
      return (
        <Line icon={<Undo2 size={15} aria-hidden />} tone="waits">
          <Plain text={say("rolled_back", { who: row.by, to: row.to })} />
        </Line>
      );
    case "interrupted":
      return (
        <Line icon={<CircleStop size={15} aria-hidden />} tone="waits">
          <Plain text={say("interrupted_by", { who: row.by })} />
        </Line>
      );
    case "forked": {
      const { session_id: parent, seq } = row.parent;
      return (
        <Line icon={<GitFork size={15} aria-hidden />}>
          <a
            href={write({ at: "session", id: parent, seq })}
            onClick={(event) => follow(event, () => go({ at: "session", id: parent, seq }))}
          >
            {say("forked_from", { parent, seq })}
          </a>
          {sessionId && (
            <a
              href={write({ at: "compare", a: parent, b: sessionId })}
              onClick={(event) => follow(event, () => go({ at: "compare", a: parent, b: sessionId }))}
            >
              {say("compare")}
            </a>
          )}
        </Line>
      );
    }
    default:
      return <Line icon={<CircleAlert size={15} aria-hidden />}>{say("unknown_event", { type: row.type })}</Line>;
  }
}

interface LineProps {
  icon: ReactNode;
  tone?: string;
  /** Why a run ended, where this is its end. */
  ended?: string;
  children: ReactNode;
}

function Line({ icon, tone = "", ended, children }: LineProps) {
  return (
    <div className={`row note ${tone}`} data-ended={ended}>
      {icon}
      <div className="note-text">{children}</div>
    </div>
  );
}
