/** Whose call it is: the key by its secret, or the person by a session, as they stand when the call begins. */
import type { MethodPermission } from "../../api/descriptors.js";
import { CallerChanged } from "../../coordination/coordination.js";
import { GatewayError } from "../../base/errors.js";
import type { Caller } from "../../keys/caller.js";
import { credentialOf } from "../../keys/credential.js";
import type { Origin } from "./client-address.js";
import { Admitted } from "./admitted.js";
import { mayComeAgain } from "./begins-request.js";
import { type HiddenKeyParts, NOBODY, sessionCaller, type ToldSession, toldSession } from "./callers.js";
import type { ArrivedCall } from "./chain.js";
import type { CoreParts } from "./core.js";
import type { Endings } from "./endings.js";
import type { Lifetime } from "./lifetime.js";
import { enterSession } from "./session-call.js";

/** A key is looked up so often where it changes meanwhile. */
const LOOKUPS_MAX = 8;

export class Authentication {
  constructor(
    private readonly core: HiddenKeyParts & Pick<CoreParts, "frontTokens">,
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
   * Whose call it is; nothing waits where that is known. A caller that was let in before its message was read is asked
   * for again where anything changed since: its key may have been revoked, or have expired, while the message came.
   * Throws or rejects with the refusal, or with what `wasOutdated` knows.
   */
  enter(call: ArrivedCall): Caller | Promise<Caller> {
    const { route, lifetime, call: from } = call;
    const { keys } = this.core;
    if (route.permission.open === true) return this.#found(NOBODY, lifetime);
    const told = toldSession(from, this.core.frontTokens);
    if (told !== undefined) return this.#enterSession(told, call);
    if (keys.isShared) return this.#enterShared(credentialOf(from.metadata), call);
    const { admission } = from;
    if (admission instanceof Admitted && admission.holds(keys.changeCount))
      return this.#found(admission.caller, lifetime);
    return this.#enterKey(credentialOf(from.metadata), lifetime);
  }

  /** A change that comes from now on finds the call among those that run. */
  #found(caller: Caller, lifetime: Lifetime): Caller {
    lifetime.caller = caller;
    if (caller.settings.endStreamsOnExpiry) this.endings.watchExpiry(caller);
    return caller;
  }

  /** A session is looked up for each call, so that one that ended begins nothing anywhere. */
  async #enterSession(told: ToldSession, { route, lifetime }: ArrivedCall): Promise<Caller> {
    // A short call is over by itself, and may be the one that ends the session.
    if (route.stream === undefined && !route.beginsRequest) {
      const { caller } = await sessionCaller(this.core, told, route.path);
      return this.#found(caller, lifetime);
    }
    this.endings.watchSessions();
    return this.#found(await enterSession(this.core, told, route, lifetime), lifetime);
  }

  /**
   * The caller is the call's in the very turn in which it is known to be as it stands: a change of it that came during
   * the look-up leads to another. One of others does not: who makes keys without a pause would keep everybody out.
   */
  #enterKey(secret: string | undefined, lifetime: Lifetime, lookups = LOOKUPS_MAX): Caller | Promise<Caller> {
    const { keys } = this.core;
    const { changeCount } = keys;
    const caller = keys.authenticate(secret);
    if (!(caller instanceof Promise)) return this.#found(caller, lifetime);
    return caller.then((found) => {
      if (!keys.mayHaveChanged(found, changeCount)) return this.#found(found, lifetime);
      if (lookups > 1) return this.#enterKey(secret, lifetime, lookups - 1);
      throw new CallerChanged();
    });
  }

  /**
   * As `#enterKey` where other nodes change keys too. What is remembered of a caller is compared with what all nodes
   * know: here, or where the call asks for the limits, with that question.
   */
  async #enterShared(secret: string | undefined, call: ArrivedCall): Promise<Caller> {
    const { keys } = this.core;
    const { changeCount } = keys;
    const caller = await keys.authenticate(secret);
    if (!limitsCompare(call) && !(await keys.isCurrent(caller))) {
      keys.forget(secret, caller);
      throw new CallerChanged();
    }
    // What this node heard of it meanwhile holds, whatever the others know.
    if (keys.mayHaveChanged(caller, changeCount)) throw new CallerChanged();
    return this.#found(caller, call.lifetime);
  }

  /**
   * As `wasOutdated`, of a caller who is refused before the message is read: by what is remembered of the caller alone,
   * and word of a change may still be on its way.
   */
  async wasRemembered(error: unknown, origin: Origin, caller: Caller | undefined): Promise<boolean> {
    const { keys, frontTokens } = this.core;
    if (!keys.isShared || caller === undefined || caller === NOBODY) return false;
    if (!isForbidden(error) || toldSession(origin, frontTokens) !== undefined) return false;
    return this.#forgetIfOld(caller, origin);
  }

  /**
   * True where the call was refused for what its caller is no more, which is forgotten: it may begin anew. `lookups`
   * counts its callers, of which `caller` is the last; undefined where that one was not found.
   */
  async wasOutdated(error: unknown, call: ArrivedCall, caller: Caller | undefined, lookups: number): Promise<boolean> {
    const { keys, frontTokens } = this.core;
    if (!keys.isShared || lookups >= LOOKUPS_MAX || call.route.permission.open === true) return false;
    if (toldSession(call.call, frontTokens) !== undefined) return false;
    if (caller === undefined) return error instanceof CallerChanged;
    // What was refused before the limits were asked may be allowed since, or the account be frozen no more.
    if (limitsCompare(call) && isForbidden(error)) return this.#forgetIfOld(caller, call.call);
    const isOld = error instanceof CallerChanged;
    if (isOld) keys.forget(credentialOf(call.call.metadata), caller);
    return isOld;
  }

  async #forgetIfOld(caller: Caller, { metadata }: Pick<Origin, "metadata">): Promise<boolean> {
    const { keys } = this.core;
    if (await keys.isCurrent(caller)) return false;
    keys.forget(credentialOf(metadata), caller);
    return true;
  }
}

function isForbidden(error: unknown): boolean {
  return error instanceof GatewayError && error.http === 403;
}

/** True where the call asks for its limits, which nodes share, and its caller is compared with that question. */
function limitsCompare({ route, call }: ArrivedCall): boolean {
  return route.beginsRequest && !mayComeAgain(call.metadata);
}
