/** A snapshot is read whole, from a key that is trusted, or refused whole. */
import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  accepting,
  NO_CHANGES,
  readState,
  rejecting,
  rollingBack,
  writeState,
} from "../../src/price-lists/list-state.js";
import type { PriceChange } from "../../src/price-lists/rules.js";
import { keyTextOf, readKey, readSnapshot, type Snapshot, writeSnapshot } from "../../src/price-lists/snapshot.js";

const pair = () => generateKeyPairSync("ed25519");
const [first, second, stranger] = [pair(), pair(), pair()];

const MODEL = { id: "one", match: { equals: "one" }, prices: { input_mtok: 1, output_mtok: 2 } };
const SNAPSHOT: Snapshot = {
  serial: 7,
  made: "2026-11-30T00:00:00.000Z",
  expires: "2026-12-30T00:00:00.000Z",
  providers: new Map([["acme", [{ model: MODEL, others: { "models.dev": { input_mtok: 1 } } }]]]),
};

const trusted = [first, second].map(({ publicKey }) => keyTextOf(publicKey));

/** The file of what a payload says, signed with the first key. */
function signed(change: (payload: Record<string, unknown>) => unknown): string {
  const whole = JSON.parse(writeSnapshot(SNAPSHOT, [first.privateKey])) as { payload: string };
  const payload = change(JSON.parse(whole.payload) as Record<string, unknown>);
  return writeText(JSON.stringify(payload));
}

function writeText(payload: string): string {
  const { privateKey } = first;
  const original = JSON.parse(writeSnapshot(SNAPSHOT, [privateKey])) as object;
  return JSON.stringify({ ...original, payload, signatures: [signatureOf(payload)] });
}

function signatureOf(payload: string): object {
  return { key: trusted[0], signature: sign(null, Buffer.from(payload), first.privateKey).toString("base64") };
}

function startingAt(start_time: string): object {
  return { constraint: { type: "time_of_date", start_time, end_time: "16:30:00Z" }, prices: { input_mtok: 1 } };
}

test("what was written is read, whichever of two keys is trusted", () => {
  const text = writeSnapshot(SNAPSHOT, [first.privateKey, second.privateKey]);
  for (const key of trusted) expect(readSnapshot(text, [key])).toEqual(SNAPSHOT);
});

describe("a snapshot is refused", () => {
  const models = (model: object) => [{ id: "acme", models: [{ model, others: {} }] }];
  test.each([
    {
      name: "without a signature of a trusted key",
      text: writeSnapshot(SNAPSHOT, [stranger.privateKey]),
      why: /no signature of a trusted key/,
    },
    {
      name: "whose payload was changed",
      text: writeSnapshot(SNAPSHOT, [first.privateKey]).replace('\\"input_mtok\\":1', '\\"input_mtok\\":9'),
      why: /no signature/,
    },
    {
      name: "that names a trusted key and has another's signature",
      text: writeSnapshot(SNAPSHOT, [stranger.privateKey]).replace(keyTextOf(stranger.publicKey), trusted[0] ?? ""),
      why: /no signature/,
    },
    { name: "of another schema", text: signed((payload) => ({ ...payload, schema: 2 })), why: /has the schema 2/ },
    { name: "that is cut", text: writeSnapshot(SNAPSHOT, [first.privateKey]).slice(0, -40), why: /is no JSON/ },
    { name: "whose payload is no JSON", text: writeText("{"), why: /is no JSON/ },
    {
      name: "with a price as text",
      text: signed((p) => ({ ...p, providers: models({ ...MODEL, prices: { input_mtok: "1" } }) })),
      why: /malformed at providers/,
    },
    {
      name: "with a negative price",
      text: signed((p) => ({ ...p, providers: models({ ...MODEL, prices: { input_mtok: -1 } }) })),
      why: /malformed/,
    },
    {
      name: "with a broken expression",
      text: signed((p) => ({ ...p, providers: models({ ...MODEL, match: { regex: "(" } }) })),
      why: /malformed/,
    },
    {
      name: "with two prices that start at the same time of day",
      text: signed((p) => ({
        ...p,
        providers: models({ ...MODEL, prices: ["00:00:00Z", "01:00:00+01:00"].map(startingAt) }),
      })),
      why: /two prices start at the same time/,
    },
    { name: "without a serial", text: signed((p) => ({ ...p, serial: undefined })), why: /malformed at serial/ },
    {
      name: "that names a model twice",
      text: signed((p) => ({
        ...p,
        providers: [{ id: "acme", models: [0, 1].map(() => ({ model: MODEL, others: {} })) }],
      })),
      why: /twice/,
    },
  ])("$name", ({ text, why }) => {
    expect(() => readSnapshot(text, trusted)).toThrow(why);
  });
});

test("a key in the settings is 32 bytes in base64", () => {
  expect(trusted.map((key) => readKey(key)?.asymmetricKeyType)).toEqual(["ed25519", "ed25519"]);
  expect(["", "abc", `${trusted[0]}=`, Buffer.alloc(31).toString("base64")].map(readKey)).toEqual(
    Array(4).fill(undefined),
  );
});

describe("what is in force", () => {
  const change = (key: string, input_mtok: number): PriceChange => ({
    id: `${key}#${input_mtok}`,
    key,
    kind: "changed",
    components: [],
    reasons: [],
    before: MODEL,
    proposed: { ...MODEL, prices: { input_mtok } },
  });
  const seven = { serial: 7, made: "2026-11-30" };
  const eight = { serial: 8, made: "2026-12-01" };
  const accepted = accepting(NO_CHANGES, [change("acme/one", 1), change("acme/two", 2)], seven, "itself");

  test("is stored and read as it was", () => {
    const state = rejecting(accepted, [change("acme/three", 3)]);
    expect(readState(writeState(state))).toEqual(state);
  });

  test("after a rollback is what it was, and what that changed waits for an operator", () => {
    const changes = [change("acme/two", 3), { ...change("acme/new", 4), proposed: null }];
    const later = accepting(accepted, changes, eight, "operator");
    const back = rollingBack(later, accepted);
    expect(back.models).toEqual(accepted.models);
    expect(back.held).toEqual(new Set(["acme/two", "acme/new"]));
    expect(accepting(back, [change("acme/two", 3)], eight, "operator").held).toEqual(new Set(["acme/new"]));
  });

  test("keeps a rejection until a change is accepted", () => {
    const state = rejecting(NO_CHANGES, [change("acme/one", 1)]);
    expect([...state.rejected]).toEqual([["acme/one", "acme/one#1"]]);
    expect(state.held).toEqual(new Set(["acme/one"]));
    expect(accepting(state, [change("acme/one", 2)], eight, "operator")).toMatchObject({
      held: new Set(),
      rejected: new Map(),
    });
  });
});
