/** The filters that a reader who looks for a failure starts with, as links. */
import { Link, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { requestWords } from "../copy/en-requests.ts";
import type { RequestSearch } from "../search.ts";

const OUTCOMES: readonly Pick<RequestSearch, "failed" | "status">[] = [
  {},
  { failed: "yes" },
  { status: "4xx" },
  { status: "5xx" },
];

export function OutcomeFilter(): ReactNode {
  const { failed, status }: RequestSearch = useSearch({ strict: false });
  return (
    <nav className="row" aria-label={requestWords.outcomes.label}>
      {OUTCOMES.map((outcome) => (
        <Link
          key={outcome.failed ?? outcome.status ?? ""}
          to="."
          className="button"
          aria-current={outcome.failed === failed && outcome.status === status ? "true" : undefined}
          search={({ page: _page, failed: _failed, status: _status, ...others }) => ({ ...others, ...outcome })}
        >
          {outcome.status ?? (outcome.failed === undefined ? requestWords.outcomes.all : requestWords.outcomes.failed)}
        </Link>
      ))}
    </nav>
  );
}
