/** The one way into the services, for every channel: it runs the chain, and tells how each call ended. */
import type { CallMetadata, CallSink, Method, Sink } from "../../api/channel.js";
import type { MethodPermission } from "../../api/descriptors.js";
import { ROUTE_HEADER } from "../../api/request-headers.js";
import { GatewayError } from "../../base/errors.js";
import { whenReady } from "../../base/when-ready.js";
import { requireUnfrozen } from "../../keys/account-freeze.js";
import type { LimitDecision } from "../../limits/limit-decision.js";
import type { Caller } from "../../keys/caller.js";
import type { RequestRecord } from "../../records/request-record.js";
import { clientAddress, FRONT_HEADER, isFront, type Origin } from "./client-address.js";
import { Admitted } from "./admitted.js";
import { Authentication } from "./authentication.js";
import { beginsRequest, checkedFor, mayComeAgain } from "./begins-request.js";
import { auditedCall, CallAudit } from "./call-audit.js";
import { CallLog } from "./call-log.js";
import { CallChain } from "./chain.js";
import type { CoreParts } from "./core.js";
import { Endings } from "./endings.js";
import { AnswerSink, type Head, NamedHead } from "./head.js";
import { requirePermission } from "./permission.js";
import { queueName } from "./queue-name.js";
import { declaredPermission, openRoute, type OpenRoute, type PermissionOf, type Route } from "./route.js";
import { RunningCalls } from "./running-calls.js";
import type { EdgeRefusal, Refused, ServerCall, StreamOutcome, UnaryOutcome } from "./server-call.js";
import { boundedError } from "./status.js";

export class Dispatcher {
  readonly #core: CoreParts;
  readonly #log: CallLog;
  /** The records of management calls. */
  readonly audit: CallAudit;
  readonly #routes = new Map<string, OpenRoute>();
  readonly #running = new RunningCalls();
  readonly #authentication: Authentication;
  readonly #chain: CallChain;

