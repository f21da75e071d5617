// What can be done from a place of the conversation.

import { Copy, Ellipsis, GitFork, ListTree, Play, Undo2 } from "lucide-react";
import { useContext } from "react";
import { IconButton } from "../../parts/Button";
import { Menu, type MenuItem } from "../../parts/Menu";
import { SessionContext } from "../../state/context";
import { marked } from "../../text/hidden";
import { useWords } from "../../text/words";

interface Props {
  /** Of what is shown. */
  seq: number;
  /** The last event that belongs to it. */
  through: number;
  text: string | null;
  label: string;
}

export function RowMenu({ seq, through, text, label }: Props) {
  const say = useWords();
  const { readOnly, forkAt, replayTo, rollBackTo, showEvent } = useContext(SessionContext);
  if (readOnly) return null;
  const items: (MenuItem | null)[] = [
    { label: say("fork_here"), icon: GitFork, act: () => forkAt(through) },
    { label: say("replay_here"), icon: Play, act: () => replayTo(through) },
    { label: say("timeline"), icon: ListTree, act: () => showEvent(seq) },
    null,
    { label: say("roll_back_here"), icon: Undo2, act: () => rollBackTo(through) },
  ];
  if (text) items.unshift({ label: say("copy"), icon: Copy, act: () => void navigator.clipboard?.writeText(text) });
  return (
    <Menu
      trigger={<IconButton icon={Ellipsis} label={marked(`${say("actions")}: ${label}`)} className="small row-menu" />}
      items={items}
    />
  );
}
