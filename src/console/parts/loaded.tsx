/** What an answer shows: the place that it will take, why it did not come, or itself. */
import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { words } from "../copy/en.ts";
import { Problem } from "./problem.tsx";
import { Waiting } from "./waiting.tsx";

export interface LoadedParts<Answer> {
  readonly of: UseQueryResult<Answer>;
  /** What is loaded, as a heading says it. */
  readonly what: string;
  readonly height?: number;
  readonly children: (answer: Answer) => ReactNode;
}

export function Loaded<Answer>({ of, what, height = 320, children }: LoadedParts<Answer>): ReactNode {
  if (of.error !== null)
    return <Problem error={of.error} what={words.errors.load(what)} onAgain={() => void of.refetch()} />;
  if (of.data === undefined) return <Waiting height={height} />;
  return <Shown isEarlier={of.isPlaceholderData}>{children(of.data)}</Shown>;
}

/**
 * What answered the question before stays in sight until the next answer is there, and nothing of it can be used: its
 * links and files would be those of another page than the URL names. Who used one of them finds the list focused then.
 */
function Shown({ isEarlier, children }: { readonly isEarlier: boolean; readonly children: ReactNode }): ReactNode {
  const block = useRef<HTMLDivElement>(null);
  const wasEarlier = useRef(false);
  useEffect(() => {
    const isNew = wasEarlier.current && !isEarlier;
    wasEarlier.current = isEarlier;
    if (!isNew || document.activeElement !== document.body) return;
    block.current?.querySelector<HTMLElement>("[role=region][tabindex]")?.focus({ preventScroll: true });
  }, [isEarlier]);
  return (
    <div ref={block} className="loaded" inert={isEarlier} aria-busy={isEarlier}>
      {children}
    </div>
  );
}
