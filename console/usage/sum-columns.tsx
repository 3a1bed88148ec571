/** The columns of the table of usage. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { metersWords } from "../../src/api/meters.ts";
import { usageWords } from "../copy/en-usage.ts";
import { count, money, percent } from "../format.ts";
import { Money } from "../parts/money.tsx";
import { OTHERS } from "../parts/series.ts";
import type { Column } from "../parts/table.tsx";
import type { RequestSearch } from "../search.ts";
import type { UsageGroup } from "../states.ts";
import { type Before, type Group } from "./groups.ts";
import type { NameOf } from "./names.ts";

/** Only where something was sold by another unit. */
const METERS: Column<Group> = { name: usageWords.meters, cell: ({ meters }) => metersWords(meters), isExtra: true };

export interface ColumnParts {
  readonly by: readonly UsageGroup[];
  readonly nameOf: NameOf;
  readonly total: Group;
  readonly only: (names: readonly string[]) => RequestSearch;
  readonly before: Before | undefined;
}

export function columnsOf(parts: ColumnParts): readonly Column<Group>[] {
  const { by, nameOf, total, only, before } = parts;
  const named = by.map((group, index): Column<Group> => ({
    name: usageWords.groups[group],
    cell: (row) => {
      const value = row.names[index] ?? "";
      if (row === total) return <strong>{value}</strong>;
      return value === OTHERS ? <em>{usageWords.others}</em> : nameOf(group, value);
    },
  }));
  const requests = (row: Group): ReactNode => {
    const search = row === total ? {} : only(row.names);
    const text = count(row.requestCount);
    if (Object.keys(search).length === 0) return text;
    return (
      <Link to="/requests" search={search}>
        {text}
      </Link>
    );
  };
  return [
    ...named,
    { name: usageWords.requests, cell: requests, isNumber: true, isExtra: true },
    { name: usageWords.failed, cell: ({ failedCount }) => count(failedCount), isNumber: true, isExtra: true },
    { name: usageWords.input, cell: ({ inputTokens }) => count(inputTokens), isNumber: true, isExtra: true },
    { name: usageWords.output, cell: ({ outputTokens }) => count(outputTokens), isNumber: true, isExtra: true },
    ...(total.meters.length === 0 ? [] : [METERS]),
    ...(before === undefined ? [] : compared(before, total)),
    { name: usageWords.cost, cell: ({ costNanos }) => <Money nanos={costNanos} isAligned />, isNumber: true },
  ];
}

function compared(before: Before, total: Group): readonly Column<Group>[] {
  const earlier = (row: Group): bigint => (row === total ? before.totalNanos : before.costOf(row.names));
  return [
    { name: usageWords.before, cell: (row) => money(earlier(row)), isNumber: true },
    { name: usageWords.change, cell: (row) => changeText(earlier(row), row.costNanos), isNumber: true },
  ];
}

function changeText(before: bigint, after: bigint): string {
  if (before === 0n) return after === 0n ? "–" : usageWords.isNew;
  const share = Number(after - before) / Number(before);
  return `${share > 0 ? "+" : share < 0 ? "−" : ""}${percent(Math.abs(share))}`;
}
