// The rows of a conversation. Invariant: only what can be seen is drawn, however long the log; who reads the end stays at
// the end, and who reads elsewhere is never moved.

import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { Row, View } from "../log/view";
import { IconButton } from "../parts/Button";
import type { Letter } from "../state/outbox";
import type { Source } from "../state/session";
import { useWords } from "../text/words";
import { Letters } from "./Letters";
import { RowOf } from "./rows/RowOf";

interface Props {
  source: Source;
  letters?: readonly Letter[];
  /** The event to show; each new object moves there, also to where somebody was before. */
  jump?: Jump | null;
}

export interface Jump {
  readonly seq: number | null;
}

const NEAR = 60;

export function Conversation({ source, letters = [], jump = null }: Props) {
  const say = useWords();
  const view = useSyncExternalStore(source.subscribe, source.settled);
  const rows = useMemo(() => view.rows.filter(isShown), [view.rows]);
  const aside = useMemo(() => asideOf(view), [view]);
  const scroller = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const sticks = useRef(jump === null || jump.seq === null);
  /** Where it was scrolled to when that was looked at last. */
  const top = useRef(0);
  const [away, setAway] = useState(false);
  const [flash, setFlash] = useState<number | null>(null);
  const [jumped, setJumped] = useState<number | null>(null);
  const extra = letters.length > 0 ? 1 : 0;
  const virtual = useVirtualizer({
    count: rows.length + extra,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimate(rows[index]),
    getItemKey: (index) => rows[index]?.seq ?? "letters",
    overscan: 4,
    paddingStart: 16,
    paddingEnd: 24,
  });
  const toEnd = useCallback(() => {
    const element = scroller.current;
    if (!element) return;
    element.scrollTop = element.scrollHeight;
    top.current = element.scrollTop;
  }, []);

  // Rows grow when text comes in, details open or fonts arrive: whoever is at the end stays there.
  useEffect(() => {
    const element = inner.current;
    if (!element) return;
    const watch = new ResizeObserver(() => {
      if (sticks.current) toEnd();
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, [toEnd]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new rows move whoever is at the end
  useLayoutEffect(() => {
    if (sticks.current) toEnd();
  }, [rows.length, letters.length, toEnd]);

  const loaded = rows.length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a jump happens once, not with every new row
  useEffect(() => {
    const to = jump?.seq ?? null;
    const place = to === null ? -1 : rows.findLastIndex((row) => row.seq <= to);
    setJumped(rows[place]?.seq ?? null);
    if (place < 0) return;
    sticks.current = false;
    virtual.scrollToIndex(place, { align: "center" });
    setFlash(rows[place]?.seq ?? null);
    const timer = setTimeout(() => setFlash(null), 1600);
    return () => clearTimeout(timer);
  }, [jump, loaded]);

  const scrolled = () => {
    const element = scroller.current;
    if (!element) return;
    const near = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    // Only who moves up leaves the end; that it grew since it was scrolled to does not count.
    if (near) sticks.current = true;
    else if (element.scrollTop < top.current) sticks.current = false;
    top.current = element.scrollTop;
    setAway(!sticks.current);
  };
  // Who is at the end is about to be scrolled there again: what stands anywhere else need not be drawn first.
  if (sticks.current && virtual.scrollRect) {
    virtual.scrollOffset = Math.max(0, virtual.getTotalSize() - virtual.scrollRect.height);
  }
  const items = virtual.getVirtualItems();
  return (
    <div className="scroll-frame">
      <div
        className="scroll"
        ref={scroller}
        onScroll={scrolled}
        tabIndex={0}
        role="log"
        aria-label={say("conversation")}
      >
        <div className="column virtual" ref={inner} style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                className={`virtual-row${row && flash === row.seq ? " flash" : ""}`}
                aria-current={row && jumped === row.seq ? "location" : undefined}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {row ? (
                  <RowOf
                    row={row}
                    aside={aside.has(row.seq)}
                    through={(rows[item.index + 1]?.seq ?? view.seq + 1) - 1}
                    source={source}
                  />
                ) : (
                  <Letters letters={letters} />
                )}
              </div>
            );
          })}
        </div>
      </div>
      {away && (
        <IconButton
          icon={ArrowDown}
          label={say("to_bottom")}
          className="to-bottom"
          onClick={() => {
            sticks.current = true;
            toEnd();
          }}
        />
      )}
    </div>
  );
}

/** That a run waited is told by its questions; afterwards it is nothing to tell. */
function isShown(row: Row, place: number, all: readonly Row[]): boolean {
  return row.kind !== "end" || row.end.reason !== "awaiting_approval" || place === all.length - 1;
}

/** Rows that no longer belong to the conversation, since it was rolled back behind them. */
function asideOf(view: View): ReadonlySet<number> {
  const found = new Set<number>();
  for (const mark of view.rows) {
    if (mark.kind !== "rolled_back") continue;
    for (const row of view.rows) if (row.seq > mark.to && row.seq < mark.seq) found.add(row.seq);
  }
  return found;
}

function estimate(row: Row | undefined): number {
  if (!row) return 80;
  if (row.kind === "user") return 64 + Math.floor(row.text.length / 60) * 24;
  if (row.kind === "step") return 56 + row.calls.length * 36 + Math.floor((row.text?.length ?? 0) / 55) * 26;
  return 40;
}
