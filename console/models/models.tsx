/** The models that the reader may use: what each costs, can, and is called. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useDeferredValue } from "react";
import { listModels, type Model } from "../../gen/console/model_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { modelWords } from "../copy/en-models.ts";
import { count, dayText, money, utcDay } from "../format.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { actionsColumn } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";
import { tokenPrice } from "./price.ts";

export function Models(): ReactNode {
  const { account } = useSignedIn();
  const { find = "", open } = useSearch({ from: "/models" });
  const navigate = useNavigate({ from: "/models" });
  const models = useQuery(ask(listModels, {}, account));
  const wanted = useDeferredValue((find || open || "").toLowerCase());
  const rows = models.data?.models.filter(({ id, owner }) => `${id} ${owner}`.toLowerCase().includes(wanted)) ?? [];
  return (
    <Page title={words.pages.models} about={modelWords.about}>
      <div className="row filters">
        <input
          className="input finder"
          type="search"
          aria-label={modelWords.find}
          placeholder={modelWords.find}
          value={find || open || ""}
          onChange={({ currentTarget: { value } }) =>
            void navigate({
              search: (before) => ({ ...before, open: undefined, find: value || undefined }),
              replace: true,
            })
          }
        />
        <span className="soft" role="status">
          {models.data === undefined ? "" : modelWords.shown(rows.length)}
        </span>
      </div>
      <Loaded of={models} what={words.pages.models}>
        {(all) =>
          all.models.length === 0 ? (
            <Empty title={modelWords.emptyTitle} about={modelWords.emptyAbout} />
          ) : rows.length === 0 ? (
            <p className="soft">{modelWords.noneFound}</p>
          ) : (
            <Table label={words.pages.models} columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </Page>
  );
}

const COLUMNS: readonly Column<Model>[] = [
  { name: modelWords.name, cell: (model) => <Name model={model} /> },
  { name: modelWords.can, cell: ({ capabilities }) => abilities(capabilities), isExtra: true },
  { name: modelWords.context, cell: ({ contextTokens }) => tokens(contextTokens), isNumber: true, isExtra: true },
  {
    name: modelWords.outputMax,
    cell: ({ outputTokensMax }) => tokens(outputTokensMax),
    isNumber: true,
    isExtra: true,
  },
  { name: modelWords.input, cell: ({ price }) => tokenPrice(price, "inputPicos"), isNumber: true },
  { name: modelWords.cached, cell: ({ price }) => tokenPrice(price, "cacheReadPicos"), isNumber: true, isExtra: true },
  { name: modelWords.output, cell: ({ price }) => tokenPrice(price, "outputPicos"), isNumber: true },
  actionsColumn(modelWords.actions, ({ id, kind }) => <Try id={id} isChat={kind === undefined || kind === "chat"} />),
];

function Name({ model }: { readonly model: Model }): ReactNode {
  const { id, displayName, aliasOf, owner, kind, price, retireTime } = model;
  return (
    <span className="model-name">
      <strong>{id}</strong> {displayName !== "" && <span>{displayName} </span>}
      <small className="soft">{aliasOf === "" ? owner : modelWords.aliasOf(aliasOf)}</small>
      {kind !== undefined && modelWords.kinds[kind] !== "" && <span className="tag">{modelWords.kinds[kind]}</span>}
      {retireTime !== undefined && <span className="tag warn">{modelWords.retires(utcDay(dayText(retireTime)))}</span>}
      {price !== undefined && price.requestPicos > 0n && (
        <small className="soft">{modelWords.perRequest(money(price.requestPicos))}</small>
      )}
      {price !== undefined && price.tiers.length > 0 && <small className="soft">{modelWords.tiers}</small>}
    </span>
  );
}

function Try({ id, isChat }: { readonly id: string; readonly isChat: boolean }): ReactNode {
  return (
    <span className="row tight end">
      <CopyButton text={id} what={`${modelWords.copyId} ${id}`} />
      {isChat && (
        <Link to="/playground" search={{ model: id }} className="button small wide-only">
          {modelWords.tryIt}
        </Link>
      )}
    </span>
  );
}

function abilities(capabilities: Model["capabilities"]): string {
  if (capabilities === undefined) return modelWords.unknown;
  const names = (["images", "tools", "schemas", "thinking"] as const).filter((name) => capabilities[name] === true);
  return names.map((name) => modelWords.abilities[name]).join(", ") || modelWords.unknown;
}

function tokens(value: bigint): string {
  return value === 0n ? modelWords.unknown : count(value);
}
