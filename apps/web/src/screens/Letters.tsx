// What was written and has not arrived in the log yet, as it will look there.

import { Plain } from "../parts/Plain";
import { discard, type Letter } from "../state/outbox";
import { useWords } from "../text/words";

export function Letters({ letters }: { letters: readonly Letter[] }) {
  const say = useWords();
  return letters.map((letter) => (
    <div key={letter.id} className="row user-row pending">
      <div className="bubble">
        <Plain text={letter.text} />
      </div>
      <p className="row-meta faint" role="status">
        {letter.state === "sending" && say("sending")}
        {letter.state === "retrying" && say("not_sent")}
        {letter.state === "refused" && (
          <>
            <span className="trouble">{say("not_taken", { why: letter.why ?? "" })}</span>{" "}
            <button type="button" className="link-button" onClick={() => discard(letter.id)}>
              {say("close")}
            </button>
          </>
        )}
      </p>
    </div>
  ));
}
