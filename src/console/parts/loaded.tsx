/** What an answer shows: the place that it will take, why it did not come, or itself. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
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
  return of.data === undefined ? <Waiting height={height} /> : children(of.data);
}
