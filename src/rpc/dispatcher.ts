/** The one way into the services, for every channel: permission, identity, address and deadline, then the handler. */
import type { CallMetadata, CallSink, Method, Sink } from "../api/channel.js";
import type { MethodPermission } from "../api/descriptors.js";
import { EventServiceService, FrontServiceService, UsageServiceService } from "../api/index.js";
import { Roster } from "../api/roster.js";
import { GatewayError } from "../errors.js";
import { requireUnfrozen } from "../keys/account-freeze.js";
import type { Caller } from "../keys/caller.js";
import { credentialOf } from "../keys/credential.js";
import { clientAddress, FRONT_HEADER, isFront, type Origin } from "./address.js";
import { Admitted } from "./admitted.js";
import { CallerChanged } from "../coordination/coordination.js";
import { beginsRequest, mayComeAgain } from "./begins-request.js";
import { CallAudit, type AuditedCall, NO_ACT } from "./call-audit.js";
import { NOBODY, sessionCaller, toldSession } from "./callers.js";
import { enterSession } from "./session-call.js";
import { CallLog } from "./call-log.js";
import type { CoreParts } from "./core.js";
import type { ServiceCall } from "./handler.js";
import { Endings } from "./endings.js";
import { Lifetime } from "./lifetime.js";
import { AnswerSink, type Head, NamedHead } from "./head.js";
import { requirePermission } from "./permission.js";
import type { RequestRecord } from "../records/request-record.js";
import { streamReplayed, unaryReplayed } from "./replayed.js";
import { declaredPermission, isChangePath, type OpenRoute, type PermissionOf, type Route } from "./route.js";
import type { EdgeRefusal, Refused, ServerCall, StreamOutcome, UnaryOutcome } from "./server-call.js";
import { boundedError } from "./status.js";

const ENDLESS: ReadonlySet<string> = new Set([
  FrontServiceService.watchCaller.path,
  EventServiceService.watchEvents.path,
  UsageServiceService.watchRequests.path,
]);
/** How long handlers that were told to stop are waited for. */
const CUT_GRACE_MS = 2_000;
/** A key is looked up so often where keys change meanwhile. */
const LOOKUPS_MAX = 8;

export class Dispatcher {
  readonly #core: CoreParts;
  readonly #log: CallLog;
  /** The records of management calls. */
  readonly audit: CallAudit;
  readonly #routes = new Map<string, OpenRoute>();
  readonly #running = new Roster<Lifetime>();
  readonly #endings: Endings;
  #onIdle: (() => void) | undefined;
  #draining: Promise<void> | undefined;

