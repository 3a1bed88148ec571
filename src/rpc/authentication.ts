/** Whose call it is: the key by its secret, or the person by a session, as they stand when the call begins. */
import type { MethodPermission } from "../api/descriptors.js";
import { CallerChanged } from "../coordination/coordination.js";
import { GatewayError } from "../errors.js";
import type { Caller } from "../keys/caller.js";
import { credentialOf } from "../keys/credential.js";
import type { Origin } from "./client-address.js";
import { Admitted } from "./admitted.js";
import { mayComeAgain } from "./begins-request.js";
import { NOBODY, sessionCaller, type ToldSession, toldSession } from "./callers.js";
import type { CallOfCaller, RunningCall, Step } from "./chain.js";
import type { CoreParts } from "./core.js";
import type { Endings } from "./endings.js";
import { enterSession } from "./session-call.js";

/** A key is looked up so often where keys change meanwhile. */
const LOOKUPS_MAX = 8;

type Begin = (caller: Caller) => Promise<unknown>;

export class Authentication {
  constructor(
    private readonly core: Pick<CoreParts, "keys" | "identity" | "frontTokens">,
    private readonly endings: Endings,
  ) {}

  /** Who asks, before anything of the call is read. Throws or rejects with the refusal. */
  callerOf(permission: MethodPermission, origin: Origin, path: string): Caller | Promise<Caller> {
    if (permission.open === true) return NOBODY;
    const told = toldSession(origin, this.core.frontTokens);
    return told === undefined
      ? this.core.keys.authenticate(credentialOf(origin.metadata))
      : sessionCaller(this.core, told, path).then(({ caller }) => caller);
  }

  /**
   * The link of the chain that finds the caller; nothing waits where it is known. A caller that was let in before its
   * message was read is asked for again where anything changed since: its key may have been revoked, or have expired,
   * while the message came. It throws or rejects with the refusal.
   */
  enter(next: Step<CallOfCaller>): Step<RunningCall> {
    return (running) => this.#enter(running, next);
  }

  #enter(running: RunningCall, next: Step<CallOfCaller>): Promise<unknown> {
    const { arrived, lifetime } = running;
    const { route, call } = arrived;
    const { keys } = this.core;
    const begin: Begin = (caller) => {
      if (caller.settings.endStreamsOnExpiry) this.endings.watchExpiry(caller);
      return next({ arrived, lifetime, caller });
    };
    if (route.permission.open === true) return begin(NOBODY);
    const told = toldSession(call, this.core.frontTokens);
    if (told !== undefined) return this.#enterSession(told, running, begin);
    if (keys.isShared) {
      const limitsCompare = route.beginsRequest && !mayComeAgain(call.metadata);
      return this.#enterCompared(credentialOf(call.metadata), begin, limitsCompare);
    }
    const { admission } = call;
    if (admission instanceof Admitted && admission.holds(keys.changeCount)) return begin(admission.caller);
    return this.#enterKey(credentialOf(call.metadata), begin);
  }

  /** A session is looked up for each call, so that one that ended begins nothing anywhere. */
  #enterSession(told: ToldSession, { arrived: { route }, lifetime }: RunningCall, begin: Begin): Promise<unknown> {
    // A short call is over by itself, and may be the one that ends the session.
    if (route.stream === undefined && !route.beginsRequest)
      return sessionCaller(this.core, told, route.path).then(({ caller }) => begin(caller));
    this.endings.watchSessions();
    return enterSession(this.core, told, route, lifetime).then(begin);
  }

  /**
   * Runs `begin` in the very turn in which its caller is known to be as it stands: a change that comes later finds the
   * call among those that run, and one that came during the look-up leads to another.
   */
  #enterKey(secret: string | undefined, begin: Begin, lookups = LOOKUPS_MAX): Promise<unknown> {
    const { keys } = this.core;
    const { changeCount } = keys;
    const caller = keys.authenticate(secret);
    if (!(caller instanceof Promise)) return begin(caller);
    return caller.then((found) => {
      if (keys.changeCount === changeCount) return begin(found);
      if (lookups > 1) return this.#enterKey(secret, begin, lookups - 1);
      throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "keys change faster than they are looked up" });
    });
  }

  /**
   * As `#enterKey` where other nodes change keys too. What is remembered of a caller is compared with what all nodes
   * know, here or, where `begin` asks for the limits, with that question. One that changed is read again and begins
   * anew.
   */
  async #enterCompared(secret: string | undefined, begin: Begin, limitsCompare: boolean): Promise<unknown> {
    const { keys } = this.core;
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
}
