// Text by anybody, as it is: characters that cannot be seen are drawn as marks, and its direction stays its own.

import { hasHidden, pieces } from "../text/hidden";
import { useWords } from "../text/words";

export function Plain({ text }: { text: string }) {
  if (!hasHidden(text)) return <bdi>{text}</bdi>;
  return (
    <bdi>
      {pieces(text).map((piece, index) =>
        "mark" in piece ? <HiddenMark key={index} code={piece.mark} /> : <span key={index}>{piece.text}</span>,
      )}
    </bdi>
  );
}

export function HiddenMark({ code }: { code: string }) {
  const say = useWords();
  return (
    <span className="hidden-mark" title={say("hidden_character", { code })}>
      {code}
    </span>
  );
}
