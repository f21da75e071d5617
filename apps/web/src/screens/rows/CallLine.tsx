// One call: its tool and key arguments in a line, everything else behind it, and the question it waits for.

import { Check, ChevronRight, CircleHelp, CircleX, Clock, Hourglass, Loader, Paperclip } from "lucide-react";
import { useContext, useId } from "react";
import type { Call, CallState } from "../../log/view";
import * as api from "../../net/api";
import { Button } from "../../parts/Button";
import { Result } from "../../parts/Data";
import { Plain } from "../../parts/Plain";
import { MeContext, SessionContext } from "../../state/context";
import { useAction } from "../../state/hooks";
import { useKept } from "../../state/kept";
import { lang } from "../../state/prefs";
import { useStore } from "../../state/store";
import { summary } from "../../text/arguments";
import { howToCheck, toolName } from "../../text/codes";
import { oneLine, seconds } from "../../text/format";
import { marked } from "../../text/hidden";
import { useWords } from "../../text/words";
import { ApprovalCard } from "../ApprovalCard";
import { Decided } from "./Decided";
import { hasChart, ReportChart } from "./ReportChart";

interface Props {
  call: Call;
  messageSeq: number;
  span: { from: number; to: number } | null;
}

const ICONS = {
  proposed: Clock,
  asked: Hourglass,
  approved: Clock,
  running: Loader,
  ok: Check,
  failed: CircleX,
  denied: CircleX,
  uncertain: CircleHelp,
} as const satisfies Record<CallState, unknown>;

export function CallLine({ call, messageSeq, span }: Props) {
  const say = useWords();
  const language = useStore(lang);
  const { sessionId, readOnly } = useContext(SessionContext);
  const me = useContext(MeContext);
  const [open, setOpen] = useKept(`call ${sessionId} ${messageSeq} ${call.id}`, false);
  const details = useId();
  const Icon = ICONS[call.state];
  const state = say(`call_${call.state}`);
  const asked = call.state === "asked" && call.question;
  return (
    <li className={`call ${call.state}`} data-call={call.id}>
      <button
        type="button"
        className="call-line"
        aria-expanded={open}
        aria-controls={details}
        onClick={() => setOpen(!open)}
      >
        <ChevronRight size={14} className="call-arrow" aria-hidden />
        <Icon size={15} className="call-icon" aria-hidden />
        <span className="call-name">{toolName(call.tool, language)}</span>
        <span className="call-arguments faint">
          <Plain text={oneLine(summary(call.arguments), 90)} />
        </span>
        <span className="call-marks">
          {call.cached && <span className="chip">{say("cached")}</span>}
          {call.attempts > 1 && <span className="chip warn">{say("retried", { n: call.attempts })}</span>}
          {call.repaired && <span className="chip">{say("repaired")}</span>}
        </span>
        {span && <Lane call={call} span={span} />}
        <span className="call-time faint">
          {call.duration !== null && call.attempts > 0 ? seconds(call.duration) : ""}
        </span>
        <span className="visually-hidden">{state}</span>
      </button>
      {call.progress && call.state === "running" && (
        <p className="call-progress faint">
          <Plain text={call.progress.text} />
          {call.progress.fraction !== null && (
            <progress value={call.progress.fraction} aria-label={marked(call.progress.text)} />
          )}
        </p>
      )}
      {call.error && call.state !== "ok" && call.state !== "denied" && (
        <p className="call-error">
          <Plain text={call.error.message} />
          {call.error.hint && (
            <span className="faint">
              {" "}
              <Plain text={call.error.hint} />
            </span>
          )}
        </p>
      )}
      {call.question?.decision && <Decided call={call} />}
      {asked && !readOnly && (
        <ApprovalCard
          key={asked.seq}
          approval={{ ...asked.request, session_id: sessionId, seq: asked.seq }}
          may={me ? mayOf(me.approves, asked.request.tier, asked.request.offer !== null) : ["deny"]}
        />
      )}
      {call.state === "uncertain" && !readOnly && <Doubt call={call} />}
      {hasChart(call) && (
        <div className="call-chart">
          <ReportChart call={call} />
        </div>
      )}
      {open && (
        <div className="call-details" id={details}>
          <h4>{say("arguments")}</h4>
          {call.rawName && call.rawName !== call.tool && (
            <p className="faint">
              <Plain text={say("renamed", { name: call.rawName })} />
            </p>
          )}
          <Result content={call.arguments} />
          {call.content !== null && (
            <>
              <h4>{say("result")}</h4>
              {call.truncated && (
                <p className="faint">
                  {say("truncated", { total: call.truncated.total, shown: call.truncated.shown })}
                </p>
              )}
              <Result content={call.content} />
            </>
          )}
          {call.artifacts.map((file) => (
            <p key={file.name} className="file">
              <Paperclip size={14} aria-hidden /> <Plain text={file.name} />
            </p>
          ))}
        </div>
      )}
    </li>
  );
}

export function mayOf(
  approves: readonly string[],
  tier: string,
  offered: boolean,
): ("approve" | "deny" | "edit" | "always")[] {
  if (!approves.includes(tier)) return ["deny"];
  return offered ? ["approve", "deny", "edit", "always"] : ["approve", "deny", "edit"];
}

/** When the call ran, against the others of its step. */
function Lane({ call, span }: { call: Call; span: { from: number; to: number } }) {
  if (call.startedAt === null) return <span className="lane" aria-hidden />;
  const whole = span.to - span.from;
  const left = ((call.startedAt - span.from) / whole) * 100;
  const width = (((call.finishedAt ?? span.to) - call.startedAt) / whole) * 100;
  return (
    <span className="lane" aria-hidden>
      <span className="lane-bar" style={{ left: `${left}%`, width: `${Math.max(2, Math.min(100 - left, width))}%` }} />
    </span>
  );
}

function Doubt({ call }: { call: Call }) {
  const say = useWords();
  const language = useStore(lang);
  const { sessionId } = useContext(SessionContext);
  const action = useAction();
  const how = howToCheck(call.tool, language);
  const answers = ["happened", "did_not_happen", "send_again"] as const;
  return (
    <section className="card doubt" aria-label={say("call_uncertain")}>
      <p>{say("doubt_title", { tool: toolName(call.tool, language) })}</p>
      {how && <p className="faint">{how}</p>}
      <div className="card-actions">
        {answers.map((outcome) => (
          <Button
            key={outcome}
            disabled={action.busy}
            onClick={() => action.run(() => api.resolve(sessionId, call.id, outcome))}
          >
            {say(outcome)}
          </Button>
        ))}
      </div>
      <p role="alert" className="trouble">
        {action.failure}
      </p>
    </section>
  );
}
