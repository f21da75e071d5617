// A figure of an answer with where it came from behind it.

import { Popover } from "radix-ui";
import { type ReactNode, useContext } from "react";
import type { Figure } from "../protocol";
import { SessionContext } from "../state/context";
import { lang } from "../state/prefs";
import { useStore } from "../state/store";
import { toolName } from "../text/codes";
import { useWords } from "../text/words";
import { Button } from "./Button";
import { Plain } from "./Plain";

/** `figure` null: it came from nowhere. */
export function FigureMark({ figure, children }: { figure: Figure | null; children: ReactNode }) {
  const say = useWords();
  const language = useStore(lang);
  const { callOf, showCall } = useContext(SessionContext);
  const call = figure?.call_id ? callOf(figure.call_id) : null;
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <button type="button" className={figure ? "figure" : "figure untraced"}>
          {children}
        </button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="popover" sideOffset={4} collisionPadding={8}>
          {figure === null ? (
            <p>{say("figure_untraced")}</p>
          ) : (
            <>
              {call && <p>{say("figure_from", { tool: toolName(call.tool, language) })}</p>}
              {figure.path && (
                <p className="mono">
                  <Plain text={figure.path} />
                </p>
              )}
              {figure.derivation && (
                <p>
                  <Plain text={say("figure_derived", { how: figure.derivation })} />
                </p>
              )}
              {call && (
                <Popover.Close asChild>
                  <Button kind="quiet" onClick={() => showCall(call.id)}>
                    {say("show_call")}
                  </Button>
                </Popover.Close>
              )}
            </>
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
