/** A settings file with `manage: true` changes the accounts and keys that it names, and disables what it lost. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import { checkBlocks } from "../../src/config/blocks.js";
import type { Settings } from "../../src/config/settings.js";
import { GatewayError } from "../../src/base/errors.js";
import { fileAct } from "../../src/audit/act.js";
import { Keys } from "../../src/keys/keys.js";
import { Ledger } from "../../src/ledger/ledger.js";
import { applySeeds, seedDifferences, type SeedParts } from "../../src/serve/seeds.js";
import { planProblems } from "../../src/serve/seeded-plans.js";
import type { Store } from "../../src/store/store.js";
import { ROOT_SECRET, seededBytes } from "../keys/key-world.js";
import { TEST_ACT } from "../support/acts.js";
import { openTestStore } from "../support/open-test-store.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

const SECRET = "sk-of-a-managed-key-0123456789";
const OTHER_SECRET = "sk-of-another-key-0123456789";
const ALL: Readonly<Record<string, Fields>> = { acme: { credit: "5", budget_day: "2", requests_per_minute: "60" } };
const KEY = { account: "acme", secret: SECRET, name: "ci", models: ["gpt-*"], requests_per_minute: "10" };

type Fields = Readonly<
  Record<string, string | readonly string[] | Readonly<Record<string, string | Readonly<Record<string, string>>>>>
>;
interface Blocks {
  readonly manage?: "true" | "false";
  readonly accounts?: Readonly<Record<string, Fields>>;
  readonly keys?: readonly Fields[];
  readonly plans?: Readonly<Record<string, Fields>>;
}

function fileOf(blocks: Blocks): Settings {
  const { settings, problems } = checkBlocks(blocks as Parameters<typeof checkBlocks>[0], undefined);
  expect(problems).toEqual([]);
  return settings!;
}

let store: Store;
let parts: SeedParts;

beforeEach(async () => {
  store = await openTestStore(temporaryDirectory());
  const coordination = createInProcessCoordination({ nowMs: () => performance.now() });
  const nowMs = Date.now;
  const keys = new Keys({ store, coordination, rootSecret: ROOT_SECRET, nowMs, randomBytes: seededBytes("") });
  parts = { keys, ledger: new Ledger({ store, nodeId: "node_1", nowMs }), nowMs };
});
afterEach(async () => {
  await store.close();
});

async function apply(blocks: Blocks): ReturnType<typeof applySeeds> {
  return applySeeds(parts, fileOf({ manage: "true", ...blocks }), fileAct("settings.apply", "v1", Date.now()));
}

/** What the next request with the secret gets: the id of its key, or why it is refused. */
async function asked(secret: string): Promise<string> {
  try {
    const caller = await parts.keys.authenticate(secret);
    return caller.freezeReason === undefined ? caller.keyId : `frozen: ${caller.freezeReason}`;
  } catch (error) {
    return GatewayError.from(error).reason;
  }
}

