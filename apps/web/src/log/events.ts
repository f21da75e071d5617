// The event types that this page knows. An event of another type is one of a newer server: kept and told, nothing else.

import type { Event, Recorded } from "../protocol";

type Named<E> = E extends { type: infer T } ? (string extends T ? never : E) : never;
export type KnownEvent = Named<Event>;

/** The event as one of those that are known; the fold's `default` catches all others. */
export function known(item: Recorded): KnownEvent {
  return item.event as KnownEvent;
}
