/** What an empty page says: what it is for, and how it fills. */
import type { ReactNode } from "react";

export interface EmptyParts {
  readonly title: string;
  readonly about: string;
  readonly children?: ReactNode;
}

export function Empty({ title, about, children }: EmptyParts): ReactNode {
  return (
    <div className="empty">
      <h2>{title}</h2>
      <p>{about}</p>
      {children}
    </div>
  );
}
