/** Every kind of alert in each database: told once, to those whose it is, taken back once, and told anew. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { Alerts, AlertsOptions } from "../../src/alerts/alerts.js";
import { checkSettings, kindOf, KINDS } from "../../src/alerts/kinds.js";
import type { ActiveEjection, CheckedUpstream, RetiringModel } from "../../src/alerts/node-watch.js";
import type { EventRow } from "../../src/alerts/rows.js";
import { AlertKind, AlertSettings, KeySettings } from "../../src/api/index.js";
import type { Store } from "../../src/store/store.js";
import { creditOf, holdOf, MINUTE_MS, NOON_MS, settleOf } from "../ledger/operations.js";
import { TEST_ACT, TEST_EVENT } from "../support/acts.js";
import { alertsOver } from "../support/alerts-over.js";
import { onEachStore, openStore, type StoreDriver } from "../support/stores.js";

const DAY_MS = 86_400_000;
const PAGE = { size: 1_000, token: "" };
const NEVER = { fromMs: undefined, toMs: undefined };
const EVERY = { subjectAccountId: "", alertId: "", type: "" };
const OWNERS = ["acme", "other", ""] as const;
const CREDIT_NANOS = 10_000n;

/** A gateway's parts with two accounts, a key of each, and the test's hand on the clock and on what a node sees. */
class World {
  nowMs = NOON_MS;
  ejections: ActiveEjection[] = [];
  checks: CheckedUpstream[] = [];
  models: RetiringModel[] = [];
  isReloadRefused = false;
  skewMs = 0;
  #requests = 0;

  private constructor(readonly store: Store) {}

  static async open(driver: StoreDriver): Promise<World> {
    const world = new World(await openStore(driver));
    for (const id of ["acme", "other"]) {
      await world.store.accounts.create({ id, name: id, createTimeMs: NOON_MS }, TEST_ACT);
      await world.credit(CREDIT_NANOS, id);
      await world.makeKey(id);
    }
    return world;
  }

  readonly alerts: Alerts = this.#alerts();

