/** What a new gateway still needs before a team can use it. */
import { OPERATOR_ACCOUNT_ID } from "../../alerts/money-readings.js";
import { type GetFirstStepsResponse, type Upstream, UpstreamHealth } from "../../api/index.js";
import { HIDDEN_IDS } from "../../keys/key-id.js";
import type { CoreParts } from "../call/core.js";

type Parts = Pick<CoreParts, "upstreams" | "ledger" | "keys" | "identity" | "records">;

/** What runs inside the process serves until there is an upstream. */
const BUILT_IN = "sim";
/** Of more accounts the first stand for all: a gateway with as many has begun long ago. */
const ACCOUNTS_MAX = 5;
const UPSTREAMS_MAX = 5;
const EVER = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

export async function firstSteps({
  upstreams,
  ledger,
  keys,
  identity,
  records,
}: Parts): Promise<GetFirstStepsResponse> {
  const real = upstreams.list().filter(({ family }) => family !== BUILT_IN);
  const { rows } = await ledger.accounts({ size: ACCOUNTS_MAX + 1, token: "" });
  const accounts = rows.filter(({ id }) => id !== OPERATOR_ACCOUNT_ID).slice(0, ACCOUNTS_MAX);
  const some = async (has: (id: string) => Promise<boolean>): Promise<boolean> =>
    (await Promise.all(accounts.map(({ id }) => has(id)))).includes(true);
  const hasKey = async (accountId: string): Promise<boolean> =>
    (await keys.list({ accountId, isRevoked: false, idsWithout: HIDDEN_IDS }, { size: 1, token: "" })).keys.length > 0;
  // Whether the person has come already is not what the operator waits for.
  const hasMember = async (id: string): Promise<boolean> =>
    (await identity.members.list(id, "", 1)).length > 0 || (await identity.members.invitations(id, "", 1)).length > 0;
  const isHealthy = real.some(({ health }) => health === UpstreamHealth.UPSTREAM_HEALTH_HEALTHY);
  return {
    upstream: real.length > 0,
    tested: isHealthy || (await hasServed(real, records)),
    models: real.some(({ models }) => models.length > 0),
    account: await some(async (id) => (await ledger.balance(id)).availableNanos > 0n),
    member: await some(hasMember),
    key: await some(hasKey),
  };
}

/** Whether a request was answered by one of the upstreams, at any node and before any restart. */
async function hasServed(real: readonly Pick<Upstream, "id">[], records: Parts["records"]): Promise<boolean> {
  for (const { id } of real.slice(0, UPSTREAMS_MAX)) {
    const found = await records?.list(
      { ...EVER, names: { upstream: id }, statusMin: 200, statusMax: 200 },
      1,
      undefined,
    );
    if (found !== undefined && found.length > 0) return true;
  }
  return false;
}
