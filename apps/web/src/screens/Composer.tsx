// Where somebody writes. Invariant: a text is kept on the device until it is sent; Enter that chooses a Chinese word never
// sends.

import { ArrowUp, ListPlus, Square } from "lucide-react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { IconButton } from "../parts/Button";
import { keep, recall } from "../state/prefs";
import { useWords } from "../text/words";

interface Props {
  draftKey: string;
  running: boolean;
  /** A new message would cancel open questions. */
  cancels?: boolean;
  focus?: boolean;
  onSend(text: string): void;
  onStop?: (() => void) | null;
  stopping?: boolean;
}

export function Composer({
  draftKey,
  running,
  cancels = false,
  focus = false,
  onSend,
  onStop = null,
  stopping = false,
}: Props) {
  const say = useWords();
  const [text, setText] = useState(() => recall(`draft.${draftKey}`) ?? "");
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const save = () => keep(`draft.${draftKey}`, text || null);
    const timer = setTimeout(save, 150);
    addEventListener("pagehide", save);
    return () => {
      clearTimeout(timer);
      removeEventListener("pagehide", save);
    };
  }, [draftKey, text]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is what makes it grow
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, 220)}px`;
  }, [text]);
  useEffect(() => {
    if (focus && matchMedia("(hover: hover)").matches) area.current?.focus();
  }, [focus]);

  const submit = () => {
    const message = text.trim();
    if (!message) return;
    onSend(message);
    setText("");
    keep(`draft.${draftKey}`, null);
  };
  const key = (event: KeyboardEvent) => {
    // 229: some input methods close with an Enter that no longer says it is composing.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    submit();
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {cancels && text.trim() && <p className="composer-note">{say("cancels_open")}</p>}
      <div className="composer-box">
        <textarea
          ref={area}
          rows={1}
          value={text}
          maxLength={100_000}
          placeholder={running ? say("queue_placeholder") : say("ask_placeholder")}
          aria-label={say("message")}
          title={say("send_hint")}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={key}
        />
        {running && onStop && (
          <IconButton
            icon={Square}
            label={stopping ? say("stopping") : say("stop")}
            className="stop"
            disabled={stopping}
            onClick={onStop}
          />
        )}
        {(!running || text.trim()) && (
          <IconButton
            icon={running ? ListPlus : ArrowUp}
            label={running ? say("queue") : say("send")}
            className="send"
            type="submit"
            disabled={!text.trim()}
          />
        )}
      </div>
    </form>
  );
}
