/** What a month's requests cost by day, model and key, the newest day first, each day with its sum. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { summarizeUsage, type UsageSummary } from "../../gen/console/usage_service.js";
import { ask } from "../api/queries.ts";
import { summaryWords } from "../copy/en-billing.ts";
import { count, utcDay } from "../format.ts";
import { type KeyNames, useKeyNames } from "../keys/key-names.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Money } from "../parts/money.tsx";
import { KeyLink } from "../parts/named-links.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useSignedIn } from "../shell/session.ts";

/** The most that the server answers at once. */
const ROWS_MAX = 1_000;
const HEIGHT = 200;

interface Line {
  readonly day: string;
  /** Empty in the sum of a day. */
  readonly model: string;
  readonly keyId: string;
  readonly requestCount: bigint;
  readonly costNanos: bigint;
}

export interface SummaryParts {
  readonly fromDay: string;
  readonly toDay: string;
}

export function Summary(days: SummaryParts): ReactNode {
  const { account } = useSignedIn();
  const answer = useQuery(ask(summarizeUsage, { accountId: account, ...days, pageSize: ROWS_MAX }, account));
  return (
    <section className="stack">
      <h3>{summaryWords.title}</h3>
      <Loaded of={answer} what={summaryWords.title} height={HEIGHT}>
        {({ summaries, nextPageToken }) => (
          <>
            <Days summaries={summaries} />
            {nextPageToken !== "" && <p className="notice">{summaryWords.cut(count(ROWS_MAX))}</p>}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Days({ summaries }: { readonly summaries: readonly UsageSummary[] }): ReactNode {
  // Names of keys are one more question to the server, which only those who look for a key need.
  const [isByKey, setByKey] = useState(false);
  const names = useKeyNames(
    summaries.map(({ keyId }) => keyId),
    { areKnown: isByKey },
  );
  if (names === undefined) return <Waiting height={HEIGHT} />;
  if (summaries.length === 0) return <p className="soft">{summaryWords.none}</p>;
  const keyOf = ({ day, model, keyId }: Line): string => JSON.stringify([day, model, keyId]);
  const lines = isByKey ? summaries : byModel(summaries);
  return (
    <>
      <span className="no-print">
        <button className="button" type="button" aria-pressed={isByKey} onClick={() => setByKey(!isByKey)}>
          {summaryWords.byKey}
        </button>
      </span>
      <Table
        label={summaryWords.title}
        columns={columnsOf(names).filter(({ name }) => isByKey || name !== summaryWords.key)}
        rows={linesOf(lines)}
        keyOf={keyOf}
        isWhole
      />
    </>
  );
}

/** The same without keys: one line a day and model. */
function byModel(lines: readonly Line[]): readonly Line[] {
  const sums = new Map<string, Line>();
  for (const { day, model, requestCount, costNanos } of lines) {
    const name = JSON.stringify([day, model]);
    const { requestCount: requests, costNanos: cost } = sums.get(name) ?? { requestCount: 0n, costNanos: 0n };
    sums.set(name, { day, model, keyId: "", requestCount: requests + requestCount, costNanos: cost + costNanos });
  }
  return [...sums.values()];
}

/** Each day's sum, and below it what it consists of, the most expensive first. */
function linesOf(summaries: readonly Line[]): readonly Line[] {
  const days = [...new Set(summaries.map(({ day }) => day))].toSorted().toReversed();
  return days.flatMap((day) => {
    const lines = summaries.filter((one) => one.day === day);
    const requestCount = lines.reduce((sum, one) => sum + one.requestCount, 0n);
    const costNanos = lines.reduce((sum, one) => sum + one.costNanos, 0n);
    const sum: Line = { day, model: "", keyId: "", requestCount, costNanos };
    return [sum].concat(lines.toSorted((one, other) => Number(other.costNanos - one.costNanos)));
  });
}

const isSum = ({ model, keyId }: Line): boolean => model === "" && keyId === "";

const columnsOf = (names: KeyNames): readonly Column<Line>[] => [
  { name: summaryWords.day, cell: (line) => (isSum(line) ? <strong>{utcDay(line.day)}</strong> : "") },
  { name: summaryWords.model, cell: ({ model }) => model },
  { name: summaryWords.key, cell: ({ keyId }) => <KeyLink id={keyId} name={names.get(keyId)} /> },
  { name: summaryWords.requests, cell: ({ requestCount }) => count(requestCount), isNumber: true, isExtra: true },
  {
    name: summaryWords.cost,
    cell: (line) =>
      isSum(line) ? (
        <strong>
          <Money nanos={line.costNanos} isAligned />
        </strong>
      ) : (
        <Money nanos={line.costNanos} isAligned />
      ),
    isNumber: true,
  },
];
