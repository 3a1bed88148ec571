/** The ways to the next page of a list, and back to its first, as the URL says them. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

export interface PagerParts {
  /** The token of the page that is shown; undefined for the first. */
  readonly page: string | undefined;
  /** The token of the next page; empty where this is the last. */
  readonly next: string;
  readonly first: string;
  readonly more: string;
}

export function Pager({ page, next, first, more }: PagerParts): ReactNode {
  if (page === undefined && next === "") return null;
  return (
    <span className="row">
      {page !== undefined && (
        <Link to="." search={(before) => ({ ...before, page: undefined })} className="button">
          {first}
        </Link>
      )}
      {next !== "" && (
        <Link to="." search={(before) => ({ ...before, page: next })} className="button">
          {more}
        </Link>
      )}
    </span>
  );
}
