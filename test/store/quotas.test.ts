/** Quotas on the databases: random requests of two nodes never pass a quota, in any window, zone or order. */
import { expect, test } from "vitest";
import { type Quota, QuotaPeriod } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import { type QuotaCaller, type QuotaGrant, Quotas } from "../../src/limits/quotas.js";
import { quotaWindow } from "../../src/limits/quota-window.js";
import type { Store } from "../../src/store/store.js";
import { OwnQuota } from "../../src/keys/own-quotas.js";
import { pick, randomOf } from "../support/random.js";
import { SEED } from "../support/seeds.js";
import { onEachStore } from "../support/stores.js";

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 9, 24, 12);
const BERLIN = { timeZone: "Europe/Berlin", hour: 3 };
const NO_QUOTA = { model: "", requests: 0n, tokens: 0n, amountNanos: 0n, warnPercent: 0 };
const ROUNDS = 40;
const AT_ONCE = 12;

function quota(period: QuotaPeriod, said: Partial<Quota>): OwnQuota {
  return new OwnQuota({ ...NO_QUOTA, period, ...said });
}

const OF_ACCOUNT = [
  quota(QuotaPeriod.QUOTA_PERIOD_DAY, { requests: 60n, tokens: 9_000n }),
  quota(QuotaPeriod.QUOTA_PERIOD_FIVE_HOURS, { amountNanos: 900n }),
  quota(QuotaPeriod.QUOTA_PERIOD_MONTH, { model: "gpt-*", requests: 90n }),
];
const OF_MAKER = [quota(QuotaPeriod.QUOTA_PERIOD_FIVE_HOURS, { tokens: 4_000n, warnPercent: 50 })];
const OF_KEY = [quota(QuotaPeriod.QUOTA_PERIOD_WEEK, { requests: 70n })];
const accountLimits = { quotas: { limits: OF_ACCOUNT, dayStart: BERLIN } };
const maker: QuotaCaller = { keyId: "maker", accountId: "acme", quotas: OF_MAKER, maker: undefined, accountLimits };
const CALLERS: readonly QuotaCaller[] = [maker, { ...maker, keyId: "made", quotas: OF_KEY, maker }];

/** What one request was counted with, and in the end used. */
interface Counted {
  readonly caller: QuotaCaller;
  readonly model: string;
  readonly startMs: number;
  readonly tokens: bigint;
  readonly nanos: bigint;
}

/** Every window by the calendar, added up from the requests alone, is within its quota. */
function expectWithin(counted: readonly Counted[]): void {
  const sums = new Map<string, { requests: bigint; tokens: bigint; nanos: bigint }>();
  const add = (owner: string, limits: readonly OwnQuota[], one: Counted): void => {
    for (const each of limits) {
      // A rolling window is checked by what the store says of it.
      if (each.period === QuotaPeriod.QUOTA_PERIOD_FIVE_HOURS || !each.matches(one.model)) continue;
      const { startMs } = quotaWindow(each.period, one.startMs, BERLIN);
      const name = `${owner} ${each.period} ${startMs}`;
      const sum = sums.get(name) ?? { requests: 0n, tokens: 0n, nanos: 0n };
      sums.set(name, sum);
      sum.requests += 1n;
      sum.tokens += one.tokens;
      sum.nanos += one.nanos;
      const isWithin = (used: bigint, limit: bigint): boolean => limit === 0n || used <= limit;
      expect(isWithin(sum.requests, each.requests) && isWithin(sum.tokens, each.tokens), name).toBe(true);
      expect(isWithin(sum.nanos, each.amountNanos), name).toBe(true);
    }
  };
  for (const one of counted) {
    add("account", OF_ACCOUNT, one);
    for (let key: QuotaCaller | undefined = one.caller; key !== undefined; key = key.maker)
      add(key.keyId, key.quotas === OF_MAKER ? OF_MAKER : OF_KEY, one);
  }
}

/** No window that the store keeps is above its quota. */
async function expectStoredWithin(store: Store): Promise<void> {
  const owners = [
    ["account", "acme", OF_ACCOUNT],
    ["key", "maker", OF_MAKER],
    ["key", "made", OF_KEY],
  ] as const;
  for (const [owner, id, limits] of owners)
    for (const state of await store.people.quotasOf(owner, id)) {
      const own = limits.find(({ period, model }) => period === state.period && model === state.model);
      expect(own?.requests === 0n || state.requests <= (own?.requests ?? -1n), JSON.stringify(state.period)).toBe(true);
      expect(own?.tokens === 0n || state.tokens <= (own?.tokens ?? -1n)).toBe(true);
      expect(own?.amountNanos === 0n || state.nanos <= (own?.amountNanos ?? -1n)).toBe(true);
      expect(state.requests >= 0n && state.tokens >= 0n && state.nanos >= 0n).toBe(true);
    }
}

