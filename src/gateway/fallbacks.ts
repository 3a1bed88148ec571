/** Which models may answer a request in place of the one that it names, and after which failures. */
import { FALLBACKS_MAX } from "../base/fallback.js";
import { GatewayError, type ReasonName } from "../base/errors.js";
import type { Caller } from "../keys/caller.js";
import type { ServedModel } from "../routing/model.js";
import type { Routing } from "../routing/routing.js";

/** Failures of a model's upstreams, and not of the request: another model may answer it. */
const OF_UPSTREAMS: ReadonlySet<ReasonName> = new Set([
  "ERROR_REASON_UPSTREAM_FAILED",
  "ERROR_REASON_UPSTREAM_UNAVAILABLE",
  "ERROR_REASON_UPSTREAM_TIMEOUT",
  "ERROR_REASON_UPSTREAM_RATE_LIMITED",
  "ERROR_REASON_UPSTREAM_FULL",
  "ERROR_REASON_UPSTREAM_CREDENTIAL",
]);

/**
 * The fallback models of one request, in the order in which they are tried. They are the models as they were when the
 * request was admitted, at the prices of that moment.
 */
export class Fallbacks {
  readonly #left: readonly ServedModel[];
  /** Takes a request that is too long for the model that was asked for; empty if no model does. */
  readonly #larger: readonly ServedModel[];
  /** The model that was asked for, and those that were tried since. */
  readonly #tried: Set<string>;
  #first: GatewayError | undefined;

  /** `named`: the models that the request names itself; they come before those of the settings. */
  constructor(asked: ServedModel, named: readonly string[], caller: Caller, routing: Pick<Routing, "find">) {
    const modelsOf = (names: readonly string[]): readonly ServedModel[] =>
      names.map((name) => modelOf(name, caller, routing)).filter((model) => model !== undefined);
    this.#left = modelsOf([...named, ...(asked.fallbacks ?? [])]);
    this.#larger = modelsOf(asked.onContext === undefined ? [] : [asked.onContext]);
    this.#tried = new Set([asked.id]);
  }

  /** How many models were tried so far, whether they had a turn or not. */
  get tried(): number {
    return this.#tried.size - 1;
  }

  /** True while another model may answer if the upstreams of the present one fail. */
  get hasNext(): boolean {
    return this.tried < FALLBACKS_MAX && this.#left.some(({ id }) => !this.#tried.has(id));
  }

  /** The model to try after this failure, each model once; undefined if no other model may answer. */
  after(failure: GatewayError): ServedModel | undefined {
    const isOfUpstreams = OF_UPSTREAMS.has(failure.reason);
    if (isOfUpstreams) this.#first ??= failure;
    const isTooLong = failure.reason === "ERROR_REASON_CONTEXT_TOO_LONG";
    const list = isOfUpstreams ? this.#left : isTooLong ? this.#larger : [];
    const next = this.tried < FALLBACKS_MAX ? list.find(({ id }) => !this.#tried.has(id)) : undefined;
    if (next !== undefined) this.#tried.add(next.id);
    return next;
  }

  /** The failure that a client gets when the last model failed: why the model that it named failed. */
  reported(failure: GatewayError): GatewayError {
    return this.#first ?? failure;
  }
}

/** Undefined if there is no such model, or the caller may not use it. */
function modelOf(name: string, caller: Caller, routing: Pick<Routing, "find">): ServedModel | undefined {
  try {
    return routing.find(name, caller);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
