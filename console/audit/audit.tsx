/** The log of who changed what, of an account or of everything. */
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { FormEvent, ReactNode } from "react";
import { type AuditEvent, listAuditEvents, type ListAuditEventsRequest } from "../../gen/console/audit_service.js";
import { type RequestFields, fileAddress } from "../api/client.ts";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { auditWords } from "../copy/en-audit.ts";
import { clockTime } from "../format.ts";
import { type KeyNames, useKeyNames } from "../keys/key-names.ts";
import { download } from "../parts/download.ts";
import { Choice, Field } from "../parts/field.tsx";
import { LateDetails } from "../parts/late-details.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Pager } from "../parts/pager.tsx";
import { Problem } from "../parts/problem.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { AUDIT_TEXTS, type AuditSearch } from "../search.ts";
import { AUDIT_RESULTS } from "../states.ts";
import { useSignedIn } from "../shell/session.ts";
import { changesOf, sentenceOf } from "./sentence.ts";

const PAGE_SIZE = 100;
const LOOKS = { unspecified: "tag", done: "tag good", unchanged: "tag", refused: "tag bad" } as const;

export function Audit(): ReactNode {
  const { account } = useSignedIn();
  return (
    <Page title={words.pages.audit} about={auditWords.about}>
      <Log account={account} search={useSearch({ from: "/audit" })} />
    </Page>
  );
}

export function OperatorAudit(): ReactNode {
  return (
    <Page title={words.pages.operatorAudit} about={auditWords.operatorAbout}>
      <Log account="" search={useSearch({ from: "/admin/audit" })} />
    </Page>
  );
}

interface LogParts {
  /** Empty for everything. */
  readonly account: string;
  readonly search: AuditSearch;
}

function Log({ account, search }: LogParts): ReactNode {
  const { page, ...filters } = search;
  const asked: RequestFields<ListAuditEventsRequest> = { accountId: account, ...filters };
  const events = useQuery({
    ...ask(listAuditEvents, { ...asked, pageSize: PAGE_SIZE, pageToken: page ?? "" }, account),
    placeholderData: keepPreviousData,
  });
  const save = useMutation({
    mutationFn: () => download(fileAddress(listAuditEvents, asked, { format: "csv" }), "audit.csv", account),
  });
  return (
    <>
      <LateDetails className="card more" summary={auditWords.filters(countOf(filters))}>
        {() => <Filters key={JSON.stringify(filters)} search={search} />}
      </LateDetails>
      {save.error !== null && <Problem error={save.error} what={auditWords.csvFailed} />}
      <Loaded of={events} what={words.pages.audit}>
        {({ auditEvents, nextPageToken }) => (
          <>
            <Events events={auditEvents} account={account} />
            <Pager page={page} next={nextPageToken} first={auditWords.newest} more={auditWords.older} />
            <span>
              <button className="button" type="button" disabled={save.isPending} onClick={() => save.mutate()}>
                {auditWords.csv}
              </button>
            </span>
          </>
        )}
      </Loaded>
    </>
  );
}

function Events({ events, account }: { readonly events: readonly AuditEvent[]; readonly account: string }): ReactNode {
  const keys = events.map(({ resource }) => resource.split("/")).filter(([collection]) => collection === "keys");
  const names = useKeyNames(
    keys.map(([, id = ""]) => id),
    { account },
  );
  if (events.length === 0) return <p className="soft">{auditWords.none}</p>;
  if (names === undefined) return <Waiting height={480} />;
  const keyOf = ({ sequence }: AuditEvent): string => sequence.toString();
  return <Table label={words.pages.audit} columns={columnsOf(names)} rows={events} keyOf={keyOf} isWhole />;
}

const columnsOf = (names: KeyNames): readonly Column<AuditEvent>[] => [
  {
    name: auditWords.time,
    cell: ({ time }) => <span className="when">{time === undefined ? "" : clockTime(time)}</span>,
  },
  { name: auditWords.what, cell: (event) => <What event={event} names={names} /> },
  {
    name: auditWords.result,
    cell: ({ result }) => <span className={LOOKS[result]}>{auditWords.results[result]}</span>,
    isExtra: true,
  },
  { name: auditWords.who, cell: (event) => <Who event={event} />, isExtra: true },
];

/** The sentence, and all that the log has behind it. */
function What({ event, names }: { readonly event: AuditEvent; readonly names: KeyNames }): ReactNode {
  return (
    <>
      <span className="sentence">{sentenceOf(event, names)}</span>
      <Change event={event} />
    </>
  );
}

function Who({ event: { actor } }: { readonly event: AuditEvent }): ReactNode {
  if (actor === undefined) return auditWords.actors.unspecified;
  return (
    <>
      {actor.name || actor.id || auditWords.actors[actor.kind]}
      <small className="soft">
        {" "}
        {auditWords.actors[actor.kind]} {auditWords.doors[actor.door]}
      </small>
    </>
  );
}

function Change({ event }: { readonly event: AuditEvent }): ReactNode {
  const { method, resource, actor, transferId, accountId, reason } = event;
  const facts = [
    [auditWords.method, method],
    [auditWords.resource, resource],
    [auditWords.reason, reason],
    ...changesOf(event).map(({ field, was, is }) => [field, auditWords.values(was, is)]),
    [auditWords.account, accountId],
    [auditWords.entry, transferId],
    [auditWords.address, actor?.address ?? ""],
    [auditWords.request, actor?.requestId ?? ""],
  ].filter(([, text]) => text !== "");
  return (
    <LateDetails className="more" summary={auditWords.facts}>
      {() => (
        <dl className="facts">
          {facts.map(([name, text]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <code className="id">{text}</code>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </LateDetails>
  );
}

const LABELS = {
  from: auditWords.from,
  to: auditWords.to,
  actor: auditWords.actor,
  method: auditWords.method,
  resource: auditWords.resource,
} as const;

/** How many filters are on, beside the account. */
function countOf(search: AuditSearch): number {
  return [...AUDIT_TEXTS, "result" as const].filter((name) => search[name] !== undefined).length;
}

function Filters({ search }: { readonly search: AuditSearch }): ReactNode {
  const navigate = useNavigate();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const typed = Object.fromEntries([...form].map(([name, value]) => [name, String(value).trim() || undefined]));
    void navigate({ to: ".", search: ({ account }) => ({ account, ...typed }) });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <div className="filter-grid">
        {AUDIT_TEXTS.map((name) => (
          <Field
            key={name}
            label={LABELS[name]}
            name={name}
            type={name === "from" || name === "to" ? "date" : "text"}
            defaultValue={search[name]}
          />
        ))}
        <Choice label={auditWords.result} name="result" defaultValue={search.result ?? ""}>
          <option value="">{auditWords.any}</option>
          {AUDIT_RESULTS.map((result) => (
            <option key={result} value={result}>
              {auditWords.results[result]}
            </option>
          ))}
        </Choice>
      </div>
      <div className="row">
        <button className="button main" type="submit">
          {auditWords.filter}
        </button>
        <button
          className="button"
          type="button"
          onClick={() => void navigate({ to: ".", search: ({ account }) => ({ account }) })}
        >
          {auditWords.clear}
        </button>
      </div>
    </form>
  );
}
