// What became of a question.

import { ShieldCheck, ShieldX } from "lucide-react";
import type { Call } from "../../log/view";
import { Plain } from "../../parts/Plain";
import { useWords } from "../../text/words";

export function Decided({ call }: { call: Call }) {
  const say = useWords();
  const decision = call.question?.decision;
  if (!decision) return null;
  const yes = decision.decision === "approved";
  const edited = yes && decision.arguments !== null;
  const text = edited
    ? say("decided_edited", { who: decision.by })
    : yes && decision.grant_id !== null && decision.channel === null
      ? say("decided_grant")
      : say(`decided_${decision.decision}`, { who: decision.by });
  const Icon = yes ? ShieldCheck : ShieldX;
  return (
    <p className={`decided ${yes ? "yes" : "no"}`}>
      <Icon size={15} aria-hidden />
      <span>
        <Plain text={text} />
        {decision.reason && (
          <>
            {say("colon")}
            <q>
              <Plain text={decision.reason} />
            </q>
          </>
        )}
      </span>
    </p>
  );
}
