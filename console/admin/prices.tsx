/** What each model costs its clients, and who says so; models of the database are added and changed here. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { listModels, type Model } from "../../gen/console/model_service.js";
import { listObjects } from "../../gen/console/settings_service.js";
import type { SettingsObject } from "../../gen/console/settings_object.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { objectWords } from "../copy/en-objects.ts";
import { tokenPrice } from "../models/price.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useSignedIn } from "../shell/session.ts";
import { ModelForm } from "./model-form.tsx";
import { objectActions, Origin } from "./object-actions.tsx";

export function Prices(): ReactNode {
  const models = useQuery(ask(listModels, {}));
  const objects = useQuery(ask(listObjects, { kind: "model" })).data?.objects ?? [];
  const { isReader } = useSignedIn();
  const { form } = useSearch({ from: "/admin/models" });
  const navigate = useNavigate({ from: "/admin/models" });
  const open = (isOpen: boolean): void =>
    void navigate({ search: (before) => ({ ...before, form: isOpen ? "model" : undefined }), replace: !isOpen });
  const named = new Map(objects.map((object) => [object.name, object]));
  const add = (
    <button className="button main" type="button" onClick={() => open(true)}>
      {objectWords.addModel}
    </button>
  );
  const columns = isReader ? COLUMNS : [...COLUMNS, originOf(named), actionsOf(named)];
  return (
    <Page title={words.pages.prices} about={admin.prices.about} actions={isReader ? undefined : add}>
      {form === "model" && <ModelForm object={undefined} onClose={() => open(false)} />}
      <p className="soft">{admin.prices.sourceRule}</p>
      <Loaded of={models} what={words.pages.prices}>
        {(answer) => <Table label={words.pages.prices} columns={columns} rows={answer.models} keyOf={({ id }) => id} />}
      </Loaded>
    </Page>
  );
}

type Named = ReadonlyMap<string, SettingsObject>;

function originOf(named: Named): Column<Model> {
  return { name: objectWords.origin, cell: ({ id }) => <Origin object={named.get(id)} />, isExtra: true };
}

function actionsOf(named: Named): Column<Model> {
  return actionsColumn(objectWords.actions, ({ id }) => (
    <RowActions
      actions={objectActions(named.get(id), (one, close) => (
        <ModelForm object={one} onClose={close} />
      ))}
    />
  ));
}

const COLUMNS: readonly Column<Model>[] = [
  { name: admin.prices.model, cell: ({ id }) => <strong>{id}</strong> },
  {
    name: admin.prices.source,
    cell: ({ priceSource, price }) => (
      <span className={priceSource === "published" ? "tag warn" : "tag"}>
        {priceSource === "settings" && isFree(price) ? admin.prices.free : admin.prices.sources[priceSource]}
      </span>
    ),
  },
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

function isFree(price: Model["price"]): boolean {
  if (price === undefined) return true;
  return price.tiers.length === 0 && Object.values(price).every((value) => typeof value !== "bigint" || value === 0n);
}
