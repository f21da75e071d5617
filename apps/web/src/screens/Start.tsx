// Before the first word: what can be asked.

import { useContext, useState } from "react";
import { MeContext } from "../state/context";
import { outbox, post } from "../state/outbox";
import { useStore } from "../state/store";
import { useWords, type Word } from "../text/words";
import { Composer } from "./Composer";
import { Letters } from "./Letters";
import { TopBar } from "./TopBar";

const EXAMPLES: readonly Word[] = ["example_1", "example_2", "example_3"];

export function Start({ openList, waiting }: { openList: (() => void) | null; waiting: number }) {
  const say = useWords();
  const me = useContext(MeContext);
  const [sent, setSent] = useState(false);
  const letters = useStore(outbox).filter((letter) => letter.sessionId === null);
  const send = (text: string) => {
    setSent(true);
    post(null, text, false);
  };
  return (
    <main className="pane" id="main" tabIndex={-1}>
      <TopBar title={say("new_chat")} openList={openList} waiting={waiting} />
      {letters.length > 0 ? (
        <div className="scroll">
          <div className="column">
            <Letters letters={letters} />
          </div>
        </div>
      ) : (
        <div className="welcome">
          <div className="welcome-mark" aria-hidden />
          <h2>{say("welcome")}</h2>
          <p className="faint">{say("welcome_text")}</p>
          <ul className="examples">
            {EXAMPLES.map((word) => (
              <li key={word}>
                <button type="button" disabled={sent} onClick={() => send(say(word))}>
                  {say(word)}
                </button>
              </li>
            ))}
          </ul>
          {me?.offline && <p className="faint small-text">{say("offline_model")}</p>}
        </div>
      )}
      <div className="dock">
        <Composer draftKey="new" running={false} focus onSend={send} />
      </div>
    </main>
  );
}
