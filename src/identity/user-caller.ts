/** A person who signed in, as a caller: what the role in one account allows, as a key's scopes do. */
import { unknown } from "../api/check.js";
import { Key, KeySettings } from "../api/index.js";
import type { AccountLimits } from "../keys/account-limits.js";
import type { Caller, CallerUser } from "../keys/caller.js";
import { roleMay } from "../keys/roles.js";
import type { OpenSession, UserRow } from "../store/people-rows.js";

/** The account of an operator who names none. */
const OPERATORS_ACCOUNT = "operator";

/** Who is asked for a second factor by the installation; `operators` are its auditors too. */
export type SecondFactorFor = "nobody" | "operators" | "everyone";

/** How long after a person showed the password what asks for a proof is open. */
export const PROOF_MS = 30 * 60_000;

/** What a session is judged by. */
export interface SessionRequest {
  readonly nowMs: number;
  readonly secondFactorFor: SecondFactorFor;
}

/** A caller that knows its session. */
export interface UserCaller extends Caller {
  readonly user: CallerUser;
  readonly open: OpenSession;
}

/**
 * The person within the account, or without a name in the first that there is. Throws RESOURCE_UNKNOWN where the person
 * has no business in the account: as if it did not exist.
 */
export function userCaller(open: OpenSession, accountId: string, asked: SessionRequest): UserCaller {
  const { user, session, memberships } = open;
  const named = accountId === "" ? memberships[0] : memberships.find((one) => one.accountId === accountId);
  const role = user.installationRole ?? named?.role;
  if (accountId !== "" && role === undefined) throw unknown("account", accountId);
  const fallback = user.installationRole === null ? "" : OPERATORS_ACCOUNT;
  const actsIn = accountId === "" ? (named?.accountId ?? fallback) : accountId;
  const lacksSecondFactor =
    session.method === "password" &&
    !user.secondFactor &&
    (isAsked(user, asked.secondFactorFor) || named?.secondFactorRequired === true);
  const isFresh = asked.nowMs - session.proofTimeMs < PROOF_MS;
  const callerUser = { id: user.id, sessionId: session.id, role: role ?? "none", lacksSecondFactor, isFresh } as const;
  return new SignedIn(callerUser, user.name, open, actsIn);
}

function isAsked({ installationRole }: UserRow, secondFactorFor: SecondFactorFor): boolean {
  switch (secondFactorFor) {
    case "nobody":
      return false;
    case "operators":
      return installationRole !== null;
    case "everyone":
      return true;
  }
}

class SignedIn implements UserCaller {
  readonly keyId: string;
  readonly key: Key;
  readonly settings: KeySettings;
  readonly accountLimits: AccountLimits | undefined = undefined;
  readonly content = undefined;
  readonly accountDemands = undefined;
  readonly demands = undefined;
  readonly freezeReason: string | undefined = undefined;
  revisions = undefined;
  readonly maker = undefined;

  constructor(
    readonly user: CallerUser,
    name: string,
    readonly open: OpenSession,
    readonly accountId: string,
  ) {
    const { id } = user;
    this.keyId = id;
    this.settings = { ...KeySettings.decode(new Uint8Array()), name };
    this.key = { ...Key.decode(new Uint8Array()), id, accountId, settings: this.settings };
  }

  isUnder(keyId: string): boolean {
    return this.keyId === keyId;
  }

  hasScope(scope: string): boolean {
    return roleMay(this.user.role, scope, true);
  }

  may(scope: string, reads: boolean): boolean {
    return roleMay(this.user.role, scope, reads);
  }

  mayUseModel(): boolean {
    return true;
  }

  mayComeFrom(): boolean {
    return true;
  }
}
