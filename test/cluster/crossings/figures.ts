/** What requests were, between two builds: records that one writes and the other lists, sums of both, and limits. */
import { expect } from "vitest";
import { CALL_NANOS } from "../cluster.js";
import { type Crossing, PATIENT, type Subject } from "../crossing.js";

const CALLS = 5;
const LIMIT = 6;
/** A node that Redis did not answer in time goes by a share of its own: such a trial shows nothing. */
const TRIALS_MAX = 20;

export const records: Subject = {
  name: "records",
  cross: async (crossing) => {
    const { here, there, account } = crossing.parts;
    await crossing.opened(100);
    const { id: keyId, secret } = await crossing.keyAt(there);
    const ids: string[] = [];
    for (let call = 0; call < CALLS; call += 1)
      ids.push((await crossing.served(here, secret, { user: `${account}-${call}`, stream: call % 2 === 1 })).id);
    const newestFirst = { requests: ids.toReversed().map((id) => ({ id, state: "settled", key_id: keyId })) };
    await crossing.bothSay(`/requests?account_id=${account}`, newestFirst);
    for (const [call, id] of ids.entries()) {
      const detail = { end_user: `${account}-${call}`, streamed: call % 2 === 1, http_status: 200 };
      const found = { requests: [{ id, detail }] };
      expect(await crossing.manage(there, "GET", `/requests?end_user=${account}-${call}`)).toMatchObject(found);
      const receipt = { request: { id, account_id: account, cost_nanos: String(CALL_NANOS) } };
      expect(await crossing.manage(there, "GET", `/requests/${id}`)).toMatchObject(receipt);
    }
  },
};

export const usage: Subject = {
  name: "usage",
  cross: async (crossing) => {
    const { here, there, account } = crossing.parts;
    await crossing.opened(100);
    const { secret } = await crossing.keyAt(here);
    for (let call = 0; call < CALLS; call += 1) for (const node of [here, there]) await crossing.served(node, secret);
    const sum = { request_count: String(2 * CALLS), cost_nanos: String(CALL_NANOS * BigInt(2 * CALLS)) };
    await crossing.bothSay(`/usage?account_id=${account}`, { total: sum });
    await crossing.bothSay(`/usage:query?account_id=${account}&group_by=account`, { sums: [sum] });
  },
};

export const limits: Subject = {
  name: "limits",
  cross: async (crossing) => {
    await crossing.opened(1_000);
    for (let trial = 0; trial < TRIALS_MAX; trial += 1) if (await isLimitShared(crossing)) return;
    throw new Error(`${TRIALS_MAX} trials met a node without Redis`);
  },
};

/** Half of a minute's requests at each node, and then none at either. False where Redis was late. */
async function isLimitShared(crossing: Crossing): Promise<boolean> {
  const { here, there } = crossing.parts;
  const { secret } = await crossing.keyAt(here, { requests_per_minute: String(LIMIT) });
  const statuses: number[] = [];
  for (let call = 0; call < LIMIT + 2; call += 1) {
    const response = await crossing.chat(call % 2 === 0 ? here : there, secret);
    await response.text();
    if (response.headers.has("x-tollgate-degraded")) return false;
    statuses.push(response.status);
  }
  expect(statuses).toEqual([...Array.from({ length: LIMIT }, () => 200), 429, 429]);
  crossing.count += statuses.length;
  return isConcurrencyShared(crossing);
}

/** One slot, which a stream at one node has: the other refuses, until it is free. */
async function isConcurrencyShared(crossing: Crossing): Promise<boolean> {
  const { here, there } = crossing.parts;
  const { secret } = await crossing.keyAt(there, { concurrency: "1" });
  const leaving = new AbortController();
  const running = await crossing.chat(here, secret, { tookMs: 600_000, stream: true, signal: leaving.signal });
  const second = await crossing.chat(there, secret);
  await second.text();
  leaving.abort();
  if ([running, second].some(({ headers }) => headers.has("x-tollgate-degraded"))) return false;
  crossing.counted("a stream", running.status);
  crossing.counted("a call beside it", second.status, 429);
  await expect.poll(async () => (await crossing.chat(there, secret)).status, PATIENT).toBe(200);
  return true;
}
