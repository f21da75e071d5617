// The log beside the conversation: what ran when, and every event.

import { X } from "lucide-react";
import { Tabs } from "radix-ui";
import { useEffect, useState, useSyncExternalStore } from "react";
import { IconButton } from "../parts/Button";
import type { Source } from "../state/session";
import { useWords } from "../text/words";
import { EventList } from "./timeline/EventList";
import { Lanes } from "./timeline/Lanes";

interface Props {
  session: Source;
  eventShown: number | null;
  onEventShown(seq: number | null): void;
  onClose(): void;
}

export function Timeline({ session, eventShown, onEventShown, onClose }: Props) {
  const say = useWords();
  const view = useSyncExternalStore(session.subscribe, session.settled);
  const [tab, setTab] = useState(eventShown === null ? "lanes" : "events");
  useEffect(() => {
    if (eventShown !== null) setTab("events");
  }, [eventShown]);
  return (
    <Tabs.Root className="timeline" value={tab} onValueChange={setTab} aria-label={say("timeline")}>
      <header className="timeline-head">
        <Tabs.List className="tabs" aria-label={say("timeline")}>
          <Tabs.Trigger value="lanes">{say("lanes")}</Tabs.Trigger>
          <Tabs.Trigger value="events">{say("events")}</Tabs.Trigger>
        </Tabs.List>
        <IconButton icon={X} label={say("close")} onClick={onClose} />
      </header>
      <Tabs.Content value="lanes" className="tab">
        <Lanes view={view} />
      </Tabs.Content>
      <Tabs.Content value="events" className="tab">
        <EventList view={view} shown={eventShown} onShown={onEventShown} />
      </Tabs.Content>
    </Tabs.Root>
  );
}
