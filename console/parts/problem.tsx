/** What went wrong, what to do, and the id by which an operator finds the request. */
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { Refusal, Unreached } from "../api/client.ts";
import { words } from "../copy/en.ts";
import { late } from "./late.ts";

const Prove = lazy(late(async () => ({ default: (await import("./prove.tsx")).Prove })));

export interface ProblemParts {
  readonly error: unknown;
  /** What was being done, such as "The key was not made". */
  readonly what: string;
  readonly onAgain?: (() => void) | undefined;
}

export function Problem({ error, what, onAgain }: ProblemParts): ReactNode {
  const { requestId, reason } = error instanceof Refusal ? error : { requestId: "", reason: "" };
  return (
    <div className="notice bad stack" role="alert">
      <strong>{what}</strong>
      <span>{sayWhy(error)}</span>
      {reason === "PROOF_NEEDED" && (
        <Suspense>
          <Prove />
        </Suspense>
      )}
      {reason === "SECOND_FACTOR_REQUIRED" && (
        <span>
          <Link to="/me" className="button small">
            {words.factor.go}
          </Link>
        </span>
      )}
      {requestId !== "" && (
        <small className="soft">
          {words.errors.requestId} <code>{requestId}</code>
        </small>
      )}
      {onAgain !== undefined && (
        <span>
          <button className="button small" type="button" onClick={onAgain}>
            {words.errors.again}
          </button>
        </span>
      )}
    </div>
  );
}

function sayWhy(error: unknown): string {
  if (error instanceof Unreached) return words.errors.unreached;
  return error instanceof Error ? error.message : String(error);
}
