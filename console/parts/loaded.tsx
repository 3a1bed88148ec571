/** What an answer shows: the place that it will take, why it did not come, or itself. */
import { type ReactNode, useEffect, useRef } from "react";
import { Refusal } from "../api/client.ts";
import { words } from "../copy/en.ts";
import { Problem } from "./problem.tsx";
import { Waiting } from "./waiting.tsx";

/** A question to the gateway, of one page or of several. */
export interface Query<Answer> {
  readonly data: Answer | undefined;
  readonly error: Error | null;
  readonly isPlaceholderData?: boolean;
  refetch(): unknown;
}

type AnswersOf<Questions extends readonly Query<unknown>[]> = {
  readonly [Place in keyof Questions]: Questions[Place] extends Query<infer Answer> ? Answer : never;
};

export interface LoadedParts<Answer> {
  readonly of: Query<Answer>;
  /** What is loaded, as a heading says it. */
  readonly what: string;
  readonly height?: number;
  readonly children: (answer: Answer) => ReactNode;
}

export function Loaded<Answer>({ of, children, ...rest }: LoadedParts<Answer>): ReactNode {
  return (
    <AllLoaded of={[of]} {...rest}>
      {children}
    </AllLoaded>
  );
}

export interface AllLoadedParts<Questions extends readonly Query<unknown>[]> extends Omit<
  LoadedParts<never>,
  "of" | "children"
> {
  readonly of: Questions;
  readonly children: (...answers: AnswersOf<Questions>) => ReactNode;
}

/**
 * What several answers show together. What is there stays where it cannot be asked anew for a while; a refusal of
 * any of them takes its place, for it may be no longer what the person may see.
 */
export function AllLoaded<const Questions extends readonly Query<unknown>[]>({
  of,
  what,
  height = 320,
  children,
}: AllLoadedParts<Questions>): ReactNode {
  const failed = of.find(({ error }) => isRefused(error)) ?? of.find(({ error }) => error !== null);
  const problem = failed?.error ? (
    <Problem error={failed.error} what={words.errors.load(what)} onAgain={() => void failed.refetch()} />
  ) : undefined;
  const answers = of.map(({ data }) => data);
  const isThere = !answers.includes(undefined);
  if (!isThere || isRefused(failed?.error)) return problem ?? <Waiting height={height} />;
  return (
    <>
      {problem}
      <Shown isEarlier={of.some(({ isPlaceholderData }) => isPlaceholderData === true)}>
        {
          // Each of them is there.
          children(...(answers as unknown as AnswersOf<Questions>))
        }
      </Shown>
    </>
  );
}

function isRefused(error: Error | null | undefined): boolean {
  return error instanceof Refusal && error.status < 500 && error.status !== 429;
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
