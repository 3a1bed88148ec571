/** After a death every view of a request says what the ledger's entries say: the list, its receipt, and the sums. */
import { expect } from "vitest";
import type { Management } from "../support/management.js";
import type { Json } from "./load.js";

/** The state that each kind of end leaves. A request without a hold was never charged. */
const STATES: Readonly<Record<string, string>> = {
  settle: "settled",
  void: "voided",
  expire: "expired",
  none: "uncharged",
};

/** What a request came to. */
interface End {
  readonly state: string;
  readonly chargedNanos: string;
}

/** By the id of the request, the end of its last hold; a request that no hold names is not in it. */
export function endsOf(entries: Iterable<Json>): ReadonlyMap<string, End> {
  const ends = new Map<string, End>();
  const oldestFirst = [...entries].sort((one, other) => Number(one["sequence"]) - Number(other["sequence"]));
  for (const { kind, request_id: request, amount_nanos: amount } of oldestFirst) {
    const state = STATES[String(kind)];
    if (state !== undefined)
      ends.set(String(request), { state, chargedNanos: kind === "settle" ? String(amount) : "0" });
  }
  return ends;
}

const UNCHARGED: End = { state: STATES["none"] ?? "", chargedNanos: "0" };

/** Fails where the list or the receipt of any of the requests says something else than the entries. */
export async function expectOneTruth(
  listed: ReadonlyMap<string, Json>,
  ends: ReadonlyMap<string, End>,
  management: Management,
): Promise<void> {
  const untrue: string[] = [];
  for (const [id, record] of listed) {
    const { status, body } = await management.call("GET", `/requests/${id}`);
    expect(status, `receipt of ${id}`).toBe(200);
    const receipt = body["request"] as Json;
    const wanted = told(ends.get(id) ?? UNCHARGED);
    const [inList, onReceipt] = [record, receipt].map((view) =>
      told({ state: String(view["state"]), chargedNanos: String(view["charged_nanos"]) }),
    );
    if (inList === wanted && onReceipt === wanted) continue;
    untrue.push(`${id}: ${wanted} by its entries, ${inList} in the list, ${onReceipt} on its receipt`);
  }
  if (untrue.length > 0) throw new Error(`views of requests:\n${untrue.join("\n")}`);
}

/** Fails where the sums of usage are not those of the entries, and names the requests that make the difference. */
export async function expectSumsOf(
  ends: ReadonlyMap<string, End>,
  listed: ReadonlyMap<string, Json>,
  account: string,
  management: Management,
): Promise<void> {
  const { status, body } = await management.call("GET", `/usage:query?account_id=${account}`);
  expect(status, JSON.stringify(body)).toBe(200);
  const sum = ((body["sums"] as Json[])[0] ?? {})["charged_nanos"] ?? "0";
  const chargedNanos = [...ends.values()].reduce((nanos, end) => nanos + BigInt(end.chargedNanos), 0n);
  if (String(sum) === String(chargedNanos)) return;
  const differing = await differencesOf(ends, listed, account, management);
  expect(String(sum), `the sum of usage, which differs of ${differing.join("; ")}`).toBe(String(chargedNanos));
}

/** What records say of each call, which has an end user of its own, beside its entries. */
async function differencesOf(
  ends: ReadonlyMap<string, End>,
  listed: ReadonlyMap<string, Json>,
  account: string,
  management: Management,
): Promise<readonly string[]> {
  const { body } = await management.call("GET", `/usage:query?account_id=${account}&group_by=user`);
  const sums = (body["sums"] as Json[] | undefined) ?? [];
  const byUser = new Map([...listed].map(([id, { detail }]) => [String((detail as Json | null)?.["end_user"]), id]));
  const told = sums.flatMap(({ values, request_count: count, charged_nanos: charged }) => {
    const user = String((values as string[])[0]);
    const id = byUser.get(user) ?? "";
    const wanted = ends.get(id)?.chargedNanos ?? "0";
    return wanted === String(charged)
      ? []
      : [`${id} of ${user}: ${String(charged)} of ${String(count)}, by its entries ${wanted}`];
  });
  return told.length > 0 ? told : [JSON.stringify(body)];
}

function told({ state, chargedNanos }: End): string {
  return `${state} ${chargedNanos}`;
}
