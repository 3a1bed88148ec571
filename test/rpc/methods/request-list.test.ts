/** A page of requests misses none that is given its record, or ends, while the page is read. */
import { expect, test } from "vitest";
import { ListRequestsRequest, RequestState } from "../../../src/api/index.js";
import { NO_USAGE } from "../../../src/api/usage.js";
import type { Caller } from "../../../src/keys/caller.js";
import type { RecordRow } from "../../../src/records/columns.js";
import { type RecordFilter, rowPasses } from "../../../src/records/filter.js";
import type { Records } from "../../../src/records/records.js";
import { listRequests } from "../../../src/rpc/methods/request-list.js";
import type { RequestRow, RequestStore } from "../../../src/store/store.js";
import { rowWith } from "../../records/row.js";

const END_MS = Date.parse("2026-11-21T10:00:00Z");
const ID = "req_1";
/** The steps of which each reads something else, in whatever order. */
const STEPS = ["list", "running", "ledger", "known"] as const;

const row: RequestRow = {
  holdId: "req_1",
  id: ID,
  accountId: "acme",
  keyId: "k1",
  model: "m1",
  upstream: "u",
  sequence: 1,
  accountSequence: 1,
  state: "settled",
  holdNanos: 5n,
  costNanos: 5n,
  chargedNanos: 5n,
  overageNanos: 0n,
  operatorCostNanos: undefined,
  refundedNanos: 0n,
  usage: NO_USAGE,
  usageSource: 1,
  attempts: 1,
  attemptLog: "[]",
  price: new Uint8Array(),
  createTimeMs: END_MS - 10,
  endTimeMs: END_MS,
};
const record: RecordRow = rowWith({ id: ID, endTimeMs: END_MS, account: "acme", key: "k1", model: "m1", flags: 4 });
const operator = { accountId: "", keyId: "k0", hasScope: () => true } as unknown as Caller;

interface Moment {
  readonly hasEnded: boolean;
  readonly hasRecord: boolean;
}

/** Of a request that ends, or gets its record, before the step that is named, which may be one of a second look. */
async function idsOf(changes: (step: string) => void, moment: () => Moment): Promise<string[]> {
  const at = <Answer>(step: string, answer: (moment: Moment) => Answer): Promise<Answer> => {
    changes(step);
    return Promise.resolve(answer(moment()));
  };
  const requests = {
    running: () => at("running", ({ hasEnded }) => (hasEnded ? [] : [{ ...row, state: "held", endTimeMs: null }])),
    list: () =>
      at("ledger", ({ hasEnded }) => ({
        rows: [hasEnded ? row : { ...row, state: "held", endTimeMs: null }],
        nextPageToken: "",
      })),
    many: () => Promise.resolve([row]),
  } as unknown as RequestStore;
  const records = {
    list: () => at("list", ({ hasRecord }) => (hasRecord ? [record] : [])),
    known: () => at("known", ({ hasRecord }) => (hasRecord ? [ID] : [])),
  } as unknown as Records;
  const asked = ListRequestsRequest.decode(new Uint8Array());
  const archivedUntil = (): Promise<undefined> => Promise.resolve(undefined);
  const page = await listRequests(asked, operator, { requests, records, archivedUntil, adopt: () => undefined });
  return page.requests.map(({ id }) => id);
}

test.each(STEPS.flatMap((ends) => STEPS.map((recorded) => ({ ends, recorded }))))(
  "one that ends before $ends and has its record before $recorded is there once",
  async ({ ends, recorded }) => {
    let [hasEnded, hasRecord] = [false, false];
    const changes = (step: string): void => {
      hasEnded ||= step === ends;
      hasRecord ||= hasEnded && step === recorded;
    };
    expect(await idsOf(changes, () => ({ hasEnded, hasRecord }))).toEqual([ID]);
  },
);

/** The states that a page has of one request, by the state that was asked for; 0 asks for all. */
async function statesOf(failed: RecordRow, held: RequestRow | undefined, state: RequestState): Promise<RequestState[]> {
  const requests = {
    running: () => Promise.resolve([]),
    list: () => Promise.resolve({ rows: held === undefined ? [] : [held], nextPageToken: "" }),
    many: (ids: readonly string[]) => Promise.resolve(held !== undefined && ids.includes(held.id) ? [held] : []),
  } as unknown as RequestStore;
  const records = {
    list: (filter: RecordFilter) => Promise.resolve(rowPasses(failed, filter) ? [failed] : []),
    known: (ids: readonly string[]) => Promise.resolve(ids),
  } as unknown as Records;
  const asked = { ...ListRequestsRequest.decode(new Uint8Array()), state };
  const parts = { requests, records, archivedUntil: () => Promise.resolve(undefined), adopt: () => undefined };
  return (await listRequests(asked, operator, parts)).requests.map((one) => one.state);
}

const { REQUEST_STATE_UNSPECIFIED: ALL, REQUEST_STATE_VOIDED, REQUEST_STATE_UNCHARGED } = RequestState;

test.each([500, 503])(
  "a request that failed with %i is what the ledger says, which may have its hold",
  async (status) => {
    const failed = rowWith({ id: ID, endTimeMs: END_MS, account: "acme", reason: "internal", status, flags: 0 });
    const freed: RequestRow = { ...row, state: "voided", chargedNanos: 0n };
    for (const [held, state] of [
      [freed, REQUEST_STATE_VOIDED],
      [undefined, REQUEST_STATE_UNCHARGED],
    ] as const)
      for (const asked of [ALL, REQUEST_STATE_VOIDED, REQUEST_STATE_UNCHARGED])
        expect(await statesOf(failed, held, asked)).toEqual(asked === ALL || asked === state ? [state] : []);
  },
);