  /** Throws where a method declares no permission: such a method does not start. */
  constructor(core: CoreParts, routes: Iterable<Route>, permissionOf: PermissionOf = declaredPermission) {
    this.#core = core;
    this.#log = new CallLog(core.log, () => performance.now());
    this.audit = new CallAudit(core.store.audit, core.nowMs, core.log);
    this.#authentication = new Authentication(core, new Endings(core, this.#running.lifetimes));
    this.#chain = new CallChain({
      core,
      authentication: this.#authentication,
      audit: this.audit,
      permissionOf: (path) => this.permissionOf(path),
    });
    for (const route of routes) this.#routes.set(route.path, openRoute(route, permissionOf));
  }

  /** The methods that it serves, by path. */
  paths(): readonly string[] {
    return [...this.#routes.keys()];
  }

  /** As `Channel.queueOf`. */
  queueOf(metadata: CallMetadata): string {
    return queueName(metadata, (secret) => this.#core.keys.knownAccount(secret));
  }

  /** True where the metadata carries the token of our own front ends. */
  isFront(metadata: CallMetadata): boolean {
    return isFront(metadata[FRONT_HEADER], this.#core.frontTokens);
  }

  /**
   * Lets a caller in by its headers, before its message is read: who it is, and whether its key may do this at all.
   * Throws or rejects with the refusal. What needs no body to be decided belongs here: where the method begins a
   * request, also whether its account is frozen, and the limits of requests and concurrency, which are taken when it
   * runs.
   */
  admit(permission: MethodPermission, origin: Origin, method = "", isLong = true): Admitted | Promise<Admitted> {
    const { changeCount } = this.#core.keys;
    let known: Caller | undefined;
    let address: string | undefined;
    const refuse = (error: unknown): never => {
      const head = new NamedHead(this.#requestId());
      head.caller = known;
      head.address = address;
      const record = this.#core.requests?.begin(head.requestId, method || "admit", origin.metadata);
      const refused = this.#refuse(error, "admit", head, record);
      this.#auditRefused(refused.error, method, origin, undefined, head);
      throw refused.error;
    };
    const begin = (caller: Caller): Admitted | Promise<Admitted> => {
      known = caller;
      const from = clientAddress(origin, this.#core.frontTokens, this.#core.proxies);
      address = from;
      requirePermission(permission, caller, from);
      const admitted = (decision?: LimitDecision): Admitted => new Admitted(caller, from, changeCount, decision);
      if (!beginsRequest(method)) return admitted();
      requireUnfrozen(caller);
      // A short body costs less to read than the look at the limits, which are asked right behind it anyway. What needs
      // no body is asked now, so that the answer comes beside it.
      if (!isLong) return admitted(mayComeAgain(origin.metadata) ? undefined : this.#core.limits.compare(caller));
      const looking = this.#checkLimits(caller, origin.metadata);
      return whenReady(looking, () => admitted());
    };
    const enter = (): Admitted | Promise<Admitted> => {
      known = undefined;
      return whenReady(this.#authentication.callerOf(permission, origin, method), begin);
    };
    const enterAnew = async (error: unknown): Promise<Admitted> => {
      try {
        if (await this.#authentication.wasRemembered(error, origin, known)) return await enter();
      } catch (refusal) {
        return refuse(refusal);
      }
      return refuse(error);
    };
    try {
      this.#running.requireOpen();
      const admitted = enter();
      return admitted instanceof Promise ? admitted.catch(enterAnew) : admitted;
    } catch (error) {
      return this.#core.keys.isShared ? enterAnew(error) : refuse(error);
    }
  }

  /** Throws or rejects where the key's limits take no request, unless the call may get an answer that is there. */
  #checkLimits(caller: Caller, metadata: CallMetadata): Promise<void> | undefined {
    const { limits, replays } = this.#core;
    if (replays === undefined || !mayComeAgain(metadata)) return limits.check(caller);
    const orReplayed = async (refusal: unknown): Promise<void> => {
      if (!(await replays.isAtHand(metadata, caller))) throw refusal;
    };
    try {
      return limits.check(caller)?.catch(orReplayed);
    } catch (refusal) {
      return orReplayed(refusal);
    }
  }

  /** What a method needs of its caller; undefined where there is no such method. */
  permissionOf(path: string): MethodPermission | undefined {
    return this.#routes.get(path)?.permission;
  }

  /** Never rejects. */
  async unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    call: ServerCall,
  ): Promise<UnaryOutcome<Response>> {
    const head = new NamedHead(this.#requestId());
    const route = this.#routes.get(method.path);
    const record = this.#core.requests?.begin(head.requestId, this.#pathOf(method, call), call.metadata, method.path);
    try {
      const handler = route?.unary;
      if (route === undefined || handler === undefined) throw pathUnknown(method.path);
      const lifetime = this.#running.begin(route, call);
      const arrived = { route, request, call, head, handler, sink: undefined, record, lifetime };
      const message = await this.#running.ended(lifetime, this.#chain.run(arrived));
      if (route.beginsRequest) record?.cameAgain();
      if (route.isChange) await this.#changed(route, request, message, head);
      // The edge between paths and messages: the services' table pairs them by type where it is built.
      return { kind: "answered", message: message as Response, head: head.take() };
    } catch (error) {
      const refused = this.#refuse(error, method.path, head, record);
      const asked = checkedFor(method.path, request);
      this.#auditRefused(refused.error, asked ?? method.path, call, asked === undefined ? request : undefined, head);
      return refused;
    }
  }

  /** A change that was refused leaves its record, also where its message was not read. */
  #auditRefused(
    error: GatewayError,
    path: string,
    from: Pick<Origin, "metadata" | "local">,
    request: unknown,
    head: Head,
  ): void {
    const route = this.#routes.get(path);
    if (route?.isChange !== true) return;
    this.audit.refused(error, auditedCall(path, from, this.#core.frontTokens), request, head);
  }

  /** It is told once its record is written. */
  async #changed(route: OpenRoute, request: unknown, message: unknown, head: NamedHead): Promise<void> {
    if (head.act !== undefined) await this.audit.answered(head.act, route.path, request);
    this.#log.changed(route.path, request, message, head);
  }

  /** Never rejects. Nothing reaches the sink after it resolved. */
  async stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    call: ServerCall,
    sink: Sink<Response>,
  ): Promise<StreamOutcome> {
    const out = new AnswerSink(this.#requestId(), sink);
    const route = this.#routes.get(method.path);
    const record = this.#core.requests?.begin(out.requestId, this.#pathOf(method, call), call.metadata, method.path);
    try {
      const handler = route?.stream;
      if (route === undefined || handler === undefined) throw pathUnknown(method.path);
      const lifetime = this.#running.begin(route, call);
      const sink = out as CallSink<unknown>;
      const arrived = { route, request, call, head: out, handler, sink, record, lifetime };
      await this.#running.ended(lifetime, this.#chain.run(arrived));
      if (route.beginsRequest) record?.cameAgain();
      out.finish();
      return { kind: "ended" };
    } catch (error) {
      return this.#refuse(error, method.path, out, record);
    } finally {
      out.close();
    }
  }

  /** Refuses new calls, waits for those that run, and ends the rest with OVERLOADED when the time is over. */
  async drain(timeoutMs: number): Promise<void> {
    await this.#running.drain(timeoutMs);
    await this.audit.flush();
  }

  /**
   * An edge refused what never came to a method: its log and its record are made here. Returns the refusal with the
   * request's id.
   */
  refusedAtEdge(thrown: unknown, refusal: EdgeRefusal): GatewayError {
    const { path, requestId, metadata, caller, address, isLogged = false, method = path, isFront = false } = refusal;
    const head = new NamedHead(requestId ?? this.#requestId());
    head.caller = caller;
    head.address = address;
    const record = this.#core.requests?.begin(head.requestId, path, metadata);
    const { error } = this.#refuse(thrown, path, head, record, isLogged);
    this.#auditRefused(error, method, { metadata, local: isFront }, undefined, head);
    return error;
  }

  #refuse(thrown: unknown, path: string, head: Head, record: RequestRecord | undefined, isLogged = false): Refused {
    const error = GatewayError.from(thrown);
    if (!isLogged) this.#log.refused(error, path, head, record?.trace);
    if (record !== undefined) {
      if (head.caller !== undefined) record.askedBy(head.caller, head.address);
      record.left(error);
    }
    return { kind: "refused", error: boundedError(error, head.requestId), trailers: head.take() };
  }

  /** What people know a call by: the route of HTTP where it came by one, else the method. */
  #pathOf({ path }: { readonly path: string }, { metadata, local }: ServerCall): string {
    const route = metadata[ROUTE_HEADER];
    return route !== undefined && (local || this.isFront(metadata)) ? route : path;
  }

  #requestId(): string {
    return `req_${this.#core.requestIds()}`;
  }
}

function pathUnknown(path: string): GatewayError {
  return new GatewayError("ERROR_REASON_PATH_UNKNOWN", { path });
}
