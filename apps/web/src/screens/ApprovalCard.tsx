// A question before something is changed. Invariant: everything that would happen can be read before yes is possible; yes
// goes with the digest of exactly what was shown; an answer is shown as given only when the log says so.

import { Infinity as Always, Check, Pencil, ShieldAlert, TriangleAlert, X } from "lucide-react";
import { useId, useState } from "react";
import * as api from "../net/api";
import { Trouble } from "../net/http";
import { Button } from "../parts/Button";
import { Plain } from "../parts/Plain";
import type { Approval, Decide } from "../protocol";
import { useAction, useNow } from "../state/hooks";
import { useKept } from "../state/kept";
import { type Lang, lang } from "../state/prefs";
import { useStore } from "../state/store";
import { summary } from "../text/arguments";
import { fieldName, noticeText, titleText, toolName, valueText } from "../text/codes";
import { fullTime, seconds } from "../text/format";
import { indented, notAnObject } from "../text/json";
import { useWords } from "../text/words";

type Shown = Pick<
  Approval,
  | "session_id"
  | "call_id"
  | "tool"
  | "tier"
  | "arguments"
  | "digest"
  | "preview"
  | "why"
  | "target"
  | "deadline"
  | "offer"
  | "seq"
>;

interface Props {
  approval: Shown;
  may: readonly Approval["may"][number][];
  onDecided?(): void;
}

/** Text that is longer, or has more lines, is folded first. */
const LONG = 400;
const LINES = 8;

