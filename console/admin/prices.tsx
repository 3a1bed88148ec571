/** What each model costs its clients, and who says so; models of the database are added and changed here. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { listModels, type Model, type UnpricedModel } from "../../gen/console/model_service.js";
import { listObjects } from "../../gen/console/settings_service.js";
import type { SettingsObject } from "../../gen/console/settings_object.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { listWords, objectWords, unpricedWords, unservedWords } from "../copy/en-objects.ts";
import { count, dateTime } from "../format.ts";
import { tokenPrice } from "../models/price.ts";
import { FormInUrl } from "../parts/form-in-url.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";
import { Aliases } from "./aliases.tsx";
import { ListedPrice, ListSource } from "./list-price.tsx";
import { ModelForm } from "./model-form.tsx";
import { PriceChanges } from "./price-changes.tsx";
import { objectActions, Origin } from "./object-actions.tsx";

export function Prices(): ReactNode {
  const models = useQuery(ask(listModels, {}));
  const objects = useQuery(ask(listObjects, { kind: "model" })).data?.objects ?? [];
  const { isReader } = useSignedIn();
  const named = new Map(objects.map((object) => [object.name, object]));
  const add = (
    <FormInUrl value="model" label={objectWords.addModel}>
      {(close) => <ModelForm object={undefined} onClose={close} />}
    </FormInUrl>
  );
  const columns = [...columnsOf(named), ...(isReader ? [] : [originOf(named), actionsOf(named)])];
  return (
    <Page title={words.pages.prices} about={admin.prices.about} actions={isReader ? undefined : add}>
      <p className="soft">{admin.prices.sourceRule}</p>
      <Loaded of={models} what={words.pages.prices}>
        {({ models: all }) => {
          const own = all.filter(({ aliasOf }) => aliasOf === "");
          return <Table label={words.pages.prices} columns={columns} rows={own} keyOf={({ id }) => id} />;
        }}
      </Loaded>
      <NotServed of={objects.filter(({ problem }) => problem !== "")} />
      <PriceChanges />
      <Aliases />
      <Unpriced of={models.data?.unpricedModels ?? []} />
    </Page>
  );
}

/** Models that are saved and that this node does not serve: here they are seen and mended. */
function NotServed({ of: rows }: { readonly of: readonly SettingsObject[] }): ReactNode {
  const { isReader } = useSignedIn();
  if (rows.length === 0) return null;
  return (
    <section className="stack">
      <h2>{unservedWords.title}</h2>
      <p className="soft">{unservedWords.about}</p>
      <Table
        label={unservedWords.title}
        columns={isReader ? UNSERVED : [...UNSERVED, UNSERVED_ACTIONS]}
        rows={rows}
        keyOf={({ name, source }) => `${name} ${source}`}
      />
    </section>
  );
}

const UNSERVED: readonly Column<SettingsObject>[] = [
  { name: unservedWords.name, cell: ({ name }) => <strong>{name}</strong> },
  { name: unservedWords.why, cell: (object) => <Origin object={object} /> },
];

const UNSERVED_ACTIONS = actionsColumn<SettingsObject>(objectWords.actions, (object) => (
  <RowActions
    actions={objectActions(object, (one, close) => (
      <ModelForm object={one} onClose={close} />
    ))}
  />
));

/** What clients requested of wildcards and did not get, so that operators see which price is missing. */
function Unpriced({ of: rows }: { readonly of: readonly UnpricedModel[] }): ReactNode {
  if (rows.length === 0) return null;
  return (
    <section className="stack">
      <h2>{unpricedWords.title}</h2>
      <p className="soft">{unpricedWords.about}</p>
      <Table label={unpricedWords.title} columns={UNPRICED} rows={rows} keyOf={({ id }) => id} />
    </section>
  );
}

const UNPRICED: readonly Column<UnpricedModel>[] = [
  { name: unpricedWords.name, cell: ({ id }) => <strong>{id}</strong> },
  { name: unpricedWords.wildcard, cell: ({ wildcard }) => wildcard },
  { name: unpricedWords.requests, cell: ({ requestCount }) => count(requestCount), isNumber: true },
  {
    name: unpricedWords.last,
    cell: ({ lastTime }) => (lastTime === undefined ? "" : dateTime(lastTime)),
    isExtra: true,
  },
];

type Named = ReadonlyMap<string, SettingsObject>;

function originOf(named: Named): Column<Model> {
  return { name: objectWords.origin, cell: ({ id }) => <Origin object={named.get(id)} />, isExtra: true };
}

function actionsOf(named: Named): Column<Model> {
  return actionsColumn(objectWords.actions, ({ id, listPrice, priceSource }) => {
    const object = named.get(id);
    const form = (one: SettingsObject, close: () => void, priceKind?: "published"): ReactNode => (
      <ModelForm object={one} listPrice={listPrice} onClose={close} {...(priceKind && { priceKind })} />
    );
    const actions = objectActions(object, form);
    const isOwn = object?.source === "database" && priceSource === "settings" && listPrice !== undefined;
    const useList = {
      name: listWords.useInRow,
      opens: (close: () => void) => object && form(object, close, "published"),
    };
    return <RowActions actions={isOwn ? [...actions, useList] : actions} />;
  });
}

const columnsOf = (named: Named): readonly Column<Model>[] => [
  { name: admin.prices.model, cell: ({ id }) => <strong>{id}</strong> },
  { name: admin.prices.source, cell: (model) => <PriceOrigin model={model} object={named.get(model.id)} /> },
  { name: admin.prices.upstreams, cell: ({ upstreams }) => upstreams.join(", "), isExtra: true },
  {
    name: admin.prices.input,
    cell: ({ price }) => tokenPrice(price, "inputPicos"),
    isNumber: true,
  },
  {
    name: admin.prices.cached,
    cell: ({ price }) => tokenPrice(price, "cacheReadPicos"),
    isNumber: true,
    isExtra: true,
  },
  {
    name: admin.prices.output,
    cell: ({ price }) => tokenPrice(price, "outputPicos"),
    isNumber: true,
  },
];

interface PriceOriginParts {
  readonly model: Model;
  readonly object: SettingsObject | undefined;
}

/** Who says the price, and beside a price of one's own the published one. */
function PriceOrigin({ model: { priceSource, price, listPrice }, object }: PriceOriginParts): ReactNode {
  const isPublished = priceSource === "published";
  const own = object?.source === "database" ? admin.prices.own : admin.prices.sources[priceSource];
  const source = isPublished ? admin.prices.sources.published : isFree(price) ? admin.prices.free : own;
  return (
    <span className="price-source">
      <span className={isPublished ? "tag warn" : "tag"}>{source}</span>
      {listPrice !== undefined && (isPublished ? <ListSource of={listPrice} /> : <ListedPrice of={listPrice} />)}
    </span>
  );
}

function isFree(price: Model["price"]): boolean {
  if (price === undefined) return true;
  return price.tiers.length === 0 && Object.values(price).every((value) => typeof value !== "bigint" || value === 0n);
}
