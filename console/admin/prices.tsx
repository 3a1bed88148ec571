/** What each model costs its clients, and where its price comes from. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { listModels, type Model } from "../../gen/console/model_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { tokenPrice } from "../models/price.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";

export function Prices(): ReactNode {
  const models = useQuery(ask(listModels, {}));
  return (
    <Page title={words.pages.prices} about={admin.prices.about}>
      <p className="soft">{admin.prices.sourceRule}</p>
      <Loaded of={models} what={words.pages.prices}>
        {(answer) => <Table label={words.pages.prices} columns={COLUMNS} rows={answer.models} keyOf={({ id }) => id} />}
      </Loaded>
    </Page>
  );
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
