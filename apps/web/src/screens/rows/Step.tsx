// One turn of the model: what it thought, which tools it asked for and what came of them, what it answered, what it cost.

import { type ReactNode, useContext, useDeferredValue, useMemo, useSyncExternalStore } from "react";
import { NOTHING_LIVE, type StepRow } from "../../log/view";
import type { Checked } from "../../markdown/figures";
import { Markdown } from "../../markdown/Markdown";
import { Plain } from "../../parts/Plain";
import { SessionContext } from "../../state/context";
import type { Source } from "../../state/session";
import { count, money, oneLine, seconds, tokensOf } from "../../text/format";
import { type Say, useWords } from "../../text/words";
import { CallLine } from "./CallLine";
import { Figures } from "./Figures";
import { RowMenu } from "./RowMenu";

interface Props {
  row: StepRow;
  through: number;
  source: Source;
}

export function Step({ row, through, source }: Props) {
  const say = useWords();
  const writing = row.outcome === "writing";
  // A turn without calls is an answer; while it is written it stands where it will stay.
  const answers = row.calls.length === 0;
  const checked = useMemo(
    () => (row.figures.length || row.untraced.length ? { figures: row.figures, untraced: row.untraced } : null),
    [row.figures, row.untraced],
  );
  const label = say("step", { n: row.step });
  const span = useMemo(() => spanOf(row), [row]);
  return (
    <article className={`row step${answers ? " answer" : ""}`} aria-label={label}>
      {!answers && (
        <header className="step-head">
          <span className="step-name">{label}</span>
          {row.calls.length > 1 && <span className="chip">{say("parallel", { n: row.calls.length })}</span>}
          <Meta row={row} say={say} />
          <RowMenu seq={row.seq} through={through} text={row.text} label={label} />
        </header>
      )}
      {row.failures.map((failure) => (
        <p key={failure.attempt} className="failure">
          <Plain text={say("attempt_failed", { n: failure.attempt, why: failure.message || failure.kind })} />
          {failure.wait !== null && <span className="faint"> · {say("waits", { s: seconds(failure.wait) })}</span>}
        </p>
      ))}
      {row.reasoning && <Reasoning text={row.reasoning} />}
      <Words row={row} source={source} checked={checked} />
      {row.refusal && (
        <p className="failure">
          <Plain text={row.refusal} />
        </p>
      )}
      {row.finishReason === "length" && <p className="failure">{say("cut_off")}</p>}
      {row.finishReason === "content_filter" && <p className="failure">{say("filtered")}</p>}
      {row.calls.length > 0 && (
        <ul className="calls">
          {row.calls.map((call) => (
            <CallLine key={call.id} call={call} messageSeq={row.messageSeq ?? 0} span={span} />
          ))}
        </ul>
      )}
      {answers && !writing && (
        <footer className="step-head">
          <Meta row={row} say={say} />
          {checked && <Figures checked={checked} />}
          <RowMenu seq={row.seq} through={through} text={row.text} label={oneLine(row.text ?? label, 40)} />
        </footer>
      )}
    </article>
  );
}

/**
 * What the model says: as far as it is written, then as it stands. One place for both, so that nothing is drawn anew when
 * the message is whole; marks of figures, which may be hundreds, are drawn when there is time.
 */
function Words({ row, source, checked }: { row: StepRow; source: Source; checked: Checked | null }) {
  const say = useWords();
  const writing = row.outcome === "writing";
  const live = useSyncExternalStore(source.subscribe, () => (writing ? source.view().live : NOTHING_LIVE));
  const newest = useSyncExternalStore(source.subscribe, () => !writing || newestStep(source) === row.seq);
  const { readOnly } = useContext(SessionContext);
  const marks = useDeferredValue(checked);
  const text = writing ? (newest ? live.text : "") : row.text;
  return (
    <>
      {text && <Markdown text={text} checked={marks} />}
      {writing && newest && live.reasoning && !text && (
        <p className="live-reasoning faint">
          <Plain text={live.reasoning.slice(-240)} />
        </p>
      )}
      {writing && newest && !text && (
        <p className={`thinking faint${readOnly ? "" : " going"}`} role="status">
          {say("thinking")}
        </p>
      )}
    </>
  );
}

function newestStep(source: Source): number | null {
  const rows = source.view().rows;
  for (let place = rows.length - 1; place >= 0; place -= 1) {
    const row = rows[place];
    if (row?.kind === "step") return row.seq;
  }
  return null;
}

function Reasoning({ text }: { text: string }) {
  const say = useWords();
  return (
    <details className="reasoning">
      <summary>{say("reasoning")}</summary>
      <div className="reasoning-text">
        <Plain text={text} />
      </div>
    </details>
  );
}

function Meta({ row, say }: { row: StepRow; say: Say }): ReactNode {
  const tokens = tokensOf(row.usage);
  const facts = [
    row.duration === null ? null : seconds(row.duration),
    tokens === null ? null : say("tokens", { n: count(tokens) }),
    row.cost ? money(row.cost.amount, row.cost.currency) : null,
  ].filter(Boolean);
  const { prompt_tokens: input, completion_tokens: output, cached_tokens: cached } = row.usage ?? {};
  const detail = row.usage
    ? say("tokens_detail", { input: input ?? "–", output: output ?? "–", cached: cached ?? "–" })
    : undefined;
  return (
    <span className="step-meta faint" title={detail}>
      {facts.join(" · ")}
    </span>
  );
}

/** From the first start to the last end of its calls, in Unix seconds; null when there is nothing to compare. */
function spanOf(row: StepRow): { from: number; to: number } | null {
  const begun = row.calls.filter((call) => call.startedAt !== null);
  if (begun.length < 2) return null;
  const from = Math.min(...begun.map((call) => call.startedAt ?? 0));
  const to = Math.max(...begun.map((call) => call.finishedAt ?? call.startedAt ?? 0));
  return to > from ? { from, to } : null;
}
