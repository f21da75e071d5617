// All questions that wait, over all conversations, the oldest first.

import { ExternalLink } from "lucide-react";
import { useState } from "react";
import { Plain } from "../parts/Plain";
import type { ApprovalList } from "../protocol";
import type { Loaded } from "../state/hooks";
import { lang } from "../state/prefs";
import { go, write } from "../state/route";
import { useStore } from "../state/store";
import { moment } from "../text/format";
import { useWords } from "../text/words";
import { ApprovalCard } from "./ApprovalCard";
import { follow } from "./Sidebar";
import { TopBar } from "./TopBar";

interface Props {
  openList: (() => void) | null;
  waiting: Loaded<ApprovalList>;
}

export default function Inbox({ openList, waiting }: Props) {
  const say = useWords();
  const language = useStore(lang);
  const [answered, setAnswered] = useState<ReadonlySet<string>>(new Set());
  const approvals = (waiting.value?.approvals ?? []).filter(
    (each) => !answered.has(each.digest + each.call_id + each.seq),
  );
  return (
    <main className="pane" id="main" tabIndex={-1}>
      <TopBar title={say("inbox")} openList={openList} waiting={approvals.length} />
      <div className="scroll" tabIndex={0}>
        <div className="column inbox">
          <p className="faint">{waiting.value && approvals.length === 0 ? say("inbox_empty") : say("inbox_intro")}</p>
          {approvals.map((approval) => {
            const place = { at: "session" as const, id: approval.session_id, seq: approval.seq };
            return (
              <article key={`${approval.session_id} ${approval.call_id} ${approval.seq}`} className="inbox-item">
                <p className="inbox-from faint">
                  <a href={write(place)} onClick={(event) => follow(event, () => go(place))}>
                    <Plain text={approval.session_title || say("untitled")} /> <ExternalLink size={13} aria-hidden />
                  </a>
                  <span>
                    {approval.session_owner && (
                      <>
                        <Plain text={approval.session_owner} />
                        {" · "}
                      </>
                    )}
                    {moment(approval.asked_at, language)}
                  </span>
                </p>
                <ApprovalCard
                  approval={approval}
                  may={approval.may}
                  onDecided={() => {
                    setAnswered(new Set(answered).add(approval.digest + approval.call_id + approval.seq));
                    waiting.reload();
                  }}
                />
              </article>
            );
          })}
        </div>
      </div>
    </main>
  );
}
