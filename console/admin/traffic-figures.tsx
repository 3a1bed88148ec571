/** The figures at the head of the page of traffic. */
import type { ReactNode } from "react";
import type { UsageSum } from "../../gen/console/usage_service.js";
import { trafficWords } from "../copy/en-traffic.ts";
import { roughCount } from "../format.ts";
import { Money } from "../parts/money.tsx";
import { sumOf } from "../parts/series.ts";
import { inputOf, outputOf } from "../requests/tokens.ts";
import { errorShare, failedOf, shareText, speedOf } from "../usage/measures.ts";

export interface TrafficFiguresParts {
  readonly sums: readonly UsageSum[];
  readonly lengthMs: number;
}

export function TrafficFigures({ sums, lengthMs }: TrafficFiguresParts): ReactNode {
  const requestCount = sumOf(sums, (sum) => sum.requestCount);
  const failed = sumOf(sums, failedOf);
  const share = errorShare({ requestCount, errors: { all: failed } });
  const tokens = sumOf(sums, ({ usage }) => inputOf(usage) + outputOf(usage));
  const streamedMs = sums.reduce((sum, one) => sum + one.streamedMs, 0);
  const speed = speedOf({ streamedTokens: sumOf(sums, (sum) => sum.streamedTokens), streamedMs });
  return (
    <dl className="figures">
      <Figure name={trafficWords.rate} note={`${roughCount(requestCount)} ${trafficWords.requests.toLowerCase()}`}>
        {perSecond(requestCount, lengthMs)}
      </Figure>
      <Figure name={trafficWords.errors} note={`${roughCount(failed)} of ${roughCount(requestCount)}`}>
        {shareText(share)}
      </Figure>
      <Figure name={trafficWords.tokens} note={`${trafficWords.speed}: ${speed.toFixed(1)}`}>
        {perSecond(tokens, lengthMs)}
      </Figure>
      <Figure name={trafficWords.spend}>
        <Money nanos={sumOf(sums, (sum) => sum.costNanos)} />
      </Figure>
      <Figure name={trafficWords.cost}>
        <Money nanos={sumOf(sums, (sum) => sum.operatorCostNanos ?? 0n)} />
      </Figure>
      <Figure name={trafficWords.margin}>
        <Money nanos={sumOf(sums, (sum) => sum.marginNanos ?? 0n)} />
      </Figure>
    </dl>
  );
}

interface FigureParts {
  readonly name: string;
  readonly note?: string;
  readonly children: ReactNode;
}

function Figure({ name, note, children }: FigureParts): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="figure">{children}</dd>
      {note !== undefined && <dd className="note">{note}</dd>}
    </div>
  );
}

/** Below one a second two digits count. */
export function perSecond(total: bigint, lengthMs: number): string {
  const rate = Number(total) / (lengthMs / 1_000);
  if (rate === 0) return "0";
  return rate < 1 ? rate.toPrecision(2) : roughCount(rate);
}
