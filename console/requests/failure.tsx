/** Why a request failed: what happened, whose limit it was, until when, and what the error table says of it. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RequestDetail } from "../../gen/console/usage_service.js";
import { requestWords } from "../copy/en-requests.ts";
import { dateTime } from "../format.ts";
import type { KeyNames } from "../keys/key-names.ts";
import { FactList } from "../parts/fact-list.tsx";
import { KeyLink } from "../parts/named-links.tsx";

const say = requestWords.failure;

interface FailureParts {
  readonly detail: RequestDetail;
  readonly names: KeyNames;
}

export function Failure({ detail, names }: FailureParts): ReactNode {
  const { errorReason, httpStatus, explanation, mayRetry, limitOwner, resetTime } = detail;
  return (
    <section className="notice bad stack" aria-label={say.title}>
      <h2>{say.title}</h2>
      <p>{explanation}</p>
      <FactList
        two
        facts={[
          [requestWords.reason, <code key="reason">{errorReason}</code>],
          [requestWords.status, httpStatus],
          ...(limitOwner === "" ? [] : ([[say.owner, <Owner owner={limitOwner} names={names} />]] as const)),
          ...(resetTime === undefined ? [] : ([[say.until, dateTime(resetTime)]] as const)),
          [say.retry, mayRetry ? say.mayRetry : say.mayNotRetry],
        ]}
      />
      <p>
        <Link to="/docs" search={{ about: "errors" }}>
          {say.table}
        </Link>
      </p>
    </section>
  );
}

/** Such as `key key_4f1c`, or `account acme`, as the link to it. */
function Owner({ owner, names }: { readonly owner: string; readonly names: KeyNames }): ReactNode {
  const [kind, id = ""] = owner.split(" ");
  if (kind === "key")
    return (
      <>
        {say.key} <KeyLink id={id} name={names.get(id)} />
      </>
    );
  return kind === "account" ? <Link to="/account">{say.account(id)}</Link> : owner;
}
