// What ran when: for each run a line of time, on it the model and the calls, side by side where they ran side by side.

import { useContext, useMemo } from "react";
import type { Row, StepRow, View } from "../../log/view";
import { FixedList } from "../../parts/FixedList";
import { SessionContext } from "../../state/context";
import { lang } from "../../state/prefs";
import { go } from "../../state/route";
import { useStore } from "../../state/store";
import { toolName } from "../../text/codes";
import { plus } from "../../text/decimal";
import { count, money, moneys, seconds, tokensOf } from "../../text/format";
import { useWords } from "../../text/words";

import { Grants } from "./Grants";

type Line =
  | { kind: "run"; key: string; n: number; from: number; to: number; tokens: number; costs: Record<string, string> }
  | {
      kind: "bar";
      key: string;
      seq: number;
      tool: string | null;
      step: number;
      state: string;
      left: number;
      width: number;
      took: number | null;
      cost: string | null;
    };

export function Lanes({ view }: { view: View }) {
  const say = useWords();
  const language = useStore(lang);
  const { sessionId, readOnly } = useContext(SessionContext);
  const lines = useMemo(() => linesOf(view.rows), [view.rows]);
  const total = tokensOf(view.usage);
  return (
    <div className="lanes">
      <p className="lanes-total">
        <span>{say("total")}</span>
        <span>{say("steps", { n: view.steps })}</span>
        {total !== null && <span>{say("tokens", { n: count(total) })}</span>}
        <span>{moneys(view.costs) ?? say("no_cost")}</span>
      </p>
      <Grants view={view} />
      <FixedList
        count={lines.length}
        height={30}
        label={say("lanes")}
        keyOf={(index) => lines[index]?.key ?? index}
        row={(index) => {
          const line = lines[index];
          if (!line) return null;
          if (line.kind === "run") {
            return (
              <div className="lane-run">
                <strong>#{line.n}</strong>
                <span className="faint">
                  {[
                    seconds(Math.max(0, line.to - line.from)),
                    line.tokens ? say("tokens", { n: count(line.tokens) }) : null,
                    moneys(line.costs),
                  ]
                    .filter(Boolean)
                    .join(" · ")}
                </span>
              </div>
            );
          }
          const name = line.tool === null ? `${say("model")} ${line.step}` : toolName(line.tool, language);
          return (
            <button
              type="button"
              className="lane-line"
              disabled={readOnly}
              onClick={() => go({ at: "session", id: sessionId, seq: line.seq })}
            >
              <span className="lane-name">{name}</span>
              <span className="lane-track" aria-hidden>
                <span
                  className={`lane-bar ${line.tool === null ? "model" : line.state}`}
                  style={{ left: `${line.left}%`, width: `${line.width}%` }}
                />
              </span>
              <span className="lane-took faint" title={line.cost ?? undefined}>
                {line.took === null ? "" : seconds(line.took)}
              </span>
            </button>
          );
        }}
      />
    </div>
  );
}

/** Runs with their bars; positions in per cent of the time of the run. */
function linesOf(rows: readonly Row[]): Line[] {
  const lines: Line[] = [];
  let steps: StepRow[] = [];
  let n = 0;
  const close = (endAt: number | null) => {
    if (!steps.length) return;
    n += 1;
    const ends = steps.flatMap((step) => [
      step.messageAt ?? step.at,
      ...step.calls.map((call) => call.finishedAt ?? 0),
    ]);
    const from = steps[0]?.at ?? 0;
    const to = Math.max(from, endAt ?? 0, ...ends);
    const whole = Math.max(to - from, 0.001);
    const place = (start: number, end: number) => {
      const left = Math.max(0, Math.min(99, ((start - from) / whole) * 100));
      return { left, width: Math.max(1, Math.min(100 - left, ((end - start) / whole) * 100)) };
    };
    const run: Extract<Line, { kind: "run" }> = { kind: "run", key: `run ${n}`, n, from, to, tokens: 0, costs: {} };
    lines.push(run);
    for (const step of steps) {
      run.tokens += tokensOf(step.usage) ?? 0;
      if (step.cost) run.costs[step.cost.currency] = plus(run.costs[step.cost.currency] ?? "0", step.cost.amount);
      const shared = { kind: "bar" as const, step: step.step };
      const end = step.messageAt ?? to;
      const cost = step.cost ? money(step.cost.amount, step.cost.currency) : null;
      lines.push({
        ...shared,
        key: `m${step.seq}`,
        seq: step.seq,
        tool: null,
        state: step.outcome,
        took: step.duration ?? end - step.at,
        cost,
        ...place(step.at, end),
      });
      for (const call of step.calls) {
        const begun = call.startedAt ?? call.finishedAt ?? end;
        const over = call.finishedAt ?? (call.startedAt === null ? begun : to);
        const took = call.finishedAt === null ? null : (call.duration ?? over - begun);
        lines.push({
          ...shared,
          key: `c${step.seq} ${call.id}`,
          seq: step.seq,
          tool: call.tool,
          state: call.state,
          took,
          cost: null,
          ...place(begun, over),
        });
      }
    }
    steps = [];
  };
  for (const row of rows) {
    if (row.kind === "step") {
      // Calls that a person answered days later ran in the run that went on.
      if (steps.length && steps[steps.length - 1]?.runId !== row.runId) close(null);
      steps.push(row);
    } else if (row.kind === "end") close(row.at);
  }
  close(null);
  return lines;
}