export function ApprovalCard({ approval, may, onDecided }: Props) {
  const say = useWords();
  const language = useStore(lang);
  const key = `approval ${approval.session_id} ${approval.call_id} ${approval.digest}`;
  const [mode, setMode] = useKept<"ask" | "deny" | "edit" | "always">(`${key} mode`, "ask");
  const [words, setWords] = useKept(`${key} words`, "");
  const [edited, setEdited] = useKept(`${key} edited`, indented(approval.arguments));
  const [opened, setOpened] = useKept<readonly string[]>(`${key} opened`, []);
  const [notice, setNotice] = useState<string | null>(null);
  const [sent, setSent] = useState(false);
  const heading = useId();
  const action = useAction();
  const now = useNow(approval.deadline !== null);
  const late = approval.deadline !== null && now >= approval.deadline;

  const { preview } = approval;
  const changes = preview.changes ?? [];
  const notes = preview.notes ?? [];
  const changed = changes.some((change) => change.before !== null);
  const shownArguments = indented(approval.arguments);
  const folded = [...changes.flatMap((change) => [change.before ?? "", change.after ?? ""]), ...notes].filter(isLong);
  const hiddenParts = [...new Set(folded)].filter((text) => !opened.includes(text));
  // Without a preview the arguments are all there is to judge by.
  const argumentsLast = changes.length > 0 || notes.length > 0;
  const argumentsHidden = !argumentsLast && isLong(shownArguments) && !opened.includes(shownArguments);
  const mustOpen = hiddenParts.length > 0 || argumentsHidden;
  const open = (text: string) => setOpened([...opened, text]);
  const problem = mode === "edit" ? notAnObject(edited) : null;

  const decide = (body: Decide, editedArguments: string | null = null) =>
    action.run(async () => {
      setNotice(null);
      try {
        const answer = { ...body, digest: approval.digest };
        await api.decide(approval.session_id, approval.call_id, answer, editedArguments);
        setSent(true);
        onDecided?.();
      } catch (error) {
        if (error instanceof Trouble && error.status === 409) setNotice(say("someone_faster"));
        else if (error instanceof Trouble && error.status === 410) setNotice(say("too_late"));
        else throw error;
        onDecided?.();
      }
    });
  const still = action.busy || sent || late;
  const can = (what: (typeof may)[number]) => may.includes(what);

  return (
    <section
      className={`card approval tier-${approval.tier.toLowerCase()}`}
      aria-labelledby={heading}
      data-approval={approval.call_id}
    >
      <header className="card-head">
        <ShieldAlert size={18} aria-hidden />
        <h3 id={heading}>
          <Plain
            text={titleText(preview.title, language) || say("asks", { tool: toolName(approval.tool, language) })}
          />
        </h3>
        <span className={`chip tier ${approval.tier.toLowerCase()}`}>
          {approval.tier === "DANGEROUS"
            ? say("tier_DANGEROUS")
            : approval.tier === "WRITE"
              ? say("tier_WRITE")
              : approval.tier}
        </span>
      </header>
      <p className="faint card-sub">
        {toolName(approval.tool, language)}
        {approval.target && (
          <>
            {" · "}
            {say("target")} <Plain text={approval.target} />
          </>
        )}
        {approval.deadline !== null && (
          <>
            {" · "}
            {late ? say("expired") : say("deadline", { time: fullTime(approval.deadline, language) })}
          </>
        )}
      </p>
      {approval.why === "changed" && <p className="notice">{say("why_changed")}</p>}
      {approval.why === "egress" && <p className="notice">{say("why_egress")}</p>}
      {approval.why === "rule" && <p className="faint">{say("why_rule")}</p>}
      {preview.asked_by && (
        <p className="notice">
          <TriangleAlert size={15} aria-hidden />{" "}
          <Plain text={say("asked_by", { what: askedBy(preview.asked_by, language) })} />
        </p>
      )}
      {changes.length > 0 && (
        <table className="changes">
          <thead>
            <tr>
              <th scope="col">{say("field")}</th>
              {changed && <th scope="col">{say("before")}</th>}
              <th scope="col">{say("after")}</th>
            </tr>
          </thead>
          <tbody>
            {changes.map((change, index) => (
              <tr key={index}>
                <th scope="row">
                  <Plain text={fieldName(change.field, language)} />
                  {change.record && (
                    <span className="faint">
                      {" "}
                      <Plain text={change.record} />
                    </span>
                  )}
                </th>
                {changed && (
                  <td className="old">
                    <Side text={valueText(change.field, change.before, language)} opened={opened} onOpen={open} />
                  </td>
                )}
                <td className="new">
                  <Side text={valueText(change.field, change.after, language)} opened={opened} onOpen={open} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {notes.map((note) => (
        <div key={note}>
          <Side text={note} opened={opened} onOpen={open} />
        </div>
      ))}
      {(preview.notices ?? []).map((each) => (
        <p key={JSON.stringify(each)} className="notice">
          <TriangleAlert size={15} aria-hidden /> <Plain text={noticeText(each.code, each.values ?? {}, language)} />
        </p>
      ))}
      {argumentsLast ? (
        <details className="exact">
          <summary>{say("all_arguments")}</summary>
          <pre>
            <Plain text={shownArguments} />
          </pre>
        </details>
      ) : (
        <Side text={shownArguments} opened={opened} onOpen={open} mono />
      )}
      {mode === "deny" && (
        <label className="field">
          {say("deny_words")}
          <textarea
            value={words}
            rows={2}
            maxLength={4000}
            ref={focus}
            onChange={(event) => setWords(event.target.value)}
          />
        </label>
      )}
      {mode === "edit" && (
        <label className="field">
          {say("all_arguments")}
          <textarea
            className="mono"
            value={edited}
            rows={Math.min(16, edited.split("\n").length + 1)}
            ref={focus}
            spellCheck={false}
            aria-invalid={problem !== null}
            onChange={(event) => setEdited(event.target.value)}
          />
          {problem !== null && <span className="trouble">{say("edit_bad", { why: problem })}</span>}
        </label>
      )}
      {mode === "always" && approval.offer && (
        <div className="offer">
          <strong>{say("always_title")}</strong>
          <p>
            <Plain text={approval.offer.sentence} />
            {approval.offer.seconds != null && ` · ${say("always_until", { time: seconds(approval.offer.seconds) })}`}
          </p>
        </div>
      )}
      {mustOpen && can("approve") && <p className="faint">{say("open_first")}</p>}
      {!can("approve") && <p className="faint">{say("may_not")}</p>}
      <div className="card-actions">
        {mode === "ask" && (
          <>
            {can("approve") && (
              <Button
                kind="primary"
                icon={Check}
                disabled={still || mustOpen}
                onClick={() => decide({ decision: "approve" })}
              >
                {say("approve")}
              </Button>
            )}
            <Button icon={X} disabled={still} onClick={() => setMode("deny")}>
              {say("deny")}
            </Button>
            {can("edit") && (
              <Button kind="quiet" icon={Pencil} disabled={still} onClick={() => setMode("edit")}>
                {say("edit")}
              </Button>
            )}
            {can("always") && approval.offer && (
              <Button kind="quiet" icon={Always} disabled={still || mustOpen} onClick={() => setMode("always")}>
                {say("always")}
              </Button>
            )}
          </>
        )}
        {mode === "deny" && (
          <Button
            kind="danger"
            icon={X}
            disabled={still}
            onClick={() => decide(words.trim() ? { decision: "deny", reason: words.trim() } : { decision: "deny" })}
          >
            {words.trim() ? say("deny_send") : say("deny")}
          </Button>
        )}
        {mode === "edit" && (
          <Button
            kind="primary"
            disabled={still || problem !== null}
            onClick={() => decide({ decision: "approve" }, edited)}
          >
            {say("edit_send")}
          </Button>
        )}
        {mode === "always" && (
          <Button
            kind="primary"
            icon={Always}
            disabled={still || mustOpen}
            onClick={() => decide({ decision: "approve", always: true })}
          >
            {say("always")}
          </Button>
        )}
        {mode !== "ask" && (
          <Button kind="quiet" disabled={action.busy} onClick={() => setMode("ask")}>
            {say("cancel")}
          </Button>
        )}
      </div>
      <p role="alert" className="trouble">
        {notice ?? action.failure}
      </p>
    </section>
  );
}

function focus(element: HTMLTextAreaElement | null): void {
  element?.focus({ preventScroll: false });
}

/** One value of a preview, folded while it is long and nobody has opened it. */
function Side({
  text,
  opened,
  onOpen,
  mono = false,
}: {
  text: string | null;
  opened: readonly string[];
  onOpen(text: string): void;
  mono?: boolean;
}) {
  const say = useWords();
  if (text === null) return <span className="faint">{say("nothing_before")}</span>;
  const whole = !isLong(text) || opened.includes(text);
  return (
    <span className={`side${mono ? " mono" : ""}`}>
      <Plain text={whole ? text : `${text.split("\n").slice(0, LINES).join("\n").slice(0, LONG)}…`} />
      {!whole && (
        <button type="button" className="link-button" onClick={() => onOpen(text)}>
          {say("show_all", { n: text.length })}
        </button>
      )}
    </span>
  );
}

function isLong(text: string): boolean {
  return text.length > LONG || text.split("\n").length > LINES;
}

/** A record, or the call that read the values: tool and arguments. */
function askedBy(what: string, language: Lang): string {
  const call = /^(\w+) (\{.*\})$/s.exec(what);
  return call?.[1] && call[2] ? `${toolName(call[1], language)} ${summary(call[2])}` : what;
}