describe("a file that manages its rows", () => {
  test("changes what it names, records it, and changes nothing the next time", async () => {
    await apply({ accounts: ALL, keys: [KEY] });
    const { keyId } = await parts.keys.authenticate(SECRET);
    const next: Blocks = {
      accounts: { acme: { name: "Acme", credit: "5", budget_month: "9", models: { "gpt-*": { concurrency: "3" } } } },
      keys: [{ ...KEY, scopes: ["chat"], requests_per_minute: "20" }],
    };
    const { changed, differences } = await apply(next);
    expect({ changed, differences }).toEqual({ changed: ["acme", keyId], differences: [] });
    const account = await parts.ledger.account("acme");
    expect(account).toMatchObject({ name: "Acme", fileState: "managed" });
    expect(account.budgets).toMatchObject({ budgetDayNanos: 0n, budgetMonthNanos: 9_000_000_000n });
    expect(account.limits).toMatchObject({ requestsPerMinute: 0n, modelLimits: [{ model: "gpt-*", concurrency: 3n }] });
    const caller = await parts.keys.authenticate(SECRET);
    expect(caller.key).toMatchObject({ id: keyId, managed: true });
    expect(caller.settings).toMatchObject({ scopes: ["chat"], requestsPerMinute: 20n });
    const { rows } = await store.audit.list({ methods: ["settings.apply"] }, { size: 10, token: "" });
    expect(rows.map(({ resource, before, result }) => [resource, before !== "", result])).toEqual([
      [`keys/${keyId}`, true, "done"],
      ["accounts/acme", true, "done"],
      expect.anything(),
      expect.anything(),
      expect.anything(),
    ]);
    expect(JSON.stringify(rows)).not.toContain(SECRET);
    expect((await apply(next)).changed).toEqual([]);
    expect((await parts.ledger.balance("acme")).grantedNanos).toBe(5_000_000_000n);
  });

  test("grants a credit line at once, changes it, and takes back what is unused of one that it lost", async () => {
    const line = (amount: string): Blocks => ({ accounts: { acme: { credit_line: { amount, period: "quarter" } } } });
    const granted: bigint[] = [];
    for (const blocks of [line("7"), line("7"), line("9"), { accounts: { acme: {} } }]) {
      await apply(blocks);
      granted.push((await parts.ledger.balance("acme")).availableNanos / 1_000_000_000n);
    }
    expect(granted).toEqual([7n, 7n, 9n, 0n]);
    expect((await store.ledger.verify()).problems).toEqual([]);
  });

  test("has the last word over changes elsewhere, which are shown until then", async () => {
    const blocks: Blocks = { accounts: ALL, keys: [KEY] };
    const { keyIds } = await apply(blocks);
    await parts.ledger.setSettings("acme", { budgetDayNanos: 7n }, TEST_ACT);
    const settings = (await parts.keys.authenticate(SECRET)).settings;
    await parts.keys.update(keyIds[0]!, { ...settings, strict: true }, ["strict"], { act: TEST_ACT });
    const shown = await seedDifferences(parts, fileOf({ manage: "true", ...blocks }), keyIds);
    expect(shown.accounts).toEqual([
      [expect.stringMatching(/^accounts\.acme was changed elsewhere \(budget_day_nanos\)/)],
    ]);
    expect(shown.keys).toEqual([[expect.stringMatching(/was changed elsewhere \(strict\)/)]]);
    expect((await apply(blocks)).changed).toHaveLength(2);
    expect((await parts.ledger.account("acme")).budgets.budgetDayNanos).toBe(2_000_000_000n);
    expect((await parts.keys.authenticate(SECRET)).settings.strict).toBe(false);
  });

  test("disables what it no longer has, and enables it again", async () => {
    const blocks: Blocks = { accounts: ALL, keys: [KEY] };
    await apply(blocks);
    const id = await asked(SECRET);
    await apply({ accounts: ALL });
    expect(await asked(SECRET)).toBe("ERROR_REASON_KEY_REVOKED");
    expect(await parts.keys.get(id)).toMatchObject({ managed: true, revokeTime: expect.any(Date) });
    await apply({});
    expect((await parts.ledger.account("acme")).freeze).toMatchObject({ reason: "removed from the settings file" });
    expect((await apply({})).changed).toEqual([]);
    await apply(blocks);
    expect(await asked(SECRET)).toBe(id);
    expect((await parts.ledger.account("acme")).freeze).toBeNull();
    expect((await parts.ledger.balance("acme")).grantedNanos).toBe(5_000_000_000n);
    expect((await parts.ledger.verify()).problems).toEqual([]);
  });

  test("keeps a removed account frozen where an operator unfreezes it", async () => {
    await apply({ accounts: ALL });
    await apply({});
    await parts.ledger.unfreeze("acme", TEST_ACT);
    expect((await apply({})).changed).toEqual(["acme"]);
    expect((await parts.ledger.account("acme")).freeze).not.toBeNull();
  });

  test("ends no freeze and no revocation of an operator", async () => {
    const blocks: Blocks = { accounts: ALL, keys: [KEY, { ...KEY, secret: OTHER_SECRET }] };
    await apply(blocks);
    const [id, otherId] = [await asked(SECRET), await asked(OTHER_SECRET)];
    await parts.ledger.freeze("acme", { reason: "abuse", actor: "key_1", endsStreams: false }, TEST_ACT);
    await parts.keys.revoke(id, TEST_ACT);
    await apply({});
    // The file has revoked it already: an operator makes that final.
    await parts.keys.revoke(otherId, TEST_ACT);
    const { differences } = await apply(blocks);
    expect(differences).toEqual([expect.stringContaining("was revoked"), expect.stringContaining("was revoked")]);
    expect((await parts.ledger.account("acme")).freeze).toMatchObject({ reason: "abuse" });
    expect([await asked(SECRET), await asked(OTHER_SECRET)]).toEqual(Array(2).fill("ERROR_REASON_KEY_REVOKED"));
    expect((await parts.keys.get(otherId)).managed).toBe(false);
  });

  test("takes over what was made before, and leaves what it never named", async () => {
    await apply({ manage: "false", accounts: ALL, keys: [KEY] });
    await parts.ledger.createAccount({ id: "own", name: "" }, TEST_ACT);
    await parts.keys.create({ accountId: "own", settings: undefined, secret: OTHER_SECRET }, TEST_ACT);
    expect((await apply({ accounts: ALL, keys: [KEY] })).changed).toHaveLength(2);
    await apply({});
    expect(await asked(SECRET)).toBe("ERROR_REASON_KEY_REVOKED");
    expect(await asked(OTHER_SECRET)).toMatch(/^key_/);
    expect((await parts.ledger.account("own")).fileState).toBe("");
  });
});

