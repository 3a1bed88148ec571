/** Facts by their names, below each other or in two columns. */
import type { ReactNode } from "react";

export type Fact = readonly [name: string, value: ReactNode];

export function FactList({
  facts,
  two = false,
}: {
  readonly facts: readonly Fact[];
  readonly two?: boolean;
}): ReactNode {
  return (
    <dl className={two ? "facts two" : "facts"}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
