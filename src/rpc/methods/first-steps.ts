/** What a new gateway still needs before a team can use it. */
import { OPERATOR_ACCOUNT_ID } from "../../alerts/money-readings.js";
import { type GetFirstStepsResponse, UpstreamHealth } from "../../api/index.js";
import { HIDDEN_IDS } from "../../keys/key-id.js";
import type { CoreParts } from "../call/core.js";

type Parts = Pick<CoreParts, "upstreams" | "ledger" | "keys" | "identity">;

/** What runs inside the process serves until there is an upstream. */
const BUILT_IN = "sim";
/** Of more accounts the first stand for all: a gateway with as many has begun long ago. */
const ACCOUNTS_MAX = 5;

export async function firstSteps({ upstreams, ledger, keys, identity }: Parts): Promise<GetFirstStepsResponse> {
  const real = upstreams.list().filter(({ family }) => family !== BUILT_IN);
  const { rows } = await ledger.accounts({ size: ACCOUNTS_MAX + 1, token: "" });
  const accounts = rows.filter(({ id }) => id !== OPERATOR_ACCOUNT_ID).slice(0, ACCOUNTS_MAX);
  const some = async (has: (id: string) => Promise<boolean>): Promise<boolean> =>
    (await Promise.all(accounts.map(({ id }) => has(id)))).includes(true);
  const hasKey = async (accountId: string): Promise<boolean> =>
    (await keys.list({ accountId, isRevoked: false, idsWithout: HIDDEN_IDS }, { size: 1, token: "" })).keys.length > 0;
  return {
    upstream: real.length > 0,
    tested: real.some(({ health }) => health === UpstreamHealth.UPSTREAM_HEALTH_HEALTHY),
    models: real.some(({ models }) => models.length > 0),
    account: await some(async (id) => (await ledger.balance(id)).availableNanos > 0n),
    member: await some(async (id) => (await identity.members.list(id, "", 1)).length > 0),
    key: await some(hasKey),
  };
}
