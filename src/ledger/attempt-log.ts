/** How each attempt of a request went, and the short text that is kept of it with the request's usage. */
import { z } from "zod";

/** One try of one upstream. */
export interface Attempt {
  readonly upstream: string;
  /** The model as the upstream was asked for it. */
  readonly model: string;
  /** The name of the ErrorReason that it failed with; empty where it answered. */
  readonly reason: string;
  /** The HTTP status that the upstream sent; 0 where none came. */
  readonly status: number;
  /** When it began, after the request. */
  readonly startMs: number;
  readonly durationMs: number;
  /** When the first batch for the caller came, after the attempt began; null where none did. */
  readonly firstBatchMs: number | null;
}

/** What the record of a request says beside its log: a name that stands there is empty in the log. */
export type Recorded = Pick<Attempt, "upstream" | "model">;

/** What one log keeps at most: far more attempts than a request may make, and the names that settings may give. */
const ATTEMPTS_MAX = 16;
const CHARACTERS_MAX = 256;

const text = z.string().max(CHARACTERS_MAX);
const whole = z.int().min(0);
const LOG = z.array(z.tuple([text, text, text, whole, whole, whole, whole.nullable()])).max(ATTEMPTS_MAX);

/** The attempts as a list of lists, in JSON; empty where there are none. Nearly all logs are of one that answered. */
export function encodeAttempts(attempts: readonly Attempt[], recorded: Recorded): string {
  if (attempts.length === 0) return "";
  const rows = attempts.slice(-ATTEMPTS_MAX).map((attempt) => {
    const { upstream, model, reason, status, startMs, durationMs, firstBatchMs } = attempt;
    const firstMs = firstBatchMs === null ? null : wholeMs(firstBatchMs);
    const asked = upstream === recorded.upstream ? "" : cut(upstream);
    const named = model === recorded.model ? "" : cut(model);
    return [asked, named, cut(reason), status, wholeMs(startMs), wholeMs(durationMs), firstMs];
  });
  return JSON.stringify(rows);
}

/** The attempts of a log; undefined where it is none of ours, as in a database that was changed. */
export function decodeAttempts(log: string, recorded: Recorded): readonly Attempt[] | undefined {
  if (log === "") return [];
  const rows = LOG.safeParse(parsed(log));
  return rows.data?.map(([upstream, model, reason, status, startMs, durationMs, firstBatchMs]) => ({
    upstream: upstream || recorded.upstream,
    model: model || recorded.model,
    reason,
    status,
    startMs,
    durationMs,
    firstBatchMs,
  }));
}

function cut(name: string): string {
  return name.slice(0, CHARACTERS_MAX);
}

function wholeMs(durationMs: number): number {
  return Math.max(0, Math.round(durationMs));
}

function parsed(log: string): unknown {
  try {
    return JSON.parse(log);
  } catch {
    return undefined;
  }
}
