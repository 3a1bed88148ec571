/** One request: its attempts over time, its tokens and price, and each entry of the ledger that it caused. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Entry } from "../../gen/console/account_service.js";
import { getRequest, type RequestDetail, type RequestRecord } from "../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { affinityWords, requestWords } from "../copy/en-requests.ts";
import { count, dateTime, dayText, milliseconds, money } from "../format.ts";
import { type KeyNames, useKeyNames } from "../keys/key-names.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Entries } from "../parts/entries.tsx";
import { type Fact, FactList } from "../parts/fact-list.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { KeyLink, UpstreamLink } from "../parts/named-links.tsx";
import { Page } from "../parts/page.tsx";
import { StateTag } from "../parts/state-tag.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useSignedIn } from "../shell/session.ts";
import { Content } from "./content.tsx";
import { Failure } from "./failure.tsx";
import { TokenTable } from "./token-table.tsx";
import { Waterfall } from "./waterfall.tsx";

const RUNNING_MS = 1_000;

export function RequestPage(): ReactNode {
  const { id } = useParams({ from: "/requests/$id" });
  const { account } = useSignedIn();
  const answer = useQuery({
    ...ask(getRequest, { id }, account),
    refetchInterval: ({ state }) => (state.data?.request?.state === "held" ? RUNNING_MS : false),
  });
  return (
    <Loaded of={answer} what={requestWords.title(id)} height={600}>
      {({ request, entries, archivedBefore }) =>
        request !== undefined && <Shown request={request} entries={entries} archivedBefore={archivedBefore} />
      }
    </Loaded>
  );
}

interface ShownParts {
  readonly request: RequestRecord;
  readonly entries: readonly Entry[];
  readonly archivedBefore: Date | undefined;
}

function Shown({ request, entries, archivedBefore }: ShownParts): ReactNode {
  const { isOperator } = useSignedIn();
  const { id } = request;
  const names = useKeyNames([request.keyId, keyIn(request.detail)]);
  if (names === undefined) return <Waiting height={600} />;
  return (
    <Page
      title={requestWords.title(id)}
      about={<Link to="/requests">← {requestWords.back}</Link>}
      actions={<CopyButton text={id} what={requestWords.copyId} />}
    >
      {request.detail?.errorReason !== undefined && <Failure detail={request.detail} names={names} />}
      <Facts request={request} names={names} />
      <section className="card stack">
        <h2>{requestWords.attempts}</h2>
        <Waterfall request={request} />
      </section>
      <section className="card stack">
        <h2>{requestWords.tokensTitle}</h2>
        <TokenTable request={request} />
      </section>
      {isOperator && <Content key={id} id={id} />}
      <section className="stack">
        <h2>{requestWords.entries}</h2>
        {entries.length === 0 ? (
          <p className="soft">
            {archivedBefore === undefined ? requestWords.noEntries : requestWords.archived(dayText(archivedBefore))}
          </p>
        ) : (
          <Entries
            label={requestWords.entries}
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

/** The key whose limit was reached, which may be the one that made the request's; empty where it was no key's. */
function keyIn(detail: RequestDetail | undefined): string {
  const [kind, id = ""] = (detail?.limitOwner ?? "").split(" ");
  return kind === "key" ? id : "";
}

/** Whether the request went to the target of its session, and what names the session. */
function affinityText({ affinity, affinitySource }: RequestDetail): string | undefined {
  if (affinity === undefined || affinitySource === undefined) return undefined;
  return `${affinityWords.states[affinity]}. ${affinityWords.sources[affinitySource]}`;
}

/** The parameters that the operator's settings changed. */
function parametersText({ parameters }: RequestDetail): string | undefined {
  if (parameters === undefined) return undefined;
  const words = requestWords.parametersChanged;
  return (["defaulted", "set", "dropped"] as const)
    .flatMap((change) =>
      parameters[change].length === 0 ? [] : [`${words[change]}: ${parameters[change].join(", ")}`],
    )
    .join("; ");
}

function Facts({ request, names }: { readonly request: RequestRecord; readonly names: KeyNames }): ReactNode {
  const { detail } = request;
  const amount = (nanos: bigint | undefined): string | undefined =>
    nanos === undefined || nanos === 0n ? undefined : money(nanos);
  const facts: readonly Fact[] = [
    [requestWords.state, <StateTag state={request.state} />],
    [requestWords.model, request.model],
    [requestWords.askedModel, detail?.askedModel],
    [requestWords.upstream, request.upstream === "" ? undefined : <UpstreamLink name={request.upstream} />],
    [requestWords.served, request.served?.model],
    [requestWords.key, <KeyLink id={request.keyId} name={names.get(request.keyId)} />],
    [requestWords.charged, money(request.chargedNanos)],
    [requestWords.held, money(request.holdNanos)],
    [requestWords.refunded, amount(request.refundedNanos)],
    [requestWords.overage, amount(request.overageNanos)],
    [requestWords.operatorCost, request.operatorCostNanos === undefined ? undefined : money(request.operatorCostNanos)],
    [requestWords.margin, request.marginNanos === undefined ? undefined : money(request.marginNanos)],
    [requestWords.source, requestWords.sources[request.usageSource]],
    [requestWords.status, detail === undefined || detail.httpStatus === 0 ? undefined : detail.httpStatus],
    [requestWords.path, detail?.path],
    [requestWords.first, detail?.firstTokenMs === undefined ? undefined : milliseconds(detail.firstTokenMs)],
    [
      requestWords.clamped,
      detail?.clampedToTokens === undefined ? undefined : requestWords.tokensUnit(count(detail.clampedToTokens)),
    ],
    [requestWords.user, detail?.endUser],
    [requestWords.tags, detail?.tags.join(", ")],
    [requestWords.session, detail?.session],
    [requestWords.affinity, detail && affinityText(detail)],
    [requestWords.parameters, detail && parametersText(detail)],
    [
      requestWords.cacheMarks,
      detail?.cacheMarks === undefined ? undefined : requestWords.cacheMarkers[detail.cacheMarks],
    ],
    [requestWords.cacheSaved, amount(detail?.cacheSavedNanos)],
    [requestWords.client, detail?.client],
    [requestWords.clientId, detail?.clientRequestId],
    [requestWords.address, detail?.address],
    [requestWords.began, request.createTime && dateTime(request.createTime)],
    [requestWords.ended, request.endTime === undefined ? requestWords.running : dateTime(request.endTime)],
  ];
  return (
    <section className="card">
      <h2 className="card-head">{requestWords.facts}</h2>
      <FactList facts={facts.filter(([, value]) => value !== undefined && value !== "")} two />
    </section>
  );
}
