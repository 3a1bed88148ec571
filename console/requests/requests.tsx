/** The log of requests, newest first, with what each used and cost. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { listRequests, type RequestDetail, type RequestRecord } from "../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { requestWords } from "../copy/en-requests.ts";
import { clockTime, count, milliseconds } from "../format.ts";
import { type KeyNames, useKeyNames } from "../keys/key-names.ts";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Money } from "../parts/money.tsx";
import { saveText } from "../parts/download.ts";
import { KeyLink, UpstreamLink } from "../parts/named-links.tsx";
import { Page } from "../parts/page.tsx";
import { Pager } from "../parts/pager.tsx";
import { StateTag } from "../parts/state-tag.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useSignedIn } from "../shell/session.ts";
import type { RequestSearch } from "../search.ts";
import { FilterForm } from "./filter-form.tsx";
import { OutcomeFilter } from "./outcome-filter.tsx";
import { askedOf, countOf } from "./request-filters.ts";
import { requestsCsv } from "./requests-csv.ts";
import { inputOf, outputOf } from "./tokens.ts";

const PAGE_SIZE = 100;
const LIVE_MS = 2_000;

/** The log of the account. */
export function Requests(): ReactNode {
  return <Log account={useSignedIn().account} title={words.pages.requests} />;
}

/** The log of all accounts, or of one of them, for operators. */
export function AllRequests(): ReactNode {
  const { account_id: account = "" } = useSearch({ from: "/admin/requests" });
  return <Log account={account} title={words.pages.allRequests} isOverAll />;
}

interface LogParts {
  /** Empty: all accounts. */
  readonly account: string;
  readonly title: string;
  readonly isOverAll?: boolean;
}

function Log({ account, title, isOverAll = false }: LogParts): ReactNode {
  const search: RequestSearch = useSearch({ strict: false });
  const [isLive, setLive] = useState(false);
  const { page } = search;
  const asked = { ...askedOf(search), accountId: account, pageSize: PAGE_SIZE, pageToken: page ?? "" };
  const list = useQuery({
    ...ask(listRequests, asked, isOverAll ? "" : account),
    placeholderData: keepPreviousData,
    refetchInterval: isLive && page === undefined ? LIVE_MS : false,
  });
  const isLiveLost = isLive && list.failureCount > 0;
  const live = (
    <button className="button" type="button" aria-pressed={isLive} onClick={() => setLive(!isLive)}>
      <span className={isLive && !isLiveLost ? "dot on" : "dot"} aria-hidden="true" />
      {requestWords.live}
      {isLiveLost && <span role="status">({requestWords.liveFailed})</span>}
    </button>
  );
  return (
    <Page title={title} about={isOverAll ? requestWords.aboutAll : requestWords.about} actions={live}>
      <OpenById />
      <OutcomeFilter />
      <FilterForm />
      <Loaded of={list} what={title} height={480}>
        {({ requests, nextPageToken }) => (
          <>
            <Found requests={requests} isOverAll={isOverAll} isFiltered={countOf(search) > 0 || page !== undefined} />
            <Pager page={page} next={nextPageToken} first={requestWords.newest} more={requestWords.older} />
            {requests.length > 0 && (
              <span className="row">
                <button
                  className="button"
                  type="button"
                  onClick={() => saveText(requestsCsv(requests), "requests.csv", "text/csv")}
                >
                  {requestWords.csv}
                </button>
                <span className="soft">{requestWords.csvNote(count(requests.length))}</span>
              </span>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Found({ requests, isOverAll, isFiltered }: FoundParts): ReactNode {
  const ids = requests.map(({ keyId }) => keyId);
  const names = useKeyNames(ids, isOverAll ? { account: "" } : {});
  if (names === undefined) return <Waiting height={480} />;
  if (requests.length > 0) {
    const [time, ...others] = columnsOf(names);
    const columns = isOverAll ? [time, ACCOUNT, ...others] : [time, ...others];
    return <Table label={words.pages.requests} columns={columns} rows={requests} keyOf={({ id }) => id} />;
  }
  if (isFiltered) return <p className="soft">{requestWords.noneFound}</p>;
  return (
    <Empty title={requestWords.emptyTitle} about={requestWords.emptyAbout}>
      <Link to="/playground" className="button main">
        {words.pages.playground}
      </Link>
    </Empty>
  );
}

interface FoundParts {
  readonly requests: readonly RequestRecord[];
  readonly isOverAll: boolean;
  readonly isFiltered: boolean;
}

function OpenById(): ReactNode {
  const navigate = useNavigate();
  const [id, setId] = useState("");
  const open = (event: FormEvent): void => {
    event.preventDefault();
    if (id.trim() !== "") void navigate({ to: "/requests/$id", params: { id: id.trim() } });
  };
  return (
    <form className="row filters" onSubmit={open}>
      <input
        className="input finder"
        aria-label={requestWords.find}
        placeholder={requestWords.find}
        value={id}
        onChange={({ currentTarget: { value } }) => setId(value)}
      />
      <button className="button" type="submit">
        {requestWords.findGo}
      </button>
    </form>
  );
}

const ACCOUNT: Column<RequestRecord> = {
  name: requestWords.account,
  cell: ({ accountId }) =>
    accountId && (
      <Link to="/admin/accounts/$id" params={{ id: accountId }}>
        {accountId}
      </Link>
    ),
};

const columnsOf = (names: KeyNames): readonly [Column<RequestRecord>, ...Column<RequestRecord>[]] => [
  {
    name: requestWords.time,
    cell: ({ id, createTime }) => (
      <Link to="/requests/$id" params={{ id }}>
        <span className="when">{createTime === undefined ? id : clockTime(createTime)}</span>
      </Link>
    ),
  },
  { name: requestWords.model, cell: ({ model }) => model },
  { name: requestWords.state, cell: ({ state }) => <StateTag state={state} /> },
  { name: requestWords.status, cell: ({ detail }) => <Status detail={detail} /> },
  { name: requestWords.reason, cell: ({ detail }) => <small>{detail?.errorReason}</small>, isExtra: true },
  { name: requestWords.upstream, cell: ({ upstream }) => <UpstreamLink name={upstream} />, isExtra: true },
  { name: requestWords.key, cell: ({ keyId }) => <KeyLink id={keyId} name={names.get(keyId)} />, isExtra: true },
  {
    name: requestWords.tokens,
    cell: ({ usage }) => `${count(inputOf(usage))} / ${count(outputOf(usage))}`,
    isNumber: true,
    isExtra: true,
  },
  {
    name: requestWords.took,
    cell: ({ createTime, endTime }) =>
      createTime === undefined || endTime === undefined ? "" : milliseconds(endTime.getTime() - createTime.getTime()),
    isNumber: true,
    isExtra: true,
  },
  { name: requestWords.cost, cell: ({ chargedNanos }) => <Money nanos={chargedNanos} isAligned />, isNumber: true },
];

function Status({ detail }: { readonly detail: RequestDetail | undefined }): ReactNode {
  if (detail === undefined || detail.httpStatus === 0) return "";
  const { httpStatus } = detail;
  return <span className={detail.errorReason === undefined ? "tag" : "tag bad"}>{httpStatus}</span>;
}
