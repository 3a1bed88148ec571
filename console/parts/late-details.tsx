/** Something that opens: what is in it is drawn once it is open, for a list has many of them. */
import { type ReactNode, useState } from "react";

export interface LateDetailsParts {
  readonly summary: string;
  readonly className?: string;
  readonly children: () => ReactNode;
}

export function LateDetails({ summary, className, children }: LateDetailsParts): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={className} open={isOpen} onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>{summary}</summary>
      {isOpen && children()}
    </details>
  );
}
