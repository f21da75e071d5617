// Taking a conversation back behind writes. Invariant: nobody goes back without having seen what stays changed in the shop;
// what would take it back is only asked for, call by call, like every write.

import { Undo2 } from "lucide-react";
import { Button } from "../parts/Button";
import { Plain } from "../parts/Plain";
import { Sheet } from "../parts/Sheet";
import type { Compensation } from "../protocol";
import { lang } from "../state/prefs";
import { useStore } from "../state/store";
import { summary } from "../text/arguments";
import { toolName } from "../text/codes";
import { oneLine } from "../text/format";
import { useWords } from "../text/words";

interface Props {
  writes: readonly Compensation[];
  busy: boolean;
  failure: string | null;
  onBack(undo: boolean): void;
  onClose(): void;
}

export function GoBack({ writes, busy, failure, onBack, onClose }: Props) {
  const say = useWords();
  const undone = writes.filter((write) => write.undo_tool !== null).length;
  return (
    <Sheet title={say("rollback_writes", { n: writes.length })} onClose={onClose}>
      <p className="faint">{say("rollback_intro")}</p>
      <ul className="back-list">
        {writes.map((write) => (
          <li key={write.seq}>
            <p>
              <Told tool={write.tool} json={write.arguments} />
            </p>
            <p className="faint small-text">
              {write.undo_tool !== null ? (
                <>
                  <Undo2 size={13} aria-hidden /> {say("taken_back_by")}{" "}
                  <Told tool={write.undo_tool} json={write.undo_arguments ?? "{}"} />
                </>
              ) : (
                <Plain text={`${say("not_taken_back")}${say("colon")}${write.why_not ?? ""}`} />
              )}
            </p>
          </li>
        ))}
      </ul>
      <div className="card-actions">
        {undone > 0 && (
          <Button kind="primary" icon={Undo2} disabled={busy} onClick={() => onBack(true)}>
            {say("back_and_undo", { n: undone })}
          </Button>
        )}
        <Button disabled={busy} onClick={() => onBack(false)}>
          {say("back_only")}
        </Button>
        <Button kind="quiet" disabled={busy} onClick={onClose}>
          {say("cancel")}
        </Button>
      </div>
      <p role="alert" className="trouble">
        {failure}
      </p>
    </Sheet>
  );
}

function Told({ tool, json }: { tool: string; json: string }) {
  const language = useStore(lang);
  return (
    <>
      <strong>{toolName(tool, language)}</strong> <Plain text={oneLine(summary(json), 120)} />
    </>
  );
}
