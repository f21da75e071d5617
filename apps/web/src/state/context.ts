// What the parts of a conversation may ask of the session around them, and do to it.

import { createContext } from "react";
import type { Call } from "../log/view";
import type { Me } from "../protocol";

export interface SessionActions {
  sessionId: string;
  /** A replay: nothing can be decided. */
  readOnly: boolean;
  callOf(id: string): Call | null;
  showCall(id: string): void;
  forkAt(seq: number): void;
  replayTo(seq: number): void;
  rollBackTo(seq: number): void;
  showEvent(seq: number): void;
}

const nothing = () => {};

export const SessionContext = createContext<SessionActions>({
  sessionId: "",
  readOnly: true,
  callOf: () => null,
  showCall: nothing,
  forkAt: nothing,
  replayTo: nothing,
  rollBackTo: nothing,
  showEvent: nothing,
});

/** Who is there; null until the server has said. */
export const MeContext = createContext<Me | null>(null);
