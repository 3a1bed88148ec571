/** The columns of the table of traffic. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Percentiles, UsageSum } from "../../gen/console/usage_service.js";
import { trafficWords } from "../copy/en-traffic.ts";
import { count, milliseconds } from "../format.ts";
import { Money } from "../parts/money.tsx";
import { OTHERS } from "../parts/series.ts";
import type { Column } from "../parts/table.tsx";
import type { Times } from "../parts/times.ts";
import type { RequestSearch } from "../search.ts";
import type { TrafficGroup } from "../states.ts";
import { errorShare, shareText, speedOf } from "../usage/measures.ts";
import { perSecond } from "./traffic-figures.tsx";

export interface TrafficColumnParts {
  readonly by: TrafficGroup;
  readonly nameOf: (value: string) => string;
  readonly lengthMs: number;
  readonly times: Pick<Times, "asked">;
}

type TrafficSearch = RequestSearch & { readonly account_id?: string };

/** The filter of all requests that leaves those of one value; undefined if there is none. */
export function requestsOf(by: TrafficGroup, value: string): TrafficSearch | undefined {
  if (value === "" || value === OTHERS || by === "node") return undefined;
  return by === "account" ? { account_id: value } : { [by]: value };
}

export function trafficColumns({ by, nameOf, lengthMs, times }: TrafficColumnParts): readonly Column<UsageSum>[] {
  const { startTime, endTime } = times.asked;
  const period = { from: minute(startTime), ...(endTime && { to: minute(endTime) }) };
  const requests = ({ values, requestCount }: UsageSum): ReactNode => {
    const only = requestsOf(by, values[0] ?? "");
    if (only === undefined) return count(requestCount);
    return (
      <Link to="/admin/requests" search={{ ...period, ...only }}>
        {count(requestCount)}
      </Link>
    );
  };
  return [
    { name: trafficWords.groups[by], cell: ({ values }) => <Named by={by} value={values[0] ?? ""} nameOf={nameOf} /> },
    { name: trafficWords.requests, cell: requests, isNumber: true },
    { name: trafficWords.rate, cell: (sum) => perSecond(sum.requestCount, lengthMs), isNumber: true, isExtra: true },
    { name: trafficWords.errors, cell: (sum) => shareText(errorShare(sum)), isNumber: true },
    ...times3(trafficWords.firstP, ({ firstToken }) => firstToken),
    ...times3(trafficWords.totalP, ({ total }) => total),
    { name: trafficWords.speed, cell: speedText, isNumber: true, isExtra: true },
    { name: trafficWords.spend, cell: (sum) => <Money nanos={sum.costNanos} />, isNumber: true },
    {
      name: trafficWords.cost,
      cell: (sum) => <Money nanos={sum.operatorCostNanos ?? 0n} />,
      isNumber: true,
      isExtra: true,
    },
    {
      name: trafficWords.margin,
      cell: (sum) => <Money nanos={sum.marginNanos ?? 0n} />,
      isNumber: true,
      isExtra: true,
    },
  ];
}

function times3(
  name: (share: string) => string,
  of: (sum: UsageSum) => Percentiles | undefined,
): readonly Column<UsageSum>[] {
  const column = (share: string, value: (times: Percentiles) => number): Column<UsageSum> => ({
    name: name(share),
    cell: (sum) => {
      const times = of(sum);
      return times === undefined ? "–" : milliseconds(value(times));
    },
    isNumber: true,
    isExtra: true,
  });
  return [
    column("p50", ({ p50Ms }) => p50Ms),
    column("p95", ({ p95Ms }) => p95Ms),
    column("p99", ({ p99Ms }) => p99Ms),
  ];
}

function speedText(sum: UsageSum): string {
  const speed = speedOf(sum);
  return speed === 0 ? "–" : speed.toFixed(1);
}

interface NamedParts {
  readonly by: TrafficGroup;
  readonly value: string;
  readonly nameOf: (value: string) => string;
}

/** What has a page leads there. */
function Named({ by, value, nameOf }: NamedParts): ReactNode {
  if (value === OTHERS) return <em>{trafficWords.others}</em>;
  const name = nameOf(value);
  if (value === "") return name;
  switch (by) {
    case "upstream":
      return (
        <Link to="/admin/upstreams/$id" params={{ id: value }}>
          {name}
        </Link>
      );
    case "account":
      return (
        <Link to="/admin/accounts/$id" params={{ id: value }}>
          {name}
        </Link>
      );
    case "key":
      return (
        <Link to="/keys/$id" params={{ id: value }}>
          {name}
        </Link>
      );
    case "node":
      return <code className="id">{name}</code>;
    default:
      return name;
  }
}

function minute(time: Date): string {
  return `${time.toISOString().slice(0, 16)}Z`;
}
