// What a person said.

import { Paperclip } from "lucide-react";
import type { UserRow } from "../../log/view";
import { Plain } from "../../parts/Plain";
import { lang } from "../../state/prefs";
import { useStore } from "../../state/store";
import { clock, fullTime, oneLine } from "../../text/format";
import { marked } from "../../text/hidden";
import { RowMenu } from "./RowMenu";

export function Said({ row, through }: { row: UserRow; through: number }) {
  const language = useStore(lang);
  return (
    <article className="row user-row" aria-label={marked(`${row.author}: ${oneLine(row.text, 60)}`)}>
      <div className="bubble">
        <Plain text={row.text} />
        {row.files.map((file) => (
          <p key={file.name} className="file">
            <Paperclip size={14} aria-hidden /> <Plain text={file.name} />
          </p>
        ))}
      </div>
      <p className="row-meta faint">
        <RowMenu seq={row.seq} through={through} text={row.text} label={oneLine(row.text, 40)} />
        <Plain text={row.author} /> · <time title={fullTime(row.at, language)}>{clock(row.at, language)}</time>
      </p>
    </article>
  );
}
