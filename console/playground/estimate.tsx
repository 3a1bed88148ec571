/** What the next message may cost, and whether it would be refused, said before it is sent. */
import { keepPreviousData, useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type EstimateCostResponse, estimateCost } from "../../gen/console/inference_service.js";
import { callWith } from "../api/client.ts";
import { playgroundWords } from "../copy/en-playground.ts";
import { Problem } from "../parts/problem.tsx";
import { useSettled } from "../parts/settled.ts";
import { useSignedIn } from "../shell/session.ts";
import { bodyOf } from "./chat.ts";
import { requestOf, type Settings } from "./parameters.ts";
import { type Exchange, type Message, turnsOf } from "./use-talk.ts";

/** Stands for a message while none is typed, so that a refusal is known before. */
const ANY_TEXT = "Hello.";

export interface Estimated {
  readonly model: string;
  readonly data: EstimateCostResponse | undefined;
  /** The estimate itself was refused or not reached. */
  readonly error: unknown;
}

export function useEstimates(
  models: readonly string[],
  exchanges: readonly Exchange[],
  { text, attachments }: Message,
  settings: Settings,
): readonly Estimated[] {
  const { account, isReader } = useSignedIn();
  const typed = useSettled(text);
  const next: Exchange = { text: typed.trim() === "" ? ANY_TEXT : typed, attachments, answers: [] };
  const estimates = useQueries({
    queries: models.map((model, column) => {
      const body = bodyOf(requestOf(model, turnsOf([...exchanges, next], column, settings.system), settings));
      return {
        queryKey: [estimateCost.name, account, body],
        // Not aborted where the text changes: a call that its client leaves is listed as a request that failed.
        queryFn: () => callWith(estimateCost, body, { account }),
        enabled: !isReader,
        placeholderData: keepPreviousData,
        retry: false,
      };
    }),
  });
  return estimates.map(({ data, error }, index) => ({ model: models[index] ?? "", data, error }));
}

/** True where no model would take even a short message. */
export function isBarred(estimates: readonly Estimated[]): boolean {
  return estimates.every(({ data, error }) => error !== null || (data !== undefined && data.errorMessage !== ""));
}

/** Why no message can be sent, and what to do. */
export function Barred({ estimates }: { readonly estimates: readonly Estimated[] }): ReactNode {
  const { isReader } = useSignedIn();
  if (isReader)
    return (
      <div className="notice bad stack" role="alert">
        <strong>{playgroundWords.barred}</strong>
        <span>{playgroundWords.barredReader}</span>
      </div>
    );
  const [first] = estimates;
  if (first === undefined || first.error !== null)
    return <Problem error={first?.error} what={playgroundWords.barred} />;
  return (
    <div className="notice bad stack" role="alert">
      <strong>{playgroundWords.barred}</strong>
      {estimates.map(({ model, data }) => (
        <span key={model}>{data?.errorMessage}</span>
      ))}
      <span>{playgroundWords.barredWhat}</span>
      <span className="row">
        <Link to="/billing" className="button small">
          {playgroundWords.seeBilling}
        </Link>
        <Link to="/models" className="button small">
          {playgroundWords.seeModels}
        </Link>
      </span>
    </div>
  );
}

export function Estimate({ estimates }: { readonly estimates: readonly Estimated[] }): ReactNode {
  return (
    <p className="soft estimate" role="status">
      {estimates.map((estimated, index) => (
        <span key={index}>{sentenceOf(estimated)}</span>
      ))}
    </p>
  );
}

function sentenceOf({ model, data, error }: Estimated): string {
  if (error instanceof Error) return `${playgroundWords.refusedBefore(model)} ${error.message}`;
  if (data === undefined) return "";
  const { errorMessage, expectedRequestCount, expectedCostNanos, leastCostNanos, mostCostNanos } = data;
  if (errorMessage !== "") return `${playgroundWords.refusedBefore(model)} ${errorMessage}`;
  if (mostCostNanos === 0n) return playgroundWords.estimateFree(model);
  const most = shortMoney(mostCostNanos);
  return expectedRequestCount > 0n
    ? playgroundWords.estimateAbout(model, shortMoney(expectedCostNanos), most)
    : playgroundWords.estimate(model, shortMoney(leastCostNanos), most);
}

const CENTS = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 2 });
const DOLLARS = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const NANOS_PER_CENT = 1e7;

/** An estimate needs no more than two digits. A part of a cent is said in cents: few people read $0.000613. */
function shortMoney(nanos: bigint): string {
  const cents = Number(nanos) / NANOS_PER_CENT;
  if (cents >= 10) return DOLLARS.format(cents / 100);
  if (cents < 0.01) return playgroundWords.underCent;
  return playgroundWords.cents(CENTS.format(cents), cents);
}
