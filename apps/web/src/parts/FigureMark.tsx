// A figure of an answer with where it came from behind it. Not a stop of the Tab key, since an answer may hold a hundred:
// the list under the answer holds the same for the keyboard.

import { Popover } from "radix-ui";
import { type ReactNode, useContext, useState } from "react";
import type { Figure } from "../protocol";
import { SessionContext } from "../state/context";
import { lang } from "../state/prefs";
import { useStore } from "../state/store";
import { toolName } from "../text/codes";
import { hasWord, useWords } from "../text/words";
import { Button } from "./Button";
import { Plain } from "./Plain";

/** `figure` null: it came from nowhere. */
export function FigureMark({ figure, children }: { figure: Figure | null; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const mark = (
    <button
      type="button"
      tabIndex={-1}
      className={figure ? "figure" : "figure untraced"}
      data-state={open ? "open" : undefined}
      onClick={() => setOpen(true)}
    >
      {children}
    </button>
  );
  if (!open) return mark;
  return (
    <Popover.Root open onOpenChange={setOpen}>
      <Popover.Anchor asChild>{mark}</Popover.Anchor>
      <Popover.Portal>
        <Popover.Content className="popover" sideOffset={4} collisionPadding={8}>
          <Origin figure={figure} onShown={() => setOpen(false)} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** Where a figure came from, in words. */
export function Origin({ figure, onShown }: { figure: Figure | null; onShown?(): void }) {
  const say = useWords();
  const language = useStore(lang);
  const { callOf, showCall } = useContext(SessionContext);
  if (figure === null) return <p>{say("figure_untraced")}</p>;
  const call = figure.call_id ? callOf(figure.call_id) : null;
  const how = `how_${figure.derivation ?? "read"}`;
  return (
    <>
      <p>
        {call ? say("figure_from", { tool: toolName(call.tool, language) }) : say("figure_said")}
        <span className="faint"> · {hasWord(how) ? say(how) : figure.derivation}</span>
      </p>
      {figure.path && (
        <p className="mono">
          <Plain text={figure.path} />
        </p>
      )}
      {call && onShown && (
        <Button
          kind="quiet"
          onClick={() => {
            onShown();
            showCall(call.id);
          }}
        >
          {say("show_call")}
        </Button>
      )}
    </>
  );
}
