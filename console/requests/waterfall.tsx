/** The attempts of a request over time, as bars and in the same table for who cannot see them. */
import type { ReactNode } from "react";
import type { Attempt, RequestRecord } from "../../gen/console/usage_service.js";
import { requestWords } from "../copy/en-requests.ts";
import { milliseconds } from "../format.ts";

const BAR = 100;

export function Waterfall({ request }: { readonly request: RequestRecord }): ReactNode {
  const { attemptLog, createTime, endTime } = request;
  if (attemptLog.length === 0) return <p className="soft">{requestWords.noAttempts}</p>;
  const tookMs = createTime === undefined || endTime === undefined ? 0 : endTime.getTime() - createTime.getTime();
  const lastMs = attemptLog.reduce((most, attempt) => Math.max(most, endOf(attempt)), tookMs);
  return (
    <div className="table-scroll" role="region" aria-label={requestWords.attempts} tabIndex={0}>
      <table>
        <caption className="hidden-text">{requestWords.attemptsAbout}</caption>
        <thead>
          <tr>
            <th scope="col">{requestWords.attempt}</th>
            <th scope="col">{requestWords.at}</th>
            <th scope="col">{requestWords.outcome}</th>
            <th scope="col" className="waterfall-head wide-only">
              <span className="hidden-text">{requestWords.attemptsAbout}</span>
            </th>
            <th scope="col" className="number wide-only">
              {requestWords.start}
            </th>
            <th scope="col" className="number wide-only">
              {requestWords.firstPart}
            </th>
            <th scope="col" className="number">
              {requestWords.took}
            </th>
          </tr>
        </thead>
        <tbody>
          {attemptLog.map((attempt) => (
            <Row key={attempt.number} attempt={attempt} lastMs={Math.max(lastMs, 1)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ attempt, lastMs }: { readonly attempt: Attempt; readonly lastMs: number }): ReactNode {
  const { number, upstream, upstreamModel, end, errorReason, httpStatus } = attempt;
  const { startMs, durationMs, firstBatchMs, failureMessage } = attempt;
  const failure = [errorReason, httpStatus === undefined ? undefined : `HTTP ${httpStatus}`].filter(Boolean).join(", ");
  return (
    <tr>
      <th scope="row">{number}</th>
      <td>
        {upstream} {upstreamModel !== "" && <small className="soft">{upstreamModel}</small>}
      </td>
      <td>
        <span className={end === "failed" ? "tag bad" : end === "answered" ? "tag good" : "tag"}>
          {requestWords.ends[end]}
        </span>{" "}
        {end === "failed" && <small className="soft">{failure}</small>}
        {failureMessage !== "" && <small className="soft">{failureMessage}</small>}
      </td>
      <td className="waterfall wide-only" aria-hidden="true">
        <svg viewBox={`0 0 ${BAR} 10`} preserveAspectRatio="none">
          <Bars attempt={attempt} lastMs={lastMs} />
        </svg>
      </td>
      <td className="number wide-only">{startMs === undefined ? "" : milliseconds(startMs)}</td>
      <td className="number wide-only">{firstBatchMs === undefined ? "" : milliseconds(firstBatchMs)}</td>
      <td className="number">{durationMs === undefined ? "" : milliseconds(durationMs)}</td>
    </tr>
  );
}

/** Pale until the first part came, full from there. */
function Bars({ attempt, lastMs }: { readonly attempt: Attempt; readonly lastMs: number }): ReactNode {
  const at = (ms: number): number => (ms / lastMs) * BAR;
  const start = Number(attempt.startMs ?? 0n);
  const first = start + Number(attempt.firstBatchMs ?? attempt.durationMs ?? 0n);
  const end = endOf(attempt);
  const colour = attempt.end === "failed" ? "series-3" : "series-1";
  return (
    <g className={colour} fill="currentColor">
      <rect x={at(start)} y="1" width={Math.max(at(end - start), 0.5)} height="8" opacity="0.35" />
      <rect x={at(first)} y="1" width={Math.max(at(end - first), 0)} height="8" />
    </g>
  );
}

function endOf({ startMs = 0n, durationMs = 0n }: Attempt): number {
  return Number(startMs + durationMs);
}
