/** The log of requests, newest first, with what each used and cost. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { listRequests, type RequestRecord } from "../../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { clockTime, count, milliseconds } from "../format.ts";
import { Empty } from "../parts/empty.tsx";
import { Money } from "../parts/money.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { StateTag } from "../parts/state-tag.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { REQUEST_STATES } from "../states.ts";
import { useSignedIn } from "../shell/session.ts";
import { inputOf, outputOf } from "./tokens.ts";

const PAGE_SIZE = 200;
const LIVE_MS = 2_000;

export function Requests(): ReactNode {
  const { account } = useSignedIn();
  const search = useSearch({ from: "/requests" });
  const navigate = useNavigate({ from: "/requests" });
  const [isLive, setLive] = useState(false);
  const { data, error, refetch } = useQuery({
    ...ask(listRequests, { accountId: account, pageSize: PAGE_SIZE, pageToken: search.page ?? "" }, account),
    placeholderData: keepPreviousData,
    refetchInterval: isLive && search.page === undefined ? LIVE_MS : false,
  });
  const live = (
    <button className="button" type="button" aria-pressed={isLive} onClick={() => setLive(!isLive)}>
      <span className={isLive ? "dot on" : "dot"} aria-hidden="true" />
      {words.requests.live}
    </button>
  );
  return (
    <Page title={words.pages.requests} about={words.requests.about} actions={live}>
      <Filters models={[...new Set(data?.requests.map(({ model }) => model))].toSorted()} />
      {error !== null ? (
        <Problem error={error} what={words.errors.load(words.pages.requests)} onAgain={() => void refetch()} />
      ) : data === undefined ? (
        <Waiting height={480} />
      ) : (
        <Found requests={data.requests} />
      )}
      <span className="row">
        {search.page !== undefined && (
          <Link to="/requests" search={(before) => ({ ...before, page: undefined })} className="button">
            {words.requests.newest}
          </Link>
        )}
        {data !== undefined && data.nextPageToken !== "" && (
          <button
            className="button"
            type="button"
            onClick={() => void navigate({ search: (before) => ({ ...before, page: data.nextPageToken }) })}
          >
            {words.requests.older}
          </button>
        )}
      </span>
    </Page>
  );
}

function Found({ requests }: { readonly requests: readonly RequestRecord[] }): ReactNode {
  const { state, model, key } = useSearch({ from: "/requests" });
  if (requests.length === 0)
    return (
      <Empty title={words.requests.emptyTitle} about={words.requests.emptyAbout}>
        <Link to="/playground" className="button main">
          {words.pages.playground}
        </Link>
      </Empty>
    );
  const rows = requests.filter(
    (one) =>
      (state === undefined || one.state === state) &&
      (model === undefined || one.model === model) &&
      (key === undefined || one.keyId === key),
  );
  if (rows.length === 0) return <p className="soft">{words.requests.noneFound}</p>;
  return <Table label={words.pages.requests} columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />;
}

function Filters({ models }: { readonly models: readonly string[] }): ReactNode {
  const { state, model, key } = useSearch({ from: "/requests" });
  const navigate = useNavigate({ from: "/requests" });
  const [id, setId] = useState("");
  const open = (event: FormEvent): void => {
    event.preventDefault();
    if (id.trim() !== "") void navigate({ to: "/requests/$id", params: { id: id.trim() } });
  };
  return (
    <div className="row filters">
      <select
        className="input short"
        aria-label={words.requests.state}
        value={state ?? ""}
        onChange={({ currentTarget: { value } }) =>
          void navigate({
            search: (before) => ({ ...before, state: REQUEST_STATES.find((one) => one === value) }),
          })
        }
      >
        <option value="">{`${words.requests.state}: ${words.requests.any}`}</option>
        {REQUEST_STATES.map((one) => (
          <option key={one} value={one}>
            {words.requests.states[one]}
          </option>
        ))}
      </select>
      <select
        className="input short"
        aria-label={words.requests.model}
        value={model ?? ""}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: (before) => ({ ...before, model: value || undefined }) })
        }
      >
        <option value="">{`${words.requests.model}: ${words.requests.any}`}</option>
        {[...new Set([...models, ...(model === undefined ? [] : [model])])].map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      {key !== undefined && (
        <Link to="/requests" search={(before) => ({ ...before, key: undefined })} className="tag">
          {words.requests.key} {key} ×
        </Link>
      )}
      <form className="row" onSubmit={open}>
        <input
          className="input finder"
          aria-label={words.requests.find}
          placeholder={words.requests.find}
          value={id}
          onChange={({ currentTarget: { value } }) => setId(value)}
        />
        <button className="button" type="submit">
          {words.requests.findGo}
        </button>
      </form>
    </div>
  );
}

const COLUMNS: readonly Column<RequestRecord>[] = [
  {
    name: words.requests.time,
    cell: ({ id, createTime }) => (
      <Link to="/requests/$id" params={{ id }}>
        {createTime === undefined ? id : clockTime(createTime)}
      </Link>
    ),
  },
  { name: words.requests.model, cell: ({ model }) => model },
  { name: words.requests.state, cell: ({ state }) => <StateTag state={state} /> },
  { name: words.requests.upstream, cell: ({ upstream }) => upstream, isExtra: true },
  { name: words.requests.key, cell: ({ keyId }) => <code className="id">{keyId}</code>, isExtra: true },
  {
    name: words.requests.tokens,
    cell: ({ usage }) => `${count(inputOf(usage))} / ${count(outputOf(usage))}`,
    isNumber: true,
    isExtra: true,
  },
  {
    name: words.requests.took,
    cell: ({ createTime, endTime }) =>
      createTime === undefined || endTime === undefined ? "" : milliseconds(endTime.getTime() - createTime.getTime()),
    isNumber: true,
    isExtra: true,
  },
  { name: words.requests.cost, cell: ({ chargedNanos }) => <Money nanos={chargedNanos} isAligned />, isNumber: true },
];
