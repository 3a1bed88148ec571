/** Copies a link to the conversation and its parameters, and says what the link leaves out. */
import { type ReactNode, useState } from "react";
import { playgroundWords } from "../copy/en-playground.ts";
import { linkOf, type LeftOut, type Shared } from "./share.ts";

export function ShareButton({ shared }: { readonly shared: Shared }): ReactNode {
  const [said, setSaid] = useState("");
  const copy = async (): Promise<void> => {
    const { origin, pathname, search } = window.location;
    const { link, leftOut } = linkOf(origin + pathname + search, shared);
    const isCopied = await navigator.clipboard.writeText(link).then(
      () => true,
      () => false,
    );
    // The address bar has the link too, for browsers that refuse the clipboard.
    window.history.replaceState(window.history.state, "", link);
    setSaid(sentenceOf(isCopied, leftOut));
  };
  return (
    <>
      <button className="button" type="button" onClick={() => void copy()}>
        {playgroundWords.share}
      </button>
      <span className="soft" role="status">
        {said}
      </span>
    </>
  );
}

function sentenceOf(isCopied: boolean, leftOut: readonly LeftOut[]): string {
  const done = isCopied ? playgroundWords.linkCopied : playgroundWords.linkInBar;
  if (leftOut.length === 0) return done;
  return `${done} ${playgroundWords.linkWithout(leftOut.map((part) => playgroundWords.leftOut[part]))}`;
}
