// Markdown of a model or a shop on the screen. Invariant: only the elements named here are made, none of them loads
// anything from anywhere, HTML is shown as text, a link shows the host it really leads to; and of a text that is being
// written only the end is read again.

import type { ListItem, Nodes, Root } from "mdast";
import { memo, type ReactNode, useEffect, useMemo, useState } from "react";
import { FigureMark } from "../parts/FigureMark";
import { Plain } from "../parts/Plain";
import { useWords } from "../text/words";
import { blocks, definitions } from "./blocks";
import { type Checked, type Finder, finderOf } from "./figures";
import { hostOf, tellsItself } from "./links";
import { parse } from "./parse";

interface Props {
  text: string;
  checked?: Checked | null;
}

export const Markdown = memo(function Markdown({ text, checked = null }: Props) {
  const cut = useMemo(() => blocks(text), [text]);
  const defined = useMemo(() => definitions(text), [text]);
  const finder = useMemo(() => (checked ? finderOf(checked) : null), [checked]);
  const shown = useGrowing(cut.length);
  return (
    <div className="markdown">
      {cut.slice(0, shown).map((block, index) => (
        <Block key={index} text={defined && block.includes("]") ? `${block}\n\n${defined}` : block} finder={finder} />
      ))}
    </div>
  );
});

const AT_ONCE = 24;

/** How many of `count` blocks are drawn: a long text that comes all at once is drawn over several frames. */
function useGrowing(count: number): number {
  const [most, setMost] = useState(AT_ONCE);
  useEffect(() => {
    if (most >= count) return;
    const more = () => setMost(most + AT_ONCE);
    if (document.hidden) {
      const timer = setTimeout(more, 30);
      return () => clearTimeout(timer);
    }
    const frame = requestAnimationFrame(more);
    return () => cancelAnimationFrame(frame);
  }, [most, count]);
  return Math.min(most, count);
}

const Block = memo(function Block({ text, finder }: { text: string; finder: Finder | null }) {
  const tree = useMemo(() => parse(text), [text]);
  return <>{children(tree, { finder, links: linksOf(tree) })}</>;
});

interface Around {
  finder: Finder | null;
  /** Addresses by the name under which the text defines them. */
  links: ReadonlyMap<string, string>;
}

function linksOf(tree: Root): Map<string, string> {
  const found = new Map<string, string>();
  for (const node of tree.children) {
    if (node.type === "definition" && !found.has(node.identifier)) found.set(node.identifier, node.url);
  }
  return found;
}

function children(node: Nodes, around: Around): ReactNode[] {
  if (!("children" in node)) return [];
  return node.children.map((child, index) => <Drawn key={index} node={child} around={around} />);
}

function Drawn({ node, around }: { node: Nodes; around: Around }): ReactNode {
  const inside = () => children(node, around);
  switch (node.type) {
    case "text":
      return <Text text={node.value} finder={around.finder} />;
    case "html":
      return <Plain text={node.value} />;
    case "paragraph":
      return <p>{inside()}</p>;
    case "heading": {
      // The page has headings of its own above these.
      const Heading = (["h3", "h4", "h5", "h6", "h6", "h6"] as const)[node.depth - 1] ?? "h6";
      return <Heading>{inside()}</Heading>;
    }
    case "emphasis":
      return <em>{inside()}</em>;
    case "strong":
      return <strong>{inside()}</strong>;
    case "delete":
      return <del>{inside()}</del>;
    case "inlineCode":
      return (
        <code>
          <Plain text={node.value} />
        </code>
      );
    case "code":
      return (
        <pre tabIndex={0}>
          <code>
            <Plain text={node.value} />
          </code>
        </pre>
      );
    case "blockquote":
      return <blockquote>{inside()}</blockquote>;
    case "list":
      return node.ordered ? <ol start={node.start ?? 1}>{inside()}</ol> : <ul>{inside()}</ul>;
    case "listItem":
      return (
        <li>
          {node.checked == null ? null : node.checked ? "☑ " : "☐ "}
          {node.spread ? inside() : tight(node, around)}
        </li>
      );
    case "thematicBreak":
      return <hr />;
    case "break":
      return <br />;
    case "link":
      return <Link address={node.url}>{children(node, { ...around, finder: null })}</Link>;
    case "linkReference":
      return (
        <Link address={around.links.get(node.identifier) ?? ""}>{children(node, { ...around, finder: null })}</Link>
      );
    case "image":
      return <Picture address={node.url} alt={node.alt ?? ""} />;
    case "imageReference":
      return <Picture address={around.links.get(node.identifier) ?? ""} alt={node.alt ?? ""} />;
    case "table":
      return (
        <div className="table-scroll" tabIndex={0}>
          <table>
            <tbody>
              {node.children.map((row, at) => (
                <tr key={at}>
                  {row.children.map((cell, place) => {
                    const end = node.align?.[place] === "right" ? "number" : undefined;
                    const told = children(cell, around);
                    return at === 0 ? (
                      <th key={place} scope="col" className={end}>
                        {told}
                      </th>
                    ) : (
                      <td key={place} className={end}>
                        {told}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    default:
      return null;
  }
}

/** The words of an item without a paragraph around them, when the list is written without empty lines. */
function tight(node: ListItem, around: Around): ReactNode[] {
  const told: ReactNode[] = [];
  node.children.forEach((child, index) => {
    if (child.type === "paragraph") told.push(...children(child, around));
    else told.push(<Drawn key={`block ${index}`} node={child} around={around} />);
  });
  return told;
}

function Text({ text, finder }: { text: string; finder: Finder | null }): ReactNode {
  if (!finder) return <Plain text={text} />;
  const parts = finder(text).map((part, index) =>
    part.figure === undefined ? (
      <Plain key={index} text={part.text} />
    ) : (
      <FigureMark key={index} figure={part.figure}>
        {part.text}
      </FigureMark>
    ),
  );
  return <>{parts}</>;
}

function Link({ address, children: words }: { address: string; children: ReactNode[] }) {
  const say = useWords();
  const host = hostOf(address);
  if (host === null) return <span className="dead-link">{words}</span>;
  return (
    <>
      <a href={address} target="_blank" rel="noopener noreferrer nofollow" title={say("opens", { host })}>
        {words}
      </a>
      {!tellsItself(wordsOf(words), address) && (
        <span className="link-host">
          {" "}
          (<Plain text={host} />)
        </span>
      )}
    </>
  );
}

/** The text of a link that is nothing but text. */
function wordsOf(drawn: ReactNode[]): string {
  const only = drawn.length === 1 ? (drawn[0] as { props?: { node?: Nodes } } | undefined)?.props?.node : undefined;
  return only?.type === "text" ? only.value : "";
}

function Picture({ address, alt }: { address: string; alt: string }) {
  const say = useWords();
  return (
    <span className="blocked-image">
      <Plain text={[alt, say("image_blocked", { host: hostOf(address) ?? "?" })].filter(Boolean).join(" · ")} />
    </span>
  );
}