  /** Throws where a method declares no permission: such a method does not start. */
  constructor(core: CoreParts, routes: Iterable<Route>, permissionOf: PermissionOf = declaredPermission) {
    this.#core = core;
    this.#endings = new Endings(core, this.#running);
    this.#log = new CallLog(core.log, () => performance.now());
    this.audit = new CallAudit(core.store.audit, core.nowMs, core.log);
    for (const route of routes) {
      const permission = permissionOf(route.path);
      if (permission === undefined) throw new Error(`the method ${route.path} declares no permission`);
      if (permission.front === true) throw new Error(`the method ${route.path} is for front ends, not for keys`);
      this.#routes.set(route.path, {
        ...route,
        permission,
        isChange: isChangePath(route.path),
        isEndless: ENDLESS.has(route.path),
        beginsRequest: beginsRequest(route.path),
      });
    }
  }

  /** The methods that it serves, by path. */
  paths(): readonly string[] {
    return [...this.#routes.keys()];
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
      throw this.#refuse(error, "admit", head, record).error;
    };
    const begin = (caller: Caller): Admitted | Promise<Admitted> => {
      known = caller;
      address = clientAddress(origin, this.#core.frontTokens, this.#core.proxies);
      requirePermission(permission, caller, address);
      const admitted = new Admitted(caller, address, changeCount);
      if (!beginsRequest(method)) return admitted;
      requireUnfrozen(caller);
      // A short body costs less to read than the look at the limits, which are asked right behind it anyway.
      if (!isLong) return admitted;
      const looking = this.#checkLimits(caller, origin.metadata);
      return looking instanceof Promise ? looking.then(() => admitted) : admitted;
    };
    try {
      if (this.#draining !== undefined) throw stopping();
      const caller = this.#callerOf(permission, origin, method);
      const admitted = caller instanceof Promise ? caller.then(begin) : begin(caller);
      return admitted instanceof Promise ? admitted.catch(refuse) : admitted;
    } catch (error) {
      return refuse(error);
    }
  }

  #callerOf(permission: MethodPermission, origin: Origin, path: string): Caller | Promise<Caller> {
    if (permission.open === true) return NOBODY;
    const told = toldSession(origin, this.#core.frontTokens);
    return told === undefined
      ? this.#core.keys.authenticate(credentialOf(origin.metadata))
      : sessionCaller(this.#core, told, path).then(({ caller }) => caller);
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
    const handler = route?.unary;
    const record = this.#core.requests?.begin(head.requestId, method.path, call.metadata);
    try {
      if (route === undefined || handler === undefined)
        throw new GatewayError("ERROR_REASON_PATH_UNKNOWN", { path: method.path });
      const { replays } = this.#core;
      const work = replays?.wants(method.path, call.metadata)
        ? (service: ServiceCall) => unaryReplayed(replays, method.path, request, call, service, handler)
        : (service: ServiceCall) => handler(request, service);
      const message = await this.#run(route, call, head, work, record);
      if (route.beginsRequest) record?.cameAgain();
      if (route.isChange) await this.#changed(route, request, message, head);
      // The edge between paths and messages: the services' table pairs them by type where it is built.
      return { kind: "answered", message: message as Response, head: head.take() };
    } catch (error) {
      const refused = this.#refuse(error, method.path, head, record);
      if (route?.isChange === true) this.audit.refused(refused.error, this.#audited(route, call), request, head);
      return refused;
    }
  }

  /** It is told once its record is written. */
  async #changed(route: OpenRoute, request: unknown, message: unknown, head: NamedHead): Promise<void> {
    if (head.act !== undefined) await this.audit.answered(head.act, route.path, request);
    this.#log.changed(route.path, request, message, head);
  }

  #audited({ path }: OpenRoute, call: ServerCall): AuditedCall {
    return { path, metadata: call.metadata, isFront: call.local || this.isFront(call.metadata) };
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
    const handler = route?.stream;
    const record = this.#core.requests?.begin(out.requestId, method.path, call.metadata);
    try {
      if (route === undefined || handler === undefined)
        throw new GatewayError("ERROR_REASON_PATH_UNKNOWN", { path: method.path });
      const pushed = out as CallSink<unknown>;
      const { replays } = this.#core;
      const work = replays?.wants(method.path, call.metadata)
        ? (service: ServiceCall) => streamReplayed(replays, method.path, request, call, service, pushed, handler)
        : (service: ServiceCall) => handler(request, service, pushed);
      await this.#run(route, call, out, work, record);
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
  drain(timeoutMs: number): Promise<void> {
    this.#draining ??= this.#drain(timeoutMs);
    return this.#draining;
  }

  async #drain(timeoutMs: number): Promise<void> {
    for (const lifetime of this.#running) if (lifetime.isEndless) lifetime.end(stopping());
    await this.#idle(timeoutMs);
    for (const lifetime of this.#running) lifetime.end(stopping());
    await this.#idle(CUT_GRACE_MS);
    await this.audit.flush();
  }

  #idle(timeoutMs: number): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #run<Value>(
    route: OpenRoute,
    call: ServerCall,
    head: Head,
    work: (service: ServiceCall) => Promise<Value>,
    record: RequestRecord | undefined,
  ): Promise<Value> {
    if (this.#draining !== undefined) throw stopping();
    const lifetime = new Lifetime(call.signal, call.timeoutMs);
    lifetime.isEndless = route.isEndless;
    this.#running.add(lifetime);
    return lifetime.race(this.#admitted(route, call, lifetime, head, work, record), this.#ended);
  }

  /**
   * Nothing waits where the caller is known. Never throws. A caller that was let in is asked for again where anything
   * changed since: its key may have been revoked, or have expired, while the message came.
   */
  #admitted<Value>(
    route: OpenRoute,
    call: ServerCall,
    lifetime: Lifetime,
    head: Head,
    work: (service: ServiceCall) => Promise<Value>,
    record: RequestRecord | undefined,
  ): Promise<Value> {
    const { admission } = call;
    const { permission, beginsRequest, isChange } = route;
    const { signal, endMs: callerEndMs } = lifetime;
    const admitted = admission instanceof Admitted ? admission : undefined;
    const begin = (caller: Caller): Promise<Value> => {
      const address = admitted?.address ?? clientAddress(call, this.#core.frontTokens, this.#core.proxies);
      head.caller = caller;
      head.address = address;
      record?.askedBy(caller, address);
      requirePermission(permission, caller, address);
      lifetime.caller = caller;
      if (caller.settings.endStreamsOnExpiry) this.#endings.watchExpiry(caller);
      signal.throwIfAborted();
      const { requestId } = head;
      if (isChange) head.act = this.audit.actOf(this.#audited(route, call), head);
      const act = head.act ?? NO_ACT;
      const { metadata, local } = call;
      const answerHead = (answered: CallMetadata): void => head.head(answered);
      return work({ caller, requestId, address, metadata, local, signal, callerEndMs, record, act, head: answerHead });
    };
    try {
      signal.throwIfAborted();
      if (permission.open === true) return begin(NOBODY);
      const told = toldSession(call, this.#core.frontTokens);
      // A session is looked up for each call, so that one that ended begins nothing anywhere.
      if (told !== undefined) {
        // A short call is over by itself, and may be the one that ends the session.
        if (route.stream === undefined && !route.beginsRequest)
          return sessionCaller(this.#core, told, route.path).then(({ caller }) => begin(caller));
        this.#endings.watchSessions();
        return enterSession(this.#core, told, route, lifetime).then(begin);
      }
      if (this.#core.keys.isShared) {
        const secret = credentialOf(call.metadata);
        return this.#enterCompared(secret, begin, beginsRequest && !mayComeAgain(call.metadata));
      }
      if (admitted?.holds(this.#core.keys.changeCount) === true) return begin(admitted.caller);
      return this.#enter(credentialOf(call.metadata), begin);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Runs `begin` in the very turn in which its caller is known to be as it stands: a change that comes later finds the
   * call among those that run, and one that came during the look-up leads to another.
   */
  #enter<Value>(
    secret: string | undefined,
    begin: (caller: Caller) => Promise<Value>,
    lookups = LOOKUPS_MAX,
  ): Promise<Value> {
    const { keys } = this.#core;
    const { changeCount } = keys;
    const caller = keys.authenticate(secret);
    if (!(caller instanceof Promise)) return begin(caller);
    return caller.then((found) => {
      if (keys.changeCount === changeCount) return begin(found);
      if (lookups > 1) return this.#enter(secret, begin, lookups - 1);
      throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "keys change faster than they are looked up" });
    });
  }

  /**
   * As `#enter` where other nodes change keys too. What is remembered of a caller is compared with what all nodes know,
   * here or, where `begin` asks for the limits, with that question. One that changed is read again and begins anew.
   */
  async #enterCompared<Value>(
    secret: string | undefined,
    begin: (caller: Caller) => Promise<Value>,
    limitsCompare: boolean,
  ): Promise<Value> {
    const { keys } = this.#core;
    for (let count = 1; ; count++) {
      const authenticating = keys.authenticate(secret);
      const caller = authenticating instanceof Promise ? await authenticating : authenticating;
      try {
        if (!limitsCompare && !(await keys.isCurrent(caller))) throw new CallerChanged();
        return await begin(caller);
      } catch (error) {
        // What was refused before the limits were asked may be allowed since, or the account be frozen no more.
        const isForbidden = limitsCompare && error instanceof GatewayError && error.http === 403;
        const isOld = error instanceof CallerChanged || (isForbidden && !(await keys.isCurrent(caller)));
        if (!isOld || count >= LOOKUPS_MAX) throw error;
        keys.forget(secret, caller);
      }
    }
  }

  /**
   * An edge refused what never came to a method: its log and its record are made here. Returns the refusal with the
   * request's id.
   */
  refusedAtEdge(thrown: unknown, refusal: EdgeRefusal): GatewayError {
    const { path, requestId, metadata, caller, address, isLogged = false } = refusal;
    const head = new NamedHead(requestId ?? this.#requestId());
    head.caller = caller;
    head.address = address;
    const record = this.#core.requests?.begin(head.requestId, path, metadata);
    return this.#refuse(thrown, path, head, record, isLogged).error;
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

  #requestId(): string {
    return `req_${this.#core.requestIds()}`;
  }

  readonly #ended = (lifetime: Lifetime): void => {
    this.#running.remove(lifetime);
    if (this.#running.size === 0) this.#onIdle?.();
  };
}

function stopping(): GatewayError {
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem: "stopping" });
}