  #alerts(): Alerts {
    const sources = {
      ejections: () => this.ejections,
      checks: () => this.checks,
      models: () => this.models,
      isReloadRefused: () => this.isReloadRefused,
      clock: () => ({ machine: "node-a", skewMs: this.skewMs }),
    };
    // The store is asked through the world, which has it before anybody looks.
    const store = (): Store => this.store;
    const asked: AlertsOptions["store"] = {
      alertSteps: (...steps) => store().alertSteps(...steps),
      get keys() {
        return store().keys;
      },
    };
    const alerts = alertsOver(asked, { nowMs: () => this.nowMs, everyMs: 3_600_000, sources });
    onTestFinished(() => alerts.close());
    return alerts;
  }

  async credit(nanos: bigint, accountId = "acme"): Promise<void> {
    const creditId = `credit_${(this.#requests += 1)}`;
    await this.store.ledger.commit([creditOf(nanos, { accountId, creditId, nowMs: this.nowMs })]);
  }

  /** A request of acme's key; what it costs above its hold is for whoever must pay it. */
  async spend(costNanos: bigint, holdNanos = costNanos): Promise<void> {
    const requestId = `request_${(this.#requests += 1)}`;
    const { nowMs } = this;
    const hold = holdOf({ requestId, keyId: "key_acme", amountNanos: holdNanos, nowMs });
    await this.store.ledger.commit([hold]);
    await this.store.ledger.commit([settleOf({ requestId, costNanos, nowMs })]);
  }

  async makeKey(accountId: string): Promise<void> {
    await this.store.keys.create({ ...this.#key(accountId, {}, 1), accountId }, TEST_EVENT);
  }

  async changeKey(settings: Partial<KeySettings>, revision: number): Promise<void> {
    expect(await this.store.keys.replace(this.#key("acme", settings, revision), TEST_EVENT)).toBe(true);
  }

  #key(accountId: string, settings: Partial<KeySettings>, revision: number): Parameters<Store["keys"]["create"]>[0] {
    return {
      id: `key_${accountId}`,
      accountId,
      makerId: null,
      settings: KeySettings.encode({ ...KeySettings.decode(new Uint8Array()), ...settings }).finish(),
      digest: Buffer.from(accountId),
      previousDigest: null,
      previousUntilMs: null,
      hint: "sk-a...b",
      createTimeMs: NOON_MS,
      revokeTimeMs: null,
      revision,
    };
  }

  requests(count: number, more: { readonly isError?: boolean; readonly firstTokenMs?: number }): void {
    const { isError = false, firstTokenMs } = more;
    const about = { accountId: "acme", model: "m", upstream: "u", isError, firstTokenMs, endTimeMs: this.nowMs };
    for (let each = 0; each < count; each += 1) this.alerts.watch.traffic.add(about);
  }

  budget(budgetDayNanos: bigint): Promise<unknown> {
    return this.store.accounts.setSettings("acme", { budgetDayNanos }, "", TEST_ACT);
  }

  wait(ms: number): void {
    this.nowMs += ms;
  }
}

interface Row {
  readonly kind: AlertKind;
  /** What is special of this row where a kind has several. */
  readonly name?: string;
  readonly settings?: Partial<AlertSettings>;
  readonly subject: string;
  /** Whose alerts hear of what happens to acme. Default: acme's and the operator's. */
  readonly told?: readonly string[];
  /** Before the first look. */
  readonly begin?: (world: World) => unknown;
  /** Between two looks: meets the condition. It does so twice, the second time after it was over. */
  readonly raise: (world: World) => unknown;
  /** Almost over, which tells nothing. */
  readonly waver?: (world: World) => unknown;
  readonly end: (world: World) => unknown;
}

const tomorrow = (world: World): void => world.wait(DAY_MS);
const ALL = ["acme", "other", ""];
const OPERATOR = [""];
const FOUND_WELL: CheckedUpstream = { upstream: "u", fault: undefined, problem: "", missingModels: [] };

const ROWS: readonly Row[] = [
  {
    kind: AlertKind.ALERT_KIND_BALANCE_LOW,
    settings: { amountNanos: 1_000n },
    subject: "account acme",
    raise: async (world) => world.spend((await world.store.ledger.balance("acme"))!.availableNanos - 900n),
    waver: (world) => world.credit(150n),
    end: (world) => world.credit(500n),
  },
  {
    kind: AlertKind.ALERT_KIND_BALANCE_DAYS,
    settings: { days: 5 },
    subject: "account acme",
    begin: async (world) => {
      await world.spend(100n);
      tomorrow(world);
    },
    raise: async (world) => world.spend((await world.store.ledger.balance("acme"))!.availableNanos - 400n),
    waver: (world) => world.credit(100n),
    end: (world) => world.credit(500n),
  },
  {
    kind: AlertKind.ALERT_KIND_BUDGET_SHARE,
    settings: { percent: 80 },
    subject: "account acme, day",
    begin: (world) => world.budget(1_000n),
    raise: async (world) => {
      await world.budget(1_000n);
      await world.spend(850n);
    },
    // 75 %, and then a new day.
    waver: (world) => world.budget(1_133n),
    end: tomorrow,
  },
  {
    kind: AlertKind.ALERT_KIND_BUDGET_SHARE,
    name: "of a key",
    settings: { percent: 80 },
    subject: "key key_acme, day",
    begin: (world) => world.changeKey({ budgetDayNanos: 1_000n }, 2),
    raise: (world) => world.spend(850n),
    end: tomorrow,
  },
  {
    kind: AlertKind.ALERT_KIND_SPEND_RISE,
    settings: { percent: 200 },
    subject: "account acme",
    begin: async (world) => {
      await world.spend(100n);
      tomorrow(world);
    },
    // The day before counts the next time.
    raise: (world) => world.spend(world.nowMs < NOON_MS + 2 * DAY_MS ? 500n : 2_000n),
    end: tomorrow,
  },
  {
    kind: AlertKind.ALERT_KIND_ERROR_SHARE,
    settings: { percent: 50, requestsMin: 4n },
    subject: "requests to all models",
    raise: (world) => world.requests(6, { isError: true }),
    waver: (world) => world.requests(7, {}),
    end: (world) => world.wait(10 * MINUTE_MS),
  },
  {
    kind: AlertKind.ALERT_KIND_ERROR_SHARE,
    name: "at an upstream, of models by a glob",
    settings: { percent: 50, requestsMin: 4n, upstream: "u", model: "m*" },
    subject: "requests to m* at u",
    raise: (world) => world.requests(60, { isError: true }),
    end: (world) => {
      world.wait(10 * MINUTE_MS);
      world.requests(20, {});
    },
  },
  {
    kind: AlertKind.ALERT_KIND_FIRST_TOKEN_SLOW,
    settings: { thresholdMs: 1_000n, requestsMin: 4n },
    subject: "requests to all models",
    raise: (world) => world.requests(6, { firstTokenMs: 1_500 }),
    end: (world) => world.wait(10 * MINUTE_MS),
  },
  {
    kind: AlertKind.ALERT_KIND_UPSTREAM_EJECTED,
    subject: "upstream u, model m",
    told: OPERATOR,
    raise: (world) => (world.ejections = [{ upstream: "u", model: "m", cause: "failing" }]),
    end: (world) => (world.ejections = [{ upstream: "u", model: "m", cause: "credential" }]),
  },
  {
    kind: AlertKind.ALERT_KIND_CREDENTIAL_REFUSED,
    subject: "upstream u",
    told: OPERATOR,
    raise: (world) => (world.ejections = [{ upstream: "u", model: "", cause: "credential" }]),
    end: (world) => (world.ejections = []),
  },
  {
    kind: AlertKind.ALERT_KIND_RELOAD_REFUSED,
    subject: "settings file",
    told: OPERATOR,
    raise: (world) => (world.isReloadRefused = true),
    end: (world) => (world.isReloadRefused = false),
  },
  {
    kind: AlertKind.ALERT_KIND_CLOCK_SKEW,
    subject: "clock of node-a",
    told: OPERATOR,
    raise: (world) => (world.skewMs = -5_001),
    end: (world) => (world.skewMs = -4_400),
  },
  {
    kind: AlertKind.ALERT_KIND_OVERAGE,
    settings: { amountNanos: 1_000n },
    subject: "operator",
    told: OPERATOR,
    // All that acme has is held, and costs more.
    raise: async (world) => {
      const { availableNanos } = (await world.store.ledger.balance("acme"))!;
      await world.spend(availableNanos + 1_500n, availableNanos);
      await world.credit(100n);
    },
    end: tomorrow,
  },
  {
    kind: AlertKind.ALERT_KIND_PROOF_FAILED,
    subject: "ledger",
    told: OPERATOR,
    raise: (world) => world.alerts.proved({ holds: false, problems: ["an account is off"] }),
    end: (world) => world.alerts.proved({ holds: true, problems: [] }),
  },
  {
    kind: AlertKind.ALERT_KIND_KEY_UNUSED,
    settings: { days: 3 },
    subject: "key key_acme",
    raise: (world) => {
      world.wait(4 * DAY_MS);
      return use(world, "key_other");
    },
    end: (world) => use(world, "key_acme"),
  },
  {
    kind: AlertKind.ALERT_KIND_KEY_EXPIRING,
    settings: { days: 3 },
    subject: "key key_acme",
    begin: (world) => world.changeKey({ expireTime: new Date(NOON_MS + 30 * DAY_MS) }, 2),
    raise: (world) => world.wait(28 * DAY_MS),
    end: (world) => world.changeKey({ expireTime: new Date(NOON_MS + 58 * DAY_MS) }, 3),
  },
  {
    kind: AlertKind.ALERT_KIND_KEY_EXPIRING,
    name: "until it is revoked or gone",
    settings: { days: 3 },
    subject: "key key_acme",
    raise: (world) => world.changeKey({ expireTime: new Date(world.nowMs + DAY_MS) }, world.nowMs === NOON_MS ? 2 : 3),
    end: (world) => world.wait(2 * DAY_MS),
  },
  {
    kind: AlertKind.ALERT_KIND_MODEL_RETIRING,
    settings: { days: 3, model: "old*" },
    subject: "model old-1",
    told: ALL,
    raise: (world) => {
      world.models = ["old-1", "new-1"].map((id) => ({ id, retireTime: new Date(world.nowMs + 2 * DAY_MS) }));
    },
    end: (world) => (world.models = []),
  },
  ...[
    { kind: AlertKind.ALERT_KIND_UPSTREAM_EJECTED, found: { fault: "failing" as const }, subject: "upstream u" },
    { kind: AlertKind.ALERT_KIND_CREDENTIAL_REFUSED, found: { fault: "credential" as const }, subject: "upstream u" },
    { kind: AlertKind.ALERT_KIND_MODEL_RETIRING, found: { missingModels: ["old-1"] }, subject: "model old-1 at u" },
  ].map(({ kind, found, subject }): Row => ({
    kind,
    subject,
    name: "by what a check found",
    settings: { days: 3 },
    told: OPERATOR,
    raise: (world) => (world.checks = [{ ...FOUND_WELL, ...found }]),
    end: (world) => (world.checks = [FOUND_WELL]),
  })),
];

function use(world: World, keyId: string): Promise<void> {
  return world.store.figures.noteUses([{ keyId, timeMs: world.nowMs }]);
}

test("each kind has a row", () => {
  expect(new Set(ROWS.map(({ kind }) => kind))).toEqual(new Set(Object.keys(KINDS).map(Number)));
});

async function eventsOf({ alerts }: World, owner: string | undefined): Promise<readonly EventRow[]> {
  return (await alerts.events.list(owner, EVERY, NEVER, PAGE)).rows.toReversed();
}

/** Looks three times, of which the last two must tell nothing new. */
async function look(world: World): Promise<void> {
  for (let round = 0; round < 3; round += 1) await world.alerts.evaluator.round();
}

onEachStore((driver) => {
  const rows = ROWS.map((row) => ({ word: kindOf(row.kind)?.word ?? "", row }));

  describe.each(rows)("$word $row.name", ({ word, row }) => {
    const { kind, settings, subject, told = ["acme", ""] } = row;

    test("is told once to those whose it is, taken back once, and told anew", async () => {
      const world = await World.open(driver);
      const isOperators = kindOf(kind)?.isOperators === true;
      const whole = { ...AlertSettings.decode(new Uint8Array()), kind, ...settings };
      for (const owner of OWNERS) {
        const made = world.alerts.rules.create(owner, whole, TEST_ACT);
        if (isOperators && owner !== "") await expect(made).rejects.toThrow("operators only");
        else await made;
      }
      const types = async (owner: string): Promise<string[]> => {
        const own = await eventsOf(world, owner);
        expect(own.map((event) => [event.accountId, event.subject])).toEqual(own.map(() => [owner, subject]));
        return own.map(({ type }) => type);
      };
      const expectTold = async (...changes: readonly string[]): Promise<void> => {
        await look(world);
        const want = changes.map((change) => `${word}.${change}`);
        for (const owner of OWNERS) expect(await types(owner), owner).toEqual(told.includes(owner) ? want : []);
      };

      await row.begin?.(world);
      await expectTold();
      await row.raise(world);
      await expectTold("fired");
      await row.waver?.(world);
      await expectTold("fired");
      world.wait(2 * MINUTE_MS);
      await expectTold("fired");
      await row.end(world);
      await expectTold("fired");
      world.wait(MINUTE_MS);
      await expectTold("fired", "resolved");
      await row.raise(world);
      await expectTold("fired", "resolved", "fired");

      const all = await eventsOf(world, undefined);
      expect(all).toHaveLength(3 * told.length);
      for (const resolved of all.filter(({ type }) => type.endsWith(".resolved"))) {
        const fired = all.find(({ id }) => id === resolved.resolvesId);
        // Whoever filters by an account finds both.
        expect(fired).toMatchObject({ alertId: resolved.alertId, subjectAccountId: resolved.subjectAccountId });
      }
    });
  });
});

test.each(["two\nlines", "two\r\nlines", "a\u0000zero"])("an alert's name is one line: %j is refused", (name) => {
  const kind = AlertKind.ALERT_KIND_BALANCE_LOW;
  const settings = { ...AlertSettings.decode(new Uint8Array()), kind, amountNanos: 1n };
  expect(checkSettings({ ...settings, name: "one line" }, "acme").name).toBe("one line");
  expect(() => checkSettings({ ...settings, name }, "acme")).toThrow(/PARAMETER_INVALID|control characters/u);
});
