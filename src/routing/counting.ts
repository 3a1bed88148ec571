/** Asks a model's own upstream how many tokens the input of a request has. */
import type { CancelSignal } from "../base/cancellation.js";
import { GatewayError } from "../base/errors.js";
import { type Counter, endpointFor } from "../families/family.js";
import type { UpstreamHandler } from "../upstream/upstream.js";
import { refuseHeld } from "../wire/request/held-objects.js";
import type { WireRequest } from "../wire/wire.js";
import type { ServedModel, Target } from "./model.js";
import type { TargetPermits } from "./permits.js";
import type { TargetLimiter } from "./target-limiter.js";
import { checkForeign, countedRequest } from "./upstream-request.js";

/** Questions that nobody pays for: as many at once, of one account and in all. Beyond them our own count is told. */
const OF_ACCOUNT_MAX = 8;
const OF_ALL_MAX = 128;

const COUNT_TIMEOUT_MS = 10_000;
const COUNT_BYTES_MAX = 64 * 1024;

/** The targets whose upstream counts. */
export function ableToCount({ targets }: ServedModel): readonly Target[] {
  return targets.filter(({ served }) => served.family.counter !== undefined);
}

export function canCount(model: ServedModel): boolean {
  return ableToCount(model).length > 0;
}

/** How many counts run, by account. */
export class CountsRunning {
  readonly #running = new Map<string, number>();
  #all = 0;

  /** False where there is no room. */
  enter(accountId: string): boolean {
    const running = this.#running.get(accountId) ?? 0;
    if (running >= OF_ACCOUNT_MAX || this.#all >= OF_ALL_MAX) return false;
    this.#running.set(accountId, running + 1);
    this.#all += 1;
    return true;
  }

  leave(accountId: string): void {
    const left = (this.#running.get(accountId) ?? 1) - 1;
    if (left === 0) this.#running.delete(accountId);
    else this.#running.set(accountId, left);
    this.#all -= 1;
  }
}

/** A count generates nothing. */
const NO_TOKENS = { tokens: 0 };

/** Counts within the limits of the target; undefined where it is full. */
export async function withinLimits<Count>(
  limiter: Pick<TargetLimiter, "enter">,
  target: Target,
  count: () => Promise<Count>,
): Promise<Count | undefined> {
  if (target.limits === undefined) return count();
  const entered = await limiter.enter(target, NO_TOKENS);
  if ("refusedBy" in entered) return undefined;
  return count().finally(() => entered.release());
}

/**
 * Throws PARAMETER_* where no target takes what the request names of an upstream's own: a count without it would be
 * another request's.
 */
export function checkCountable(request: WireRequest, { targets }: ServedModel): void {
  const { source, held, long } = request;
  if (held !== undefined) throw refuseHeld(held);
  const [target] = targets;
  if (source === undefined || long !== undefined || target === undefined) return;
  const isForeign = targets.every(
    ({ served }) => endpointFor(served.family, request, "chat").wire.name !== source.wire,
  );
  if (isForeign) checkForeign(request, target.model);
}

/**
 * The upstream's own count; undefined where its family does not count, or where it cannot be asked now. Rejects with
 * the upstream's refusal of the request itself.
 */
export async function countAtUpstream(
  request: WireRequest,
  target: Target,
  permits: TargetPermits,
  signal: CancelSignal,
): Promise<number | undefined> {
  const { family } = target.served;
  if (family.counter === undefined) return undefined;
  const body = await countBody(request, target, family.counter, permits);
  try {
    return await ask(request, body, target, family.counter, signal);
  } catch (error) {
    const isOfRequest = error instanceof GatewayError && error.http < 500 && error.http !== 429;
    if (isOfRequest) throw error;
    return undefined;
  }
}

/** What the upstream is asked with; a long body is written by the thread beside the event loop. */
function countBody(
  request: WireRequest,
  { served, model, facts }: Target,
  counter: Counter,
  permits: TargetPermits,
): Buffer | Promise<Buffer> {
  const { family } = served;
  if (request.long !== undefined) {
    const order = { family: family.name, kind: "chat", model, facts, owned: undefined, strict: false } as const;
    return request.long.write({ ...order, terms: permits.terms }, []);
  }
  return counter.encode(countedRequest(request, family, model, permits), model, facts);
}

function ask(
  request: WireRequest,
  body: Buffer,
  { served, model }: Target,
  counter: Counter,
  signal: CancelSignal,
): Promise<number> {
  const { family } = served;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let status = 0;
    let head: Readonly<Record<string, string>> = {};
    const end = (finish: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      finish();
    };
    const stop = (): void => {
      exchange.abort();
      end(() => reject(new Error("the count came too late")));
    };
    const handler: UpstreamHandler = {
      onHead: (code, told) => {
        status = code;
        head = told;
      },
      onData: (chunk) => {
        bytes += chunk.length;
        if (bytes <= COUNT_BYTES_MAX) chunks.push(chunk);
      },
      onEnd: () =>
        end(() => {
          const answer = Buffer.concat(chunks);
          try {
            if (status === 200) resolve(counter.read(answer));
            else reject(family.wire.decodeError(status, head, answer, family.refusals));
          } catch (error) {
            reject(new Error("the count cannot be read", { cause: error }));
          }
        }),
      onError: (error) => end(() => reject(new Error("the upstream cannot be reached", { cause: error }))),
    };
    const timer = setTimeout(stop, COUNT_TIMEOUT_MS);
    signal.addEventListener("abort", stop, { once: true });
    const headers = { ...served.headers, ...family.requestHeaders?.(request) };
    const exchange = served.upstream.send({ method: "POST", path: counter.path(model), headers, body }, handler);
  });
}