onEachStore((driver) => {
  test("random requests of two nodes pass no quota, while windows end and clocks change", async () => {
    const random = randomOf(SEED);
    const whole = (most: number): number => Math.floor(random() * most);
    const store = await (await driver.place()).open();
    let nowMs = START_MS;
    const lost: unknown[] = [];
    const options = { store: store.people, nowMs: () => nowMs, onLost: (error: unknown) => lost.push(error) };
    const nodes = [new Quotas(options), new Quotas({ ...options, nowMs: () => nowMs - 2_000 })];
    const counted: Counted[] = [];
    let refusals = 0;
    const run = async (): Promise<void> => {
      const caller = pick(random, CALLERS);
      const model = random() < 0.5 ? "gpt-5" : "claude";
      const node = whole(2);
      const tokens = 1 + whole(800);
      const nanos = BigInt(1 + whole(200));
      const startMs = nowMs - node * 2_000;
      let grant: QuotaGrant | undefined;
      try {
        grant = await nodes[node]?.take(caller, model, { tokens, nanos, leastNanos: nanos / 2n });
      } catch (error) {
        const { reason } = GatewayError.from(error);
        expect(["ERROR_REASON_QUOTA_EXCEEDED", "ERROR_REASON_BUDGET_EXCEEDED"]).toContain(reason);
        refusals += 1;
        return;
      }
      expect(grant !== undefined && grant.nanos >= nanos / 2n && grant.nanos <= nanos).toBe(true);
      if (random() < 0.1) {
        grant?.giveBack();
        return;
      }
      const used = { tokens: whole(tokens + 1), nanos: BigInt(whole(Number(grant?.nanos ?? 0n) + 1)) };
      if (random() < 0.9) grant?.settle({ ...used, isCounted: true });
      else Object.assign(used, { tokens, nanos: grant?.nanos ?? 0n });
      counted.push({ caller, model, startMs, tokens: BigInt(used.tokens), nanos: used.nanos });
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      await Promise.all(Array.from({ length: AT_ONCE }, run));
      nowMs += whole(3 * HOUR_MS);
      await expectStoredWithin(store);
    }
    expectWithin(counted);
    expect([refusals > 0, counted.length > ROUNDS, lost.length], `seed ${SEED}`).toEqual([true, true, 0]);
  });

  test("a rolling window opens with its first request, and a full one says when it starts again", async () => {
    const store = await (await driver.place()).open();
    let nowMs = START_MS;
    const quotas = new Quotas({ store: store.people, nowMs: () => nowMs, onLost: () => undefined });
    const need = { tokens: 2_100, nanos: 0n, leastNanos: 0n };
    const first = await quotas.take(maker, "claude", need);
    expect(first?.warning).toBe(
      "key maker; quota=tokens; period=five_hours; used_percent=52; reset=2026-10-24T17:00:00.000Z",
    );
    nowMs += 4 * HOUR_MS;
    await expect(quotas.take(maker, "claude", need)).rejects.toMatchObject({
      reason: "ERROR_REASON_QUOTA_EXCEEDED",
      metadata: {
        quota: "tokens",
        period: "five_hours",
        owner: "key maker",
        limit_value: "4000",
        used: "2100",
        remaining: "1900",
        needed: "2100",
        reset_time: "2026-10-24T17:00:00.000Z",
        retry_after_ms: String(HOUR_MS),
      },
    });
    nowMs += HOUR_MS;
    const next = await quotas.take(maker, "claude", need);
    // What the first request did not use was of another window.
    first?.giveBack();
    next?.settle({ tokens: 100, nanos: 0n, isCounted: true });
    await quotas.take(maker, "claude", { ...need, tokens: 3_900 });
    expect(await quotas.usesOf("key", "maker", OF_MAKER)).toEqual([
      {
        period: QuotaPeriod.QUOTA_PERIOD_FIVE_HOURS,
        model: "",
        requests: 2n,
        tokens: 4_000n,
        amountNanos: 0n,
        startTime: new Date(nowMs),
        resetTime: new Date(nowMs + 5 * HOUR_MS),
      },
    ]);
  });

  test("money is lowered to what a quota has left, and refused below the least", async () => {
    const store = await (await driver.place()).open();
    const quotas = new Quotas({ store: store.people, nowMs: () => START_MS, onLost: () => undefined });
    const need = { tokens: 1, nanos: 500n, leastNanos: 300n };
    expect((await quotas.take(maker, "claude", need))?.nanos).toBe(500n);
    expect((await quotas.take(maker, "claude", need))?.nanos).toBe(400n);
    await expect(quotas.take(maker, "claude", need)).rejects.toMatchObject({
      reason: "ERROR_REASON_BUDGET_EXCEEDED",
      metadata: { budget: "five_hours", owner: "account acme", limit_nanos: "900", remaining_nanos: "0" },
    });
  });
});
