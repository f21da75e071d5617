// What may run unasked in this conversation, and its end.

import { ShieldOff } from "lucide-react";
import { useContext } from "react";
import type { View } from "../../log/view";
import * as api from "../../net/api";
import { Button } from "../../parts/Button";
import { Plain } from "../../parts/Plain";
import { SessionContext } from "../../state/context";
import { useAction, useNow } from "../../state/hooks";
import { lang } from "../../state/prefs";
import { useStore } from "../../state/store";
import { toolName } from "../../text/codes";
import { fullTime } from "../../text/format";
import { useWords } from "../../text/words";

export function Grants({ view }: { view: View }) {
  const say = useWords();
  const language = useStore(lang);
  const { sessionId, readOnly } = useContext(SessionContext);
  const action = useAction();
  const now = useNow(view.grants.length > 0);
  const standing = view.grants.filter(({ grant, revoked }) => !revoked && (grant.expires ?? now + 1) > now);
  if (standing.length === 0) return null;
  return (
    <section className="grants" aria-label={say("grants")}>
      <h3>{say("grants")}</h3>
      <ul className="plain-list">
        {standing.map(({ grant }) => (
          <li key={grant.grant_id}>
            <span>
              {toolName(grant.tool, language)}
              {grant.target && (
                <>
                  {" · "}
                  <Plain text={grant.target} />
                </>
              )}
              {grant.expires !== null && (
                <span className="faint"> · {say("until", { time: fullTime(grant.expires, language) })}</span>
              )}
            </span>
            {!readOnly && (
              <Button
                kind="quiet"
                icon={ShieldOff}
                disabled={action.busy}
                onClick={() => action.run(() => api.revoke(sessionId, grant.grant_id))}
              >
                {say("revoke")}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <p role="alert" className="trouble">
        {action.failure}
      </p>
    </section>
  );
}
