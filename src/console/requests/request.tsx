/** One request: its attempts over time, its tokens and price, and each entry of the ledger that it caused. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { getRequest, type RequestRecord } from "../../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { dateTime, money } from "../format.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Entries } from "../parts/entries.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { StateTag } from "../parts/state-tag.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useSignedIn } from "../shell/session.ts";
import { TokenTable } from "./token-table.tsx";
import { Waterfall } from "./waterfall.tsx";

const RUNNING_MS = 1_000;

export function RequestPage(): ReactNode {
  const { id } = useParams({ from: "/requests/$id" });
  const { account } = useSignedIn();
  const { data, error, refetch } = useQuery({
    ...ask(getRequest, { id }, account),
    refetchInterval: ({ state }) => (state.data?.request?.state === "held" ? RUNNING_MS : false),
  });
  if (error !== null)
    return <Problem error={error} what={words.errors.load(words.requests.title(id))} onAgain={() => void refetch()} />;
  if (data?.request === undefined) return <Waiting height={600} />;
  const { request, entries } = data;
  return (
    <Page
      title={words.requests.title(id)}
      about={<Link to="/requests">← {words.requests.back}</Link>}
      actions={<CopyButton text={id} what={words.requests.copyId} />}
    >
      <Facts request={request} />
      <section className="card stack">
        <h2>{words.requests.attempts}</h2>
        <Waterfall request={request} />
      </section>
      <section className="card stack">
        <h2>{words.requests.tokensTitle}</h2>
        <TokenTable request={request} />
      </section>
      <section className="stack">
        <h2>{words.requests.entries}</h2>
        {entries.length === 0 ? (
          <p className="soft">{words.requests.noEntries}</p>
        ) : (
          <Entries
            label={words.requests.entries}
            lines={entries.map((entry) => ({
              id: entry.id,
              kind: entry.kind,
              time: entry.createTime,
              amountNanos: entry.amountNanos,
              changeNanos: entry.availableChangeNanos,
              requestId: "",
              reason: entry.reason,
            }))}
          />
        )}
      </section>
    </Page>
  );
}

function Facts({ request }: { readonly request: RequestRecord }): ReactNode {
  const { requests } = words;
  const amount = (nanos: bigint | undefined): string | undefined =>
    nanos === undefined || nanos === 0n ? undefined : money(nanos);
  const facts: readonly (readonly [string, ReactNode])[] = [
    [requests.state, <StateTag state={request.state} />],
    [requests.model, request.model],
    [requests.upstream, request.upstream],
    [requests.served, request.served?.model],
    [
      requests.key,
      <Link to="/keys/$id" params={{ id: request.keyId }}>
        {request.keyId}
      </Link>,
    ],
    [requests.charged, money(request.chargedNanos)],
    [requests.held, money(request.holdNanos)],
    [requests.refunded, amount(request.refundedNanos)],
    [requests.overage, amount(request.overageNanos)],
    [requests.operatorCost, request.operatorCostNanos === undefined ? undefined : money(request.operatorCostNanos)],
    [requests.margin, request.marginNanos === undefined ? undefined : money(request.marginNanos)],
    [requests.source, requests.sources[request.usageSource]],
    [requests.began, request.createTime && dateTime(request.createTime)],
    [requests.ended, request.endTime === undefined ? requests.running : dateTime(request.endTime)],
  ];
  return (
    <section className="card">
      <h2 className="card-head">{requests.facts}</h2>
      <dl className="facts two">
        {facts
          .filter(([, value]) => value !== undefined && value !== "")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}