test("a file that manages nothing lets go of what it names, and disables nothing", async () => {
  await apply({ accounts: { ...ALL, other: {} }, keys: [KEY] });
  await apply({ manage: "false", accounts: { acme: { credit: "5", budget_day: "3" } }, keys: [KEY] });
  expect(await parts.ledger.account("acme")).toMatchObject({
    fileState: "",
    budgets: { budgetDayNanos: 2_000_000_000n },
  });
  expect(await parts.ledger.account("other")).toMatchObject({ fileState: "managed", freeze: null });
  expect((await parts.keys.authenticate(SECRET)).key.managed).toBe(false);
});

test("what the plan of a managed account gave stays where the file says nothing", async () => {
  const plans = {
    small: { budget_day: "1", models: { o1: { concurrency: "1" } } },
    large: { budget_day: "8", concurrency: "5" },
  };
  const of = (plan: string, more: Fields = {}): Blocks => ({ plans, accounts: { acme: { plan, ...more } } });
  await apply(of("small"));
  await parts.ledger.setSettings("acme", { concurrency: 4n }, TEST_ACT);
  expect((await apply(of("small", { requests_per_minute: "9" }))).changed).toEqual(["acme"]);
  expect(await parts.ledger.account("acme")).toMatchObject({
    plan: "small",
    budgets: { budgetDayNanos: 1_000_000_000n },
    limits: { requestsPerMinute: 9n, concurrency: 4n, modelLimits: [{ model: "o1", concurrency: 1n }] },
  });
  await apply(of("large", { models: { o3: { concurrency: "2" } } }));
  expect(await parts.ledger.account("acme")).toMatchObject({
    plan: "large",
    budgets: { budgetDayNanos: 8_000_000_000n },
    limits: { requestsPerMinute: 0n, concurrency: 5n, modelLimits: [{ model: "o3", concurrency: 2n }] },
  });
  const unknown = fileOf({ manage: "true", accounts: { acme: { plan: "huge" } } });
  expect(await planProblems(unknown, parts.ledger)).toHaveLength(1);
  expect(await planProblems({ ...unknown, manage: false }, parts.ledger)).toEqual([]);
});

test("a change at the same time is found, and the file is applied to what it left", async () => {
  await apply({ accounts: ALL, keys: [KEY] });
  const { seed } = store;
  let others = 2;
  store = Object.assign(store, {
    seed: async (...rows: Parameters<typeof seed>) => {
      if (others-- > 0) await parts.ledger.setSettings("acme", { budgetTotalNanos: BigInt(others + 1) }, TEST_ACT);
      return seed(...rows);
    },
  });
  await apply({ accounts: { acme: { credit: "5", budget_day: "4" } }, keys: [KEY] });
  expect((await parts.ledger.account("acme")).budgets).toMatchObject({
    budgetDayNanos: 4_000_000_000n,
    budgetTotalNanos: 0n,
  });
  others = Number.MAX_SAFE_INTEGER;
  await expect(apply({ accounts: ALL, keys: [KEY] })).rejects.toMatchObject({ reason: "ERROR_REASON_OVERLOADED" });
});
