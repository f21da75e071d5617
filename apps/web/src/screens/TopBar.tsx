// The line over whatever is looked at.

import { Menu as MenuIcon } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "../parts/Button";
import { Plain } from "../parts/Plain";
import { useWords } from "../text/words";

interface Props {
  title: string;
  openList: (() => void) | null;
  waiting: number;
  children?: ReactNode;
  below?: ReactNode;
}

export function TopBar({ title, openList, waiting, children, below }: Props) {
  const say = useWords();
  return (
    <header className="top-bar">
      <div className="top-line">
        {openList && (
          <span className="with-badge">
            <IconButton icon={MenuIcon} label={say("menu")} onClick={openList} />
            {waiting > 0 && <span className="badge" aria-hidden />}
          </span>
        )}
        <h1 className="top-title">
          <Plain text={title} />
        </h1>
        <div className="top-actions">{children}</div>
      </div>
      {below}
    </header>
  );
}
