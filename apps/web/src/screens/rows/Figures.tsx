// The figures of an answer in a list: each with where it came from, those that came from nowhere first.

import { useId, useState } from "react";
import type { Checked } from "../../markdown/figures";
import { Origin } from "../../parts/FigureMark";
import { Plain } from "../../parts/Plain";
import { useWords } from "../../text/words";

export function Figures({ checked }: { checked: Checked }) {
  const say = useWords();
  const [open, setOpen] = useState(false);
  const list = useId();
  const { figures, untraced } = checked;
  const told = [
    figures.length > 0 ? say("figures_checked", { n: figures.length }) : null,
    untraced.length > 0 ? say("figures_untraced", { n: untraced.length }) : null,
  ];
  return (
    <>
      <button
        type="button"
        className={`link-button${untraced.length > 0 ? " warn" : ""}`}
        aria-expanded={open}
        aria-controls={list}
        onClick={() => setOpen(!open)}
      >
        {told.filter(Boolean).join(" · ")}
      </button>
      {open && (
        <ul id={list} className="figure-list">
          {untraced.map((text) => (
            <li key={`untraced ${text}`} className="trouble">
              <strong>
                <Plain text={text} />
              </strong>
              <div>
                <Origin figure={null} />
              </div>
            </li>
          ))}
          {figures.map((figure, index) => (
            <li key={`${index} ${figure.text}`}>
              <strong>
                <Plain text={figure.text} />
              </strong>
              <div>
                <Origin figure={figure} />
              </div>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
