/** The order of a call through the core: a list of links, each of which refuses, waits, or lets the call go on. */
import type { CallMetadata, CallSink, Sink } from "../../api/channel.js";
import type { MethodPermission } from "../../api/descriptors.js";
import { InferenceServiceService } from "../../api/index.js";
import type { Caller } from "../../keys/caller.js";
import type { RequestRecord } from "../../records/request-record.js";
import { clientAddress, FRONT_HEADER, isFront } from "./client-address.js";
import { Admitted } from "./admitted.js";
import type { Authentication } from "./authentication.js";
import { checkedFor } from "./begins-request.js";
import { auditedCall, type CallAudit, NO_ACT } from "./call-audit.js";
import type { CoreParts } from "./core.js";
import type { ServiceCall, StreamHandler, UnaryHandler } from "./handler.js";
import type { Head } from "./head.js";
import type { Lifetime } from "./lifetime.js";
import { requirePermission } from "./permission.js";
import { requirePlainText } from "./plain-text.js";
import { replayed } from "./replayed.js";
import { RateLimiter } from "./rate-limiter.js";
import { ConcurrencyLimiter } from "./concurrency-limiter.js";
import { isOfFront, type OpenRoute, type PermissionOf } from "./route.js";
import type { ServerCall } from "./server-call.js";

/** Who answers a call, and where to: a method has one answer, or pushes them. */
export type Answering<Out extends Sink<unknown> = Sink<unknown>> =
  | { readonly handler: UnaryHandler<unknown, unknown>; readonly sink: undefined }
  | { readonly handler: StreamHandler<unknown, unknown>; readonly sink: Out };

/** A call whose method is known, and that can be ended. */
export type ArrivedCall = Answering<CallSink<unknown>> & {
  readonly route: OpenRoute;
  readonly request: unknown;
  readonly call: ServerCall;
  readonly head: Head;
  readonly record: RequestRecord | undefined;
  readonly lifetime: Lifetime;
};

/** A call that its caller may make. */
export type PermittedCall = Answering<CallSink<unknown>> & {
  readonly route: OpenRoute;
  readonly request: unknown;
  readonly service: ServiceCall;
};

export interface ChainParts {
  readonly core: CoreParts;
  readonly authentication: Authentication;
  readonly audit: CallAudit;
  readonly permissionOf: PermissionOf;
}

/**
 * The dispatcher is around it: it gives the call its deadline before, and after it logs and records what was refused.
 * What an edge decides before it reads a message (credential, permission, sizes, limits of long bodies) is in
 * `gate.ts`, by the same rules.
 */
export class CallChain {
  readonly #concurrency = new ConcurrencyLimiter();
  readonly #rates = new RateLimiter(() => performance.now());

  constructor(private readonly parts: ChainParts) {}

  /** Each link looks at the call and returns, so that only this list stands between a call and its handler. */
  async run(arrived: ArrivedCall): Promise<unknown> {
    const { core, authentication } = this.parts;
    // A deadline that passed, or a caller who left, begins nothing.
    arrived.lifetime.signal.throwIfAborted();
    for (let lookups = 1; ; lookups += 1) {
      let caller: Caller | undefined;
      let leave: (() => void) | undefined;
      try {
        // Unauthenticated callers get only 401.
        const entering = authentication.enter(arrived);
        // A caller who is known begins in this very turn, so that no change of it comes between.
        caller = entering instanceof Promise ? await entering : entering;
        // Whether this caller may do it at all, from there, before anything is looked up or written for it.
        const service = this.#permitted(arrived, caller);
        const { route, request, handler, sink } = arrived;
        if (isUncounted(arrived.route, service, core.frontTokens)) {
          // What no limit of a key counts is shared out, before anything is looked up for it.
          leave = this.#concurrency.enter(route.stream === undefined ? "calls" : "streams", caller);
          // Nor may it come too often. Whoever found no room has used nothing of that.
          this.#rates.take(route.path, route.isChange ? "changes" : "calls", caller);
        }
        // An answer that is there already takes nothing of limits and money, so it comes before they are asked.
        if (core.replays?.wants(route.path, service.metadata) === true)
          return await replayed(core.replays, { ...arrived, service });
        // The handler asks limits and money itself, once it knows the model.
        return await (sink === undefined ? handler(request, service) : handler(request, service, sink));
      } catch (error) {
        if (!(await authentication.wasOutdated(error, arrived, caller, lookups))) throw error;
      } finally {
        leave?.();
      }
    }
  }

  /** A front end's look at a caller needs a person where the method behind it does. */
  #needed({ path, permission }: OpenRoute, request: unknown): MethodPermission {
    const behind = checkedFor(path, request);
    if (behind === undefined) return permission;
    return { ...permission, user: this.parts.permissionOf(behind)?.user === true };
  }

  #permitted({ route, request, call, head, record, lifetime }: ArrivedCall, caller: Caller): ServiceCall {
    const { core, audit } = this.parts;
    const { signal, endMs: callerEndMs } = lifetime;
    const { metadata, local, admission } = call;
    const admitted = admission instanceof Admitted ? admission : undefined;
    const told = admitted?.address;
    const address = told ?? clientAddress(call, core.frontTokens, core.proxies);
    head.caller = caller;
    head.address = address;
    record?.askedBy(caller, address);
    // A request's key is used when it ends; a key that only manages is used as well.
    if (!route.beginsRequest && caller.user === undefined) core.keyUses?.used(caller.keyId, core.nowMs());
    requirePermission(this.#needed(route, request), caller, address);
    // What changed since the caller was known ended the call through its lifetime.
    signal.throwIfAborted();
    if (route.isChange) {
      head.act = audit.actOf(auditedCall(route.path, call, core.frontTokens), head);
      requirePlainText(request);
    }
    const act = head.act ?? NO_ACT;
    const { requestId } = head;
    const answerHead = (answered: CallMetadata): void => head.head(answered);
    const decision = route.beginsRequest ? admitted?.takeDecision(caller, core.keys.changeCount) : undefined;
    return {
      caller,
      requestId,
      address,
      metadata,
      local,
      signal,
      callerEndMs,
      record,
      decision,
      act,
      head: answerHead,
    };
  }
}

/**
 * True of what no limit of a key counts. Requests have limits of their own, and whoever lost an answer may read on at
 * once. So have those who show nothing, and what a front end of ours asks for.
 */
function isUncounted(route: OpenRoute, service: ServiceCall, frontTokens: readonly string[]): boolean {
  const isOurs = isOfFront(route.path) && (service.local || isFront(service.metadata[FRONT_HEADER], frontTokens));
  const isOfRequest = route.beginsRequest || route.path === InferenceServiceService.resumeStream.path;
  return !isOurs && !isOfRequest && route.permission.open !== true;
}
