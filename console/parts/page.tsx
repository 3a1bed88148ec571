/** The head of a page: its name, what it is for, and what can be done. It names the browser's tab as well. */
import { type ReactNode, useEffect } from "react";

export interface PageParts {
  readonly title: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, about, actions, children }: PageParts): ReactNode {
  useEffect(() => {
    document.title = `${title} · Tollgate`;
  }, [title]);
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{title}</h1>
          {about !== undefined && <p>{about}</p>}
        </div>
        {actions !== undefined && <div className="row">{actions}</div>}
      </header>
      {children}
    </>
  );
}
