// For somebody without a token: where it comes from, and a place for the one-time code.

import { type FormEvent, useState } from "react";
import * as api from "../net/api";
import { Trouble } from "../net/http";
import { Button } from "../parts/Button";
import type { Me } from "../protocol";
import { useAction } from "../state/hooks";
import { lang } from "../state/prefs";
import { useWords } from "../text/words";

export function Enter({ failed, onEntered }: { failed: boolean; onEntered(me: Me): void }) {
  const say = useWords();
  const [code, setCode] = useState("");
  const [wrong, setWrong] = useState(failed);
  const action = useAction();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    action.run(async () => {
      setWrong(false);
      try {
        const given = /code=([^&\s]+)/.exec(code)?.[1];
        onEntered((await api.enter(given ? decodeURIComponent(given) : code.trim())).me);
      } catch (error) {
        if (!(error instanceof Trouble) || error.status === 0 || error.status >= 500) throw error;
        setWrong(true);
      }
    });
  };
  return (
    <main className="center enter">
      <form onSubmit={submit}>
        <h1>{say("enter_title")}</h1>
        <p className="faint">{say("enter_text")}</p>
        <label htmlFor="code">{say("enter_code")}</label>
        <div className="enter-line">
          <input
            id="code"
            value={code}
            onChange={(event) => setCode(event.target.value)}
            autoComplete="off"
            spellCheck={false}
          />
          <Button kind="primary" type="submit" disabled={!code.trim() || action.busy}>
            {say("enter")}
          </Button>
        </div>
        <p role="alert" className="trouble">
          {wrong ? say("enter_failed") : action.failure}
        </p>
        <button type="button" className="link-button" onClick={() => lang.set(lang.get() === "zh" ? "en" : "zh")}>
          {say("language")}
        </button>
      </form>
    </main>
  );
}
