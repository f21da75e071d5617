// The conversations, what waits in them, and who is there.

import {
  Archive,
  ArchiveRestore,
  Download,
  Ellipsis,
  Inbox as InboxIcon,
  Pencil,
  Plus,
  Search,
  Settings2,
} from "lucide-react";
import { type KeyboardEvent, useContext, useEffect, useState } from "react";
import * as api from "../net/api";
import { IconButton } from "../parts/Button";
import { Menu } from "../parts/Menu";
import { Plain } from "../parts/Plain";
import type { SessionSummary } from "../protocol";
import { MeContext } from "../state/context";
import { useAction, useLoaded } from "../state/hooks";
import { tellNews } from "../state/news";
import { lang, theme } from "../state/prefs";
import { go, route, write } from "../state/route";
import { useStore } from "../state/store";
import { moment, moneys } from "../text/format";
import { marked } from "../text/hidden";
import { useWords } from "../text/words";

export function Sidebar({ waiting }: { waiting: number }) {
  const say = useWords();
  const at = useStore(route);
  const [search, setSearch] = useState("");
  const [wanted, setWanted] = useState("");
  const [archived, setArchived] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setWanted(search), 200);
    return () => clearTimeout(timer);
  }, [search]);
  const list = useLoaded(
    `${archived} ${wanted} ${at.at === "session" ? at.id : ""}`,
    (signal) => api.sessions(wanted, archived, null, signal),
    4000,
  );
  const [older, setOlder] = useState<{ key: string; sessions: SessionSummary[]; next: string | null } | null>(null);
  const key = `${archived} ${wanted}`;
  const more = older?.key === key ? older : null;
  const next = more ? more.next : (list.value?.next ?? null);
  const [kept, setKept] = useState<readonly SessionSummary[]>([]);
  useEffect(() => {
    if (list.value) setKept(list.value.sessions);
  }, [list.value]);
  const first = list.value?.sessions ?? kept;
  const shown = [
    ...first,
    ...(more?.sessions ?? []).filter((each) => !first.some((one) => one.session_id === each.session_id)),
  ];
  const action = useAction();

  return (
    <nav className="sidebar" aria-label={say("sessions")}>
      <div className="sidebar-head">
        <a className="brand" href="#/" onClick={(event) => follow(event, () => go({ at: "new" }))}>
          <span className="brand-mark" aria-hidden />
          {say("product")}
        </a>
        <Preferences />
      </div>
      <button type="button" className="sidebar-new" onClick={() => go({ at: "new" })}>
        <Plus size={18} aria-hidden />
        {say("new_chat")}
      </button>
      <a
        className="sidebar-link"
        href={write({ at: "inbox" })}
        aria-current={at.at === "inbox" ? "page" : undefined}
        onClick={(event) => follow(event, () => go({ at: "inbox" }))}
      >
        <InboxIcon size={18} aria-hidden />
        {say("inbox")}
        {waiting > 0 && <span className="count">{waiting}</span>}
      </a>
      <label className="search">
        <Search size={16} aria-hidden />
        <input
          type="search"
          value={search}
          placeholder={say("search_sessions")}
          aria-label={say("search_sessions")}
          onChange={(event) => setSearch(event.target.value)}
        />
      </label>
      <ul className="session-list">
        {shown.map((session) => (
          <SessionLine
            key={session.session_id}
            session={session}
            current={
              at.at !== "new" && at.at !== "inbox" && (at.at === "compare" ? at.b : at.id) === session.session_id
            }
          />
        ))}
        {list.value && shown.length === 0 && (
          <li className="faint empty">{wanted ? say("nothing_found") : say("no_sessions")}</li>
        )}
        {next && (
          <li>
            <button
              type="button"
              className="link-button"
              disabled={action.busy}
              onClick={() =>
                action.run(async () => {
                  const page = await api.sessions(wanted, archived, next);
                  setOlder({ key, sessions: [...(more?.sessions ?? []), ...page.sessions], next: page.next });
                })
              }
            >
              {say("more")}
            </button>
          </li>
        )}
      </ul>
      <div className="sidebar-foot">
        <label className="switch">
          <input type="checkbox" checked={archived} onChange={(event) => setArchived(event.target.checked)} />
          {say("show_archived")}
        </label>
      </div>
    </nav>
  );
}

/** A link that moves inside the page, unless somebody wants it in another tab. */
export function follow(
  event: { metaKey?: boolean; ctrlKey?: boolean; shiftKey?: boolean; preventDefault(): void },
  move: () => void,
) {
  if (event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  move();
}

function SessionLine({ session, current }: { session: SessionSummary; current: boolean }) {
  const say = useWords();
  const language = useStore(lang);
  const [naming, setNaming] = useState(false);
  const action = useAction();
  const title = session.title || say("untitled");
  const id = session.session_id;
  const state = session.approvals + session.uncertain > 0 ? "waiting" : session.status;
  const rename = (name: string) => {
    setNaming(false);
    if (name.trim() && name.trim() !== session.title)
      action.run(() => api.change(id, { title: name.trim() }).then(tellNews));
  };
  if (naming) return <Rename title={session.title} onDone={rename} onCancel={() => setNaming(false)} />;
  const money = moneys(session.costs);
  return (
    <li className={`session-line${current ? " current" : ""}`}>
      <a
        href={write({ at: "session", id, seq: null })}
        aria-current={current ? "page" : undefined}
        onClick={(event) => follow(event, () => go({ at: "session", id, seq: null }))}
      >
        <span className={`dot ${state}`} aria-hidden />
        <span className="session-title">
          <Plain text={title} />
        </span>
        <span className="session-meta faint">
          {moment(session.updated_at, language)}
          {money && money !== "$0" && money !== "¥0" ? ` · ${money}` : ""}
        </span>
      </a>
      <Menu
        trigger={<IconButton icon={Ellipsis} label={`${say("actions")}: ${marked(title)}`} className="small" />}
        items={[
          { label: say("export"), icon: Download, act: () => download(api.exportAddress(id)) },
          { label: say("rename"), icon: Pencil, act: () => setTimeout(() => setNaming(true)) },
          {
            label: session.archived ? say("unarchive") : say("archive"),
            icon: session.archived ? ArchiveRestore : Archive,
            act: () => action.run(() => api.change(id, { archived: !session.archived }).then(tellNews)),
          },
        ]}
      />
    </li>
  );
}

function download(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}

function Rename({ title, onDone, onCancel }: { title: string; onDone(name: string): void; onCancel(): void }) {
  const say = useWords();
  const [name, setName] = useState(title);
  const key = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") onDone(name);
    if (event.key === "Escape") {
      event.stopPropagation();
      onCancel();
    }
  };
  return (
    <li className="session-line">
      <input
        className="rename"
        value={name}
        maxLength={200}
        aria-label={say("rename")}
        ref={(element) => element?.focus()}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={key}
        onBlur={() => onDone(name)}
      />
    </li>
  );
}

function Preferences() {
  const say = useWords();
  const me = useContext(MeContext);
  const chosen = useStore(theme);
  const language = useStore(lang);
  return (
    <Menu
      trigger={<IconButton icon={Settings2} label={`${say("theme")} · ${me?.user ?? ""}`} />}
      items={[
        { label: say("language"), act: () => lang.set(language === "zh" ? "en" : "zh") },
        null,
        { label: say("theme_auto"), checked: chosen === "auto", act: () => theme.set("auto") },
        { label: say("theme_light"), checked: chosen === "light", act: () => theme.set("light") },
        { label: say("theme_dark"), checked: chosen === "dark", act: () => theme.set("dark") },
      ]}
    />
  );
}
