/** The seeds of a settings file are applied whole or not at all, also where the ledger fails in between. */
import { beforeEach, expect, test } from "vitest";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import type { AccountSeed, Settings } from "../../src/config/settings.js";
import { Keys } from "../../src/keys/keys.js";
import { Ledger } from "../../src/ledger/ledger.js";
import { AMOUNT_NANOS_MAX } from "../../src/base/money.js";
import { applySeeds, type SeedParts } from "../../src/serve/seeds.js";
import type { Store } from "../../src/store/store.js";
import { ROOT_SECRET, seededBytes, settingsOf } from "../keys/key-world.js";
import { openForTest } from "../store/directory.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { TEST_ACT } from "../support/acts.js";

const NO_LIMITS = { requestsPerMinute: 0n, tokensPerMinute: 0n, concurrency: 0n, modelLimits: [] };
const NO_BUDGETS = {
  budgetDayNanos: 0n,
  budgetWeekNanos: 0n,
  budgetMonthNanos: 0n,
  budgetQuarterNanos: 0n,
  budgetTotalNanos: 0n,
  requestCostMaxNanos: 0n,
};

function accountOf(id: string, creditNanos: bigint): AccountSeed {
  return { id, name: id, plan: "", creditNanos, budgets: NO_BUDGETS, limits: NO_LIMITS };
}

const secretOf = (account: string): string => `sk-seed-of-${account}-0123456789`;

function fileOf(...accounts: readonly AccountSeed[]): Settings {
  const keys = accounts.map(({ id }) => ({ accountId: id, secret: secretOf(id), settings: settingsOf() }));
  return {
    upstreams: [],
    models: [],
    aliases: [],
    plans: [],
    manage: false,
    accounts,
    keys,
    metrics: { accounts: [] },
    prices: { refresh: "pinned", url: undefined, keys: [] },
    alerts: [],
    exports: { directory: undefined, formats: ["csv"] },
    payments: { stripe: undefined },
    identity: { issuers: [] },
  };
}

/** One data directory, whose store may be opened with a failpoint. */
class Place {
  readonly #directory = temporaryDirectory();

  async open(failpoint?: string): Promise<{ readonly store: Store; readonly parts: SeedParts }> {
    if (failpoint !== undefined) process.env["TOLLGATE_FAILPOINTS"] = failpoint;
    const store = await openForTest({ directory: this.#directory });
    delete process.env["TOLLGATE_FAILPOINTS"];
    const coordination = createInProcessCoordination({ nowMs: () => performance.now() });
    const nowMs = Date.now;
    const randomBytes = seededBytes(failpoint ?? "");
    const keys = new Keys({ store, coordination, rootSecret: ROOT_SECRET, nowMs, randomBytes });
    return { store, parts: { keys, ledger: new Ledger({ store, nodeId: "node_1", nowMs }), nowMs } };
  }
}

/** What of the seeds of these accounts is there. */
async function found({ store, parts }: Awaited<ReturnType<Place["open"]>>, ids: readonly string[]): Promise<string[]> {
  const there: string[] = [];
  for (const id of ids) {
    if ((await store.accounts.get(id)) !== undefined) there.push(`account ${id}`);
    if (((await store.ledger.balance(id))?.grantedNanos ?? 0n) > 0n) there.push(`credit ${id}`);
    const caller = await Promise.resolve()
      .then(() => parts.keys.authenticate(secretOf(id)))
      .catch(() => undefined);
    if (caller !== undefined) there.push(`key ${id}`);
  }
  return there;
}

let place: Place;
beforeEach(() => {
  place = new Place();
});

test("a failure of the ledger amid the seeds leaves none of them, and the next reload applies all", async () => {
  const [one, two] = [accountOf("one", 5n), accountOf("two", 7n)];
  const before = await place.open();
  expect(await applySeeds(before.parts, fileOf(one), TEST_ACT)).toMatchObject({ differences: [] });
  await before.store.close();
  const failing = await place.open("during_commit=throw:1");
  await expect(applySeeds(failing.parts, fileOf(one, two, accountOf("three", 9n)), TEST_ACT)).rejects.toThrow();
  expect(await found(failing, ["one", "two", "three"])).toEqual(["account one", "credit one", "key one"]);
  await failing.store.close();
  const after = await place.open();
  expect(await found(after, ["two", "three"])).toEqual([]);
  expect(await applySeeds(after.parts, fileOf(one, two), TEST_ACT)).toMatchObject({ differences: [] });
  expect(await found(after, ["two"])).toEqual(["account two", "credit two", "key two"]);
  expect((await after.parts.ledger.balance("one")).grantedNanos).toBe(5n);
  expect((await after.parts.ledger.verify()).problems).toEqual([]);
});

test("a credit that the ledger cannot hold refuses the whole file", async () => {
  const opened = await place.open();
  const names = ["a", "b", "c", "d", "e"];
  const file = fileOf(...names.map((id) => accountOf(id, AMOUNT_NANOS_MAX)));
  await expect(applySeeds(opened.parts, file, TEST_ACT)).rejects.toThrow(
    /all credits together are more than the ledger holds/,
  );
  expect(await found(opened, names)).toEqual([]);
  expect((await opened.parts.ledger.verify()).problems).toEqual([]);
});

test("what was seeded before stays as it is, and is said", async () => {
  const opened = await place.open();
  await applySeeds(opened.parts, fileOf(accountOf("one", 5n)), TEST_ACT);
  await opened.parts.keys.revoke((await opened.parts.keys.authenticate(secretOf("one"))).keyId, TEST_ACT);
  const { differences: said } = await applySeeds(
    opened.parts,
    fileOf({ ...accountOf("one", 6n), name: "Uno" }, accountOf("two", 1n)),
    TEST_ACT,
  );
  expect(said.join("\n")).toMatch(/accounts.one.name .*\naccounts.one.credit is .*\nkeys\[0\] \(key_\w+\) was revoked/);
  expect(await found(opened, ["one", "two"])).toEqual([
    "account one",
    "credit one",
    "account two",
    "credit two",
    "key two",
  ]);
});
