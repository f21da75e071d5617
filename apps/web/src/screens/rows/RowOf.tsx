// One row of a conversation, by its kind.

import { memo } from "react";
import type { Row } from "../../log/view";
import type { Source } from "../../state/session";
import { Note } from "./Note";
import { Said } from "./Said";
import { Step } from "./Step";

interface Props {
  row: Row;
  /** Rolled back: no longer part of the conversation. */
  aside: boolean;
  /** The last event before the next row. */
  through: number;
  source: Source;
}

export const RowOf = memo(function RowOf({ row, aside, through, source }: Props) {
  const shown =
    row.kind === "user" ? (
      <Said row={row} through={through} />
    ) : row.kind === "step" ? (
      <Step row={row} through={through} source={source} />
    ) : (
      <Note row={row} />
    );
  return aside ? <div className="aside">{shown}</div> : shown;
});
