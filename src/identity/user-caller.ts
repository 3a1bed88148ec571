/** A person who signed in, as a caller: what the role in one account allows, as a key's scopes do. */
import { unknown } from "../api/check.js";
import { Key, KeySettings } from "../api/index.js";
import type { AccountLimits } from "../keys/account-limits.js";
import type { Caller, CallerUser } from "../keys/caller.js";
import { type Role, roleMay } from "../keys/roles.js";
import type { OpenSession, SessionRow, UserRow } from "../store/people-rows.js";

/** The account of an operator who names none. */
const OPERATORS_ACCOUNT = "operator";

/** A caller that knows its session. */
export interface UserCaller extends Caller {
  readonly user: CallerUser;
  readonly open: OpenSession;
}

/**
 * The person within the account, or without a name in the first that there is. Throws RESOURCE_UNKNOWN where the person
 * has no business in the account: as if it did not exist.
 */
export function userCaller(open: OpenSession, accountId: string): UserCaller {
  const { user, session, memberships } = open;
  const named = accountId === "" ? memberships[0] : memberships.find((one) => one.accountId === accountId);
  const role = user.installationRole ?? named?.role;
  if (accountId !== "" && role === undefined) throw unknown("account", accountId);
  const fallback = user.installationRole === null ? "" : OPERATORS_ACCOUNT;
  const actsIn = accountId === "" ? (named?.accountId ?? fallback) : accountId;
  return new SignedIn(user, session, open, actsIn, role ?? "none");
}

class SignedIn implements UserCaller {
  readonly keyId: string;
  readonly key: Key;
  readonly settings: KeySettings;
  readonly user: CallerUser;
  readonly accountLimits: AccountLimits | undefined = undefined;
  readonly freezeReason: string | undefined = undefined;
  revisions = undefined;
  readonly maker = undefined;

  constructor(
    { id, name }: UserRow,
    session: SessionRow,
    readonly open: OpenSession,
    readonly accountId: string,
    private readonly role: Role,
  ) {
    this.keyId = id;
    this.user = { id, sessionId: session.id, role };
    this.settings = { ...KeySettings.decode(new Uint8Array()), name };
    this.key = { ...Key.decode(new Uint8Array()), id, accountId, settings: this.settings };
  }

  isUnder(keyId: string): boolean {
    return this.keyId === keyId;
  }

  hasScope(scope: string): boolean {
    return roleMay(this.role, scope, true);
  }

  may(scope: string, reads: boolean): boolean {
    return roleMay(this.role, scope, reads);
  }

  mayUseModel(): boolean {
    return true;
  }

  mayComeFrom(): boolean {
    return true;
  }
}
