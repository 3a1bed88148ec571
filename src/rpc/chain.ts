/** The order of a call through the core: a list of links, each of which refuses, waits, or runs the next one. */
import type { CallMetadata, CallSink, Sink } from "../api/channel.js";
import { InferenceServiceService } from "../api/index.js";
import type { Caller } from "../keys/caller.js";
import type { RequestRecord } from "../records/request-record.js";
import { clientAddress, FRONT_HEADER, isFront } from "./client-address.js";
import { Admitted } from "./admitted.js";
import type { Authentication } from "./authentication.js";
import { auditedCall, type CallAudit, NO_ACT } from "./call-audit.js";
import type { CoreParts } from "./core.js";
import type { ServiceCall } from "./handler.js";
import type { Head } from "./head.js";
import type { Lifetime } from "./lifetime.js";
import { requirePermission } from "./permission.js";
import { replayedOr } from "./replayed.js";
import { Paces } from "./paces.js";
import { Rooms } from "./rooms.js";
import { isOfFront, type OpenRoute } from "./route.js";
import type { RunningCalls } from "./running-calls.js";
import type { ServerCall } from "./server-call.js";

/** A call whose method is known. */
export interface ArrivedCall {
  readonly route: OpenRoute;
  readonly request: unknown;
  readonly call: ServerCall;
  readonly head: Head;
  /** Undefined where the method has one answer. */
  readonly sink: CallSink<unknown> | undefined;
  readonly record: RequestRecord | undefined;
}

/** A call that has a deadline and can be ended. */
export interface RunningCall {
  readonly arrived: ArrivedCall;
  readonly lifetime: Lifetime;
}

/** A call whose caller is known. */
export interface CallOfCaller extends RunningCall {
  readonly caller: Caller;
}

/** A call that its caller may make. */
export interface PermittedCall extends Pick<ArrivedCall, "route" | "request" | "sink"> {
  readonly service: ServiceCall;
}

/** What a handler gets: its answer goes to the caller, or to all who ask for the same. */
export interface ServedCall extends Omit<PermittedCall, "sink"> {
  readonly sink: Sink<unknown> | undefined;
}

/** May throw as well as reject. */
export type Step<Call> = (call: Call) => Promise<unknown>;
/** Gets the step behind it once, when the chain is built, so that a call costs no closures. */
export type Link<Call, Next> = (next: Step<Next>) => Step<Call>;

export interface ChainParts {
  readonly core: CoreParts;
  readonly running: RunningCalls;
  readonly authentication: Authentication;
  readonly audit: CallAudit;
}

/**
 * What is refused on the way is logged and recorded by the dispatcher, which is around it. What an edge decides before
 * it reads a message (credential, permission, sizes, limits of long bodies) is in `gate.ts`, by the same rules.
 */
export function callChain({ core, running, authentication, audit }: ChainParts): Step<ArrivedCall> {
  return (
    new Chain<ArrivedCall, ArrivedCall>((last) => last)
      // A process that stops begins nothing. What begins has its deadline from here on, and can be ended.
      .link<RunningCall>((next) => running.run(next))
      // All that follows is asked for somebody; strangers learn nothing but that they are.
      .link<CallOfCaller>((next) => authentication.enter(next))
      // Whether this caller may do it at all, from there, before anything is looked up or written for it.
      .link(permitted(core, audit))
      // What no limit of a key counts is shared out, before anything is looked up for it.
      .link(roomed(core.frontTokens))
      // Nor may it come too often. Whoever found no room has used nothing of that.
      .link(paced(core.frontTokens))
      // An answer that is there already takes nothing of limits and money, so it comes before they are asked.
      .link(replayedOr(core.replays))
      // The handler asks limits and money itself, once it knows the model.
      .end(handled)
  );
}

/** Links in order. */
class Chain<First, Last> {
  constructor(private readonly bind: (last: Step<Last>) => Step<First>) {}

  link<Next>(link: Link<Last, Next>): Chain<First, Next> {
    return new Chain((last) => this.bind(link(last)));
  }

  end(last: Step<Last>): Step<First> {
    return this.bind(last);
  }
}

function permitted(core: CoreParts, audit: CallAudit): Link<CallOfCaller, PermittedCall> {
  return (next) =>
    ({ arrived, lifetime, caller }) => {
      const { route, request, call, head, sink, record } = arrived;
      const { signal, endMs: callerEndMs } = lifetime;
      const { metadata, local, admission } = call;
      const told = admission instanceof Admitted ? admission.address : undefined;
      const address = told ?? clientAddress(call, core.frontTokens, core.proxies);
      head.caller = caller;
      head.address = address;
      record?.askedBy(caller, address);
      // A request's key is used when it ends; a key that only manages is used as well.
      if (!route.beginsRequest && caller.user === undefined) core.keyUses?.used(caller.keyId, core.nowMs());
      requirePermission(route.permission, caller, address);
      lifetime.caller = caller;
      // What changes from now on ends it through its lifetime.
      signal.throwIfAborted();
      if (route.isChange) head.act = audit.actOf(auditedCall(route.path, call, core.frontTokens), head);
      const act = head.act ?? NO_ACT;
      const { requestId } = head;
      const answerHead = (answered: CallMetadata): void => head.head(answered);
      const service = {
        caller,
        requestId,
        address,
        metadata,
        local,
        signal,
        callerEndMs,
        record,
        act,
        head: answerHead,
      };
      return next({ route, request, sink, service });
    };
}

/**
 * True of what no limit of a key counts. Requests have limits of their own, and whoever lost an answer may read on at
 * once. So have those who show nothing, and what a front end of ours asks for.
 */
function isUncounted({ route, service }: PermittedCall, frontTokens: readonly string[]): boolean {
  const isOurs = isOfFront(route.path) && (service.local || isFront(service.metadata[FRONT_HEADER], frontTokens));
  const isOfRequest = route.beginsRequest || route.path === InferenceServiceService.resumeStream.path;
  return !isOurs && !isOfRequest && route.permission.open !== true;
}

function roomed(frontTokens: readonly string[]): Link<PermittedCall, PermittedCall> {
  const rooms = new Rooms();
  return (next) => (call) => {
    if (!isUncounted(call, frontTokens)) return next(call);
    const { route, service } = call;
    return rooms.hold(route.stream === undefined ? "calls" : "streams", service.caller, () => next(call));
  };
}

function paced(frontTokens: readonly string[]): Link<PermittedCall, PermittedCall> {
  const paces = new Paces(() => performance.now());
  return (next) => (call) => {
    const { route, service } = call;
    if (isUncounted(call, frontTokens)) paces.take(route.path, route.isChange ? "changes" : "calls", service.caller);
    return next(call);
  };
}

function handled({ route, request, sink, service }: ServedCall): Promise<unknown> {
  if (sink === undefined && route.unary !== undefined) return route.unary(request, service);
  if (sink !== undefined && route.stream !== undefined) return route.stream(request, service, sink);
  throw new Error(`${route.path} has no handler for such a call`);
}
