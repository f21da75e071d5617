// A surface over the page: the browser's own dialog, which keeps the focus inside, closes by Escape and needs no style
// that a strict content security policy would refuse.

import { X } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { useWords } from "../text/words";
import { IconButton } from "./Button";

interface Props {
  title: string;
  side?: "left" | "right" | "middle";
  onClose(): void;
  children: ReactNode;
  bare?: boolean;
}

export function Sheet({ title, side = "middle", onClose, children, bare = false }: Props) {
  const say = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
    return () => element?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={dialog}
      className={`sheet ${side}`}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div className="sheet-body">
        {!bare && (
          <header className="sheet-head">
            <h2>{title}</h2>
            <IconButton icon={X} label={say("close")} onClick={onClose} />
          </header>
        )}
        {children}
      </div>
    </dialog>
  );
}
