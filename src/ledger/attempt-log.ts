/** How each attempt of a request went, and the short text in which that is stored with the request's usage. */
import { z } from "zod";

/** One attempt at one upstream. */
export interface Attempt {
  readonly upstream: string;
  /** The model name that was sent to the upstream. */
  readonly model: string;
  /** The name of the ErrorReason that it failed with; empty if it answered. */
  readonly reason: string;
  /** The HTTP status of the upstream; 0 if none arrived. */
  readonly status: number;
  /** When it began, in milliseconds after the request. */
  readonly startMs: number;
  readonly durationMs: number;
  /** When the first batch for the caller arrived, in milliseconds after the attempt began; null if none did. */
  readonly firstBatchMs: number | null;
  /** Why it failed, for operators; empty if it did not fail or the reason is unknown. */
  readonly failureMessage: string;
}

/** What the request's record already says: the same name is left empty in the log. */
export type Recorded = Pick<Attempt, "upstream" | "model">;

/** How the answer was served, as it reports: its price depends on this. */
export interface ServedAs {
  /** The model by the upstream's name; empty if the answer did not say, or named the requested one. */
  readonly model: string;
  /** As `serviceTierOf` returns it: empty for the standard tier. */
  readonly serviceTier: string;
  /** Calls of tools that the upstream ran. */
  readonly toolUses: readonly { readonly name: string; readonly calls: bigint }[];
}

/** Bounds of one log: far above the attempts of a request and the names that settings allow. */
const ATTEMPTS_MAX = 16;
const CHARACTERS_MAX = 256;
const TOOLS_MAX = 16;
const MESSAGE_CHARACTERS_MAX = 500;
const EMPTY = '""';

const text = z.string().max(CHARACTERS_MAX);
const whole = z.int().min(0);
const served = z.tuple([text, text, z.array(z.tuple([text, whole])).max(TOOLS_MAX)]);
const tried = [text, text, text, whole, whole, whole, whole.nullable()] as const;
/** The row of an attempt is followed by how its answer was served, and that by its failure message. */
const LOG = z
  .array(
    z.union([
      z.tuple([...tried]),
      z.tuple([...tried, served]),
      z.tuple([...tried, served.nullable(), z.string().max(MESSAGE_CHARACTERS_MAX)]),
    ]),
  )
  .max(ATTEMPTS_MAX);

/**
 * Encodes the attempts as a JSON list of lists; empty if there are none. Nearly all logs have one successful attempt.
 */
export function encodeAttempts(attempts: readonly Attempt[], recorded: Recorded, as?: ServedAs): string {
  const first = Math.max(0, attempts.length - ATTEMPTS_MAX);
  let rows = "";
  for (let place = first; place < attempts.length; place++) {
    const attempt = attempts[place];
    if (attempt === undefined) continue;
    rows += rowOf(attempt, recorded, place === attempts.length - 1 ? servedText(as) : "");
  }
  return rows === "" ? "" : `[${rows.slice(1)}]`;
}

/** A list after a comma, built by hand: most of it is numbers and empty names, and every request has one. */
function rowOf(attempt: Attempt, recorded: Recorded, served: string): string {
  const { upstream, model, reason, status, startMs, durationMs, firstBatchMs, failureMessage } = attempt;
  const asked = upstream === recorded.upstream ? EMPTY : quoted(upstream);
  const named = model === recorded.model ? EMPTY : quoted(model);
  const why = reason === "" ? EMPTY : quoted(reason);
  const firstMs = firstBatchMs === null ? "null" : wholeMs(firstBatchMs);
  const message = JSON.stringify(failureMessage.slice(0, MESSAGE_CHARACTERS_MAX));
  const told = failureMessage === "" ? served : `${served || ",null"},${message}`;
  return `,[${asked},${named},${why},${status},${wholeMs(startMs)},${wholeMs(durationMs)},${firstMs}${told}]`;
}

function servedText(as: ServedAs | undefined): string {
  if (as === undefined || (as.model === "" && as.serviceTier === "" && as.toolUses.length === 0)) return "";
  const uses = as.toolUses.slice(0, TOOLS_MAX).map(({ name, calls }) => [cut(name), Number(calls)]);
  return `,${JSON.stringify([cut(as.model), cut(as.serviceTier), uses])}`;
}

/** How the answer of a log was served; undefined if the log does not say. */
export function decodeServed(log: string, recorded: Recorded): ServedAs | undefined {
  const last = log === "" ? undefined : LOG.safeParse(parsed(log)).data?.at(-1);
  // Where an attempt failed, what it began is told all the same: somebody may have paid for it.
  if (last === undefined) return undefined;
  const [, asked, reason, , , , , told] = last;
  if (told === undefined || told === null)
    return reason === "" ? { model: asked || recorded.model, serviceTier: "", toolUses: [] } : undefined;
  const [model, serviceTier, uses] = told;
  const toolUses = uses.map(([name, calls]) => ({ name, calls: BigInt(calls) }));
  return { model: model || asked || recorded.model, serviceTier, toolUses };
}

/** The attempts of a log; undefined if it is not valid, as in a database that was modified. */
export function decodeAttempts(log: string, recorded: Recorded): readonly Attempt[] | undefined {
  if (log === "") return [];
  const rows = LOG.safeParse(parsed(log));
  return rows.data?.map(
    ([upstream, model, reason, status, startMs, durationMs, firstBatchMs, , failureMessage = ""]) => ({
      upstream: upstream || recorded.upstream,
      model: model || recorded.model,
      reason,
      status,
      startMs,
      durationMs,
      firstBatchMs,
      failureMessage,
    }),
  );
}

function quoted(name: string): string {
  return JSON.stringify(cut(name));
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
