/** The models that the reader may use: what each costs, can, and is called. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useDeferredValue } from "react";
import { listModels, type Model } from "../../../gen/console/model_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { count, dayText, money, pricePerMillion, utcDay } from "../format.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useSignedIn } from "../shell/session.ts";

export function Models(): ReactNode {
  const { account } = useSignedIn();
  const { find = "", open } = useSearch({ from: "/models" });
  const navigate = useNavigate({ from: "/models" });
  const { data, error, refetch } = useQuery(ask(listModels, {}, account));
  const wanted = useDeferredValue((find || open || "").toLowerCase());
  const rows = data?.models.filter(({ id, owner }) => `${id} ${owner}`.toLowerCase().includes(wanted)) ?? [];
  return (
    <Page title={words.pages.models} about={words.models.about}>
      <div className="row filters">
        <input
          className="input finder"
          type="search"
          aria-label={words.models.find}
          placeholder={words.models.find}
          value={find || open || ""}
          onChange={({ currentTarget: { value } }) =>
            void navigate({
              search: (before) => ({ ...before, open: undefined, find: value || undefined }),
              replace: true,
            })
          }
        />
        <span className="soft" role="status">
          {data === undefined ? "" : words.models.shown(rows.length)}
        </span>
      </div>
      {error !== null ? (
        <Problem error={error} what={words.errors.load(words.pages.models)} onAgain={() => void refetch()} />
      ) : data === undefined ? (
        <Waiting height={320} />
      ) : data.models.length === 0 ? (
        <Empty title={words.models.emptyTitle} about={words.models.emptyAbout} />
      ) : rows.length === 0 ? (
        <p className="soft">{words.models.noneFound}</p>
      ) : (
        <Table label={words.pages.models} columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<Model>[] = [
  { name: words.models.name, cell: (model) => <Name model={model} /> },
  { name: words.models.can, cell: ({ capabilities }) => abilities(capabilities), isExtra: true },
  { name: words.models.context, cell: ({ contextTokens }) => tokens(contextTokens), isNumber: true, isExtra: true },
  {
    name: words.models.outputMax,
    cell: ({ outputTokensMax }) => tokens(outputTokensMax),
    isNumber: true,
    isExtra: true,
  },
  { name: words.models.input, cell: ({ price }) => priceOf(price?.inputPicos), isNumber: true },
  { name: words.models.cached, cell: ({ price }) => priceOf(price?.cacheReadPicos), isNumber: true, isExtra: true },
  { name: words.models.output, cell: ({ price }) => priceOf(price?.outputPicos), isNumber: true },
  { name: words.models.tryIt, cell: ({ id, kind }) => <Try id={id} isChat={kind === undefined || kind === "chat"} /> },
];

function Name({ model: { id, owner, kind, price, retireTime } }: { readonly model: Model }): ReactNode {
  return (
    <span className="model-name">
      <strong>{id}</strong> <small className="soft">{owner}</small>
      {kind !== undefined && words.models.kinds[kind] !== "" && <span className="tag">{words.models.kinds[kind]}</span>}
      {retireTime !== undefined && (
        <span className="tag warn">{words.models.retires(utcDay(dayText(retireTime)))}</span>
      )}
      {price !== undefined && price.requestPicos > 0n && (
        <small className="soft">{words.models.perRequest(money(price.requestPicos))}</small>
      )}
      {price !== undefined && price.tiers.length > 0 && <small className="soft">{words.models.tiers}</small>}
    </span>
  );
}

function Try({ id, isChat }: { readonly id: string; readonly isChat: boolean }): ReactNode {
  return (
    <span className="row tight">
      <CopyButton text={id} what={`${words.models.copyId} ${id}`} />
      {isChat && (
        <Link to="/playground" search={{ model: id }} className="button small wide-only">
          {words.models.tryIt}
        </Link>
      )}
    </span>
  );
}

function abilities(capabilities: Model["capabilities"]): string {
  if (capabilities === undefined) return words.models.unknown;
  const names = (["images", "tools", "schemas", "thinking"] as const).filter((name) => capabilities[name] === true);
  return names.map((name) => words.models.abilities[name]).join(", ") || words.models.unknown;
}

function tokens(value: bigint): string {
  return value === 0n ? words.models.unknown : count(value);
}

function priceOf(picos: bigint | undefined): string {
  if (picos === undefined) return words.models.unknown;
  return picos === 0n ? words.models.free : pricePerMillion(picos);
}
