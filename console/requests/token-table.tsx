/** The tokens of a request by kind, each at the price that the request was admitted at. */
import type { ReactNode } from "react";
import type { RequestRecord } from "../../gen/console/usage_service.js";
import { requestWords } from "../copy/en-requests.ts";
import type { Meter, Price } from "../../gen/console/usage.js";
import { count, pricePerMillion } from "../format.ts";
import { ratePrice } from "../models/price.ts";
import { type Column, Table } from "../parts/table.tsx";

interface Kind {
  readonly name: string;
  readonly tokens: bigint;
  readonly price: string;
}

interface Tokens extends Omit<Kind, "price"> {
  readonly picos: bigint;
}

/** A quantity of another unit, at the rate of its variant, or of all variants of the unit. */
function rowOfMeter({ unit, variant, quantity }: Meter, price: Price | undefined): Kind {
  const rates = (price?.rates ?? []).filter((rate) => rate.unit === unit);
  const rate = rates.find((one) => one.variant === variant) ?? rates.find((one) => one.variant === "");
  const name = requestWords.units[unit] ?? unit;
  return {
    name: variant === "" ? name : `${name} (${variant})`,
    tokens: quantity,
    price: rate === undefined ? "" : ratePrice(rate),
  };
}

export function TokenTable({ request: { usage, price } }: { readonly request: RequestRecord }): ReactNode {
  const { kinds } = requestWords;
  const rows: readonly Tokens[] = [
    { name: kinds.input, tokens: usage?.inputTokens ?? 0n, picos: price?.inputPicos ?? 0n },
    { name: kinds.cacheRead, tokens: usage?.cacheReadTokens ?? 0n, picos: price?.cacheReadPicos ?? 0n },
    { name: kinds.cacheWrite, tokens: usage?.cacheWriteTokens ?? 0n, picos: price?.cacheWritePicos ?? 0n },
    { name: kinds.cacheWriteHour, tokens: usage?.cacheWrite1hTokens ?? 0n, picos: price?.cacheWrite1hPicos ?? 0n },
    { name: kinds.image, tokens: usage?.imageTokens ?? 0n, picos: price?.imagePicos ?? 0n },
    { name: kinds.audioIn, tokens: usage?.audioInputTokens ?? 0n, picos: price?.audioInputPicos ?? 0n },
    { name: kinds.output, tokens: usage?.outputTokens ?? 0n, picos: price?.outputPicos ?? 0n },
    { name: kinds.reasoning, tokens: usage?.reasoningTokens ?? 0n, picos: price?.reasoningPicos ?? 0n },
    { name: kinds.audioOut, tokens: usage?.audioOutputTokens ?? 0n, picos: price?.audioOutputPicos ?? 0n },
  ];
  const isShown = ({ name, tokens }: Tokens): boolean =>
    tokens > 0n || (price?.tokensUnpriced !== true && (name === kinds.input || name === kinds.output));
  const tokens = rows
    .filter(isShown)
    .map(({ name, tokens, picos }) => ({ name, tokens, price: pricePerMillion(picos) }));
  const shown = [...tokens, ...(usage?.meters ?? []).map((meter) => rowOfMeter(meter, price))];
  return <Table label={requestWords.tokensTitle} columns={COLUMNS} rows={shown} keyOf={({ name }) => name} />;
}

const COLUMNS: readonly Column<Kind>[] = [
  { name: requestWords.kind, cell: ({ name }) => name },
  { name: requestWords.count, cell: ({ tokens }) => count(tokens), isNumber: true },
  { name: requestWords.price, cell: ({ price }) => price, isNumber: true },
];
