/** The tokens of a request by kind, each at the price that the request was admitted at. */
import type { ReactNode } from "react";
import type { RequestRecord } from "../../gen/console/usage_service.js";
import { requestWords } from "../copy/en-requests.ts";
import { count, pricePerMillion } from "../format.ts";
import { type Column, Table } from "../parts/table.tsx";

interface Kind {
  readonly name: string;
  readonly tokens: bigint;
  readonly picos: bigint;
}

export function TokenTable({ request: { usage, price } }: { readonly request: RequestRecord }): ReactNode {
  const { kinds } = requestWords;
  const rows: readonly Kind[] = [
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
  const shown = rows.filter(({ name, tokens }) => tokens > 0n || name === kinds.input || name === kinds.output);
  return <Table label={requestWords.tokensTitle} columns={COLUMNS} rows={shown} keyOf={({ name }) => name} />;
}

const COLUMNS: readonly Column<Kind>[] = [
  { name: requestWords.kind, cell: ({ name }) => name },
  { name: requestWords.count, cell: ({ tokens }) => count(tokens), isNumber: true },
  { name: requestWords.price, cell: ({ picos }) => pricePerMillion(picos), isNumber: true },
];
