/** Deliveries in each database: at least once whoever dies, for a day, and signed through a rotation. */
import { randomBytes, randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import type { Alerts } from "../../src/alerts/alerts.js";
import { Deliveries } from "../../src/alerts/deliveries.js";
import { EventMaker } from "../../src/alerts/event-maker.js";
import type { Posted } from "../../src/alerts/post.js";
import type { AttemptRow, EventRow } from "../../src/alerts/rows.js";
import { Sender } from "../../src/alerts/sender.js";
import { AlertKind, AlertSettings } from "../../src/api/index.js";
import type { Store } from "../../src/store/store.js";
import { creditOf, NOON_MS } from "../ledger/operations.js";
import { TEST_ACT } from "../support/acts.js";
import { alertsOver } from "../support/alerts-over.js";
import { onEachStore, openStore } from "../support/stores.js";
import { startReceiver } from "../support/webhook-receiver.js";

const HOUR_MS = 3_600_000;
const WEBHOOK = { name: "", url: "http://127.0.0.1:9/hook", paused: false };
const PAGE = { size: 1_000, token: "" };
const FAILED: Posted = { status: 503, problem: "it answered with status 503", answer: "" };
const TAKEN: Posted = { status: 204, problem: "", answer: "" };
const OPTIONS = { networks: ["127.0.0.0/8"], everyMs: HOUR_MS };

let nowMs = NOON_MS;

/** Alerts that neither look nor send by themselves. */
function alertsOf(store: Store, more: Partial<Parameters<typeof alertsOver>[1]> = {}): Alerts {
  const alerts = alertsOver(store, { ...OPTIONS, nowMs: () => nowMs, ...more });
  onTestFinished(() => alerts.close());
  return alerts;
}

/** A node's sender, in the test's hand. */
function senderOf(store: Store, send: () => Promise<Posted>): Sender {
  return new Sender({
    store,
    send,
    nowMs: () => nowMs,
    random: () => 0.5,
    onError: () => undefined,
  });
}

interface Made {
  readonly id: string;
  readonly deliveries: Deliveries;
}

/** A test event that nobody sends yet. */
async function madeIn(store: Store): Promise<Made> {
  const { webhook } = await alertsOf(store).webhooks.create("", WEBHOOK, TEST_ACT);
  const makeId = (): string => randomUUID();
  const parts = { store, nodeId: "node_0", makeId, nowMs: () => nowMs, sendsMail: false, onMade: () => undefined };
  const { id = "" } = (await new EventMaker(parts).test(webhook, TEST_ACT)) ?? {};
  return { id, deliveries: new Deliveries(store, parts.nowMs, () => undefined) };
}

onEachStore((driver) => {
  test("an event is tried with growing pauses for a day, then left, and sent anew when that is asked", async () => {
    const store = await openStore(driver);
    const { id, deliveries } = await madeIn(store);
    let answer = FAILED;
    const sender = senderOf(store, () => Promise.resolve(answer));
    onTestFinished(() => sender.close());
    const beganMs = nowMs;
    const ended = async (count: number): Promise<readonly AttemptRow[]> => {
      sender.poke();
      const logged = async (): Promise<number> => (await deliveries.attempts(id)).length;
      await expect.poll(logged, { interval: 10 }).toBe(count);
      return deliveries.attempts(id);
    };

    let attempts = await ended(1);
    for (let count = 2; ; count += 1) {
      const { state, nextTimeMs = 0 } = (await deliveries.find(id)) ?? {};
      if (state !== "waiting") break;
      nowMs = nextTimeMs;
      attempts = await ended(count);
    }
    const found = await deliveries.find(id);
    if (found === undefined) throw new Error("the delivery is gone");
    expect(found.state).toBe("failed");
    const times = attempts.map(({ startTimeMs }) => startTimeMs);
    const pauses = times.slice(1).map((timeMs, index) => timeMs - (times[index] ?? 0));
    expect(pauses.slice(0, 4)).toEqual([5_000, 30_000, 120_000, 600_000]);
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(nowMs - beganMs).toBeLessThanOrEqual(24 * HOUR_MS);
    expect(nowMs - beganMs).toBeGreaterThan(18 * HOUR_MS);
    expect(attempts.every(({ status, problem }) => status === 503 && problem !== "")).toBe(true);

    answer = TAKEN;
    expect(await deliveries.resend(found, TEST_ACT)).toMatchObject({ state: "waiting" });
    await ended(attempts.length + 1);
    await expect.poll(async () => (await deliveries.find(id))?.state).toBe("delivered");
  });

  test("what a node was sending when it died is sent by another one, and its late word is nothing", async () => {
    const store = await openStore(driver);
    const { id, deliveries } = await madeIn(store);
    let late = (_posted: Posted): void => undefined;
    const dying = senderOf(store, () => new Promise((resolve) => (late = resolve)));
    dying.poke();
    await expect.poll(async () => (await deliveries.find(id))?.attempts, { interval: 10 }).toBe(1);
    let sent = 0;
    const other = senderOf(store, () => {
      sent += 1;
      return Promise.resolve(TAKEN);
    });
    onTestFinished(() => other.close());
    // While its claim is in force, nobody else sends.
    nowMs += 50_000;
    other.poke();
    await deliveries.find(id);
    expect(sent).toBe(0);
    nowMs += 11_000;
    other.poke();
    await expect.poll(async () => (await deliveries.find(id))?.state, { interval: 10 }).toBe("delivered");
    late(FAILED);
    await dying.close();
    expect(await deliveries.find(id)).toMatchObject({ state: "delivered", attempts: 2 });
    expect(sent).toBe(1);
  });

  test("accounts take turns, and one whose webhooks hang leaves room for others", async () => {
    const store = await openStore(driver);
    const { webhooks } = alertsOf(store);
    const makeId = (): string => randomUUID();
    const parts = { store, nodeId: "node_0", makeId, nowMs: () => nowMs, sendsMail: false, onMade: () => undefined };
    const maker = new EventMaker(parts);
    for (let index = 0; index < 20; index++) {
      const { webhook } = await webhooks.create("greedy", WEBHOOK, TEST_ACT);
      await maker.test(webhook, TEST_ACT);
    }
    nowMs += 1;
    const { webhook } = await webhooks.create("modest", WEBHOOK, TEST_ACT);
    await maker.test(webhook, TEST_ACT);
    const values = { nowMs, busyUntilMs: nowMs + 60_000, accountCount: 8, count: 16 };
    const claimed = async (): Promise<string[]> =>
      ((await store.alertSteps([{ statement: "claimDue", values }]))[0] ?? []).map((row) => String(row["account_id"]));
    expect((await claimed()).toSorted()).toEqual([...Array<string>(8).fill("greedy"), "modest"]);
    expect(await claimed()).toEqual([]);
    // Nothing is due that may be taken, so that nobody looks again before a claim ends.
    const [[next] = []] = await store.alertSteps([{ statement: "nextDue", values: { nowMs } }]);
    expect(Number(next?.["next"])).toBe(nowMs + 60_000);
  });

  test("what waits for a paused webhook is bounded, wakes nobody, and ends after a day", async () => {
    const store = await openStore(driver);
    const alerts = alertsOf(store);
    const { webhook } = await alerts.webhooks.create("", { ...WEBHOOK, paused: true }, TEST_ACT);
    for (let index = 0; index < 100; index++) await alerts.maker.test(webhook, TEST_ACT);
    await expect(alerts.maker.test(webhook, TEST_ACT)).rejects.toMatchObject({
      metadata: { problem: expect.stringContaining("end its pause") as string },
    });
    const due = async (atMs: number): Promise<unknown> => {
      const values = { nowMs: atMs, busyUntilMs: atMs + 60_000, accountCount: 8, count: 16 };
      const steps = [
        { statement: "claimDue", values },
        { statement: "nextDue", values: { nowMs: atMs - 1 } },
      ] as const;
      return store.alertSteps(steps);
    };
    expect(await due(nowMs)).toEqual([[], []]);
    nowMs += 25 * HOUR_MS;
    await alerts.evaluator.round();
    const { rows } = await alerts.deliveries.list(undefined, { webhookId: webhook.id, eventId: "" }, PAGE);
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(["failed"]));
    expect(rows).toHaveLength(100);
  });

  test("two nodes list each event once, and deliver each at least once", async () => {
    const place = await driver.place();
    const first = await place.open("node_1");
    // A file of SQLite has one process; two that share a store are as much of two nodes as there is.
    const stores = [first, driver.id === "sqlite" ? first : await place.open("node_2")];
    const receiver = await startReceiver();
    const ids = Array.from({ length: 20 }, (_, index) => `account_${index}`);
    for (const id of ids) await first.accounts.create({ id, name: id, createTimeMs: nowMs }, TEST_ACT);
    await first.ledger.commit(ids.map((accountId) => creditOf(900n, { accountId, creditId: accountId })));
    const sealKeys = { keys: [randomBytes(32)] };
    // A turn ends at once, so that both look.
    const nodes = stores.map((store) => alertsOf(store, { nowMs: Date.now, sealKeys, everyMs: 5 }));
    const [one] = nodes;
    if (one === undefined) throw new Error("there is no node");
    const settings = {
      ...AlertSettings.decode(new Uint8Array()),
      kind: AlertKind.ALERT_KIND_BALANCE_LOW,
      amountNanos: 1_000n,
    };
    await one.webhooks.create("", { ...WEBHOOK, url: receiver.url }, TEST_ACT);
    await one.rules.create("", settings, TEST_ACT);
    for (const node of nodes) node.start();
    const every = { subjectAccountId: "", alertId: "", type: "" };
    const listed = async (): Promise<readonly EventRow[]> =>
      (await one.events.list(undefined, every, { fromMs: undefined, toMs: undefined }, PAGE)).rows;
    await expect.poll(async () => (await listed()).length).toBe(ids.length);
    await Promise.all(nodes.map((node) => node.evaluator.round()));
    const rows = await listed();
    expect(rows.map(({ subject }) => subject).toSorted()).toEqual(ids.map((id) => `account ${id}`).toSorted());
    const delivered = (): Set<unknown> => new Set(receiver.received.map(({ headers }) => headers["webhook-id"]));
    await expect.poll(() => delivered().size).toBe(rows.length);
    expect(delivered()).toEqual(new Set(rows.map(({ id }) => id)));
  });

  test("a secret is sealed anew while the root secret is rotated, and opens without the one before", async () => {
    const store = await openStore(driver);
    const [before, after] = [randomBytes(32), randomBytes(32)];
    const old = alertsOf(store, { sealKeys: { keys: [before] } });
    const { webhook, secret } = await old.webhooks.create("", WEBHOOK, TEST_ACT);
    const rotated = await old.webhooks.rotate(webhook, 3_600, TEST_ACT);
    // The next step begins on another node: this one knows what comes, and leaves it as it is.
    const next = alertsOf(store, { sealKeys: { keys: [before, after] } });
    expect(await next.webhooks.sealAnew()).toBe(0);
    const both = alertsOf(store, { sealKeys: { keys: [after, before], previous: before } });
    await both.evaluator.round();
    expect(await both.webhooks.sealAnew()).toBe(0);
    const found = await both.webhooks.find(webhook.id);
    if (found === undefined) throw new Error("the webhook is gone");
    const secrets = [rotated.secret, secret];
    expect(next.webhooks.secretsOf(found)).toEqual(secrets);
    expect(alertsOf(store, { sealKeys: { keys: [after] } }).webhooks.secretsOf(found)).toEqual(secrets);
    expect(old.webhooks.secretsOf(found)).toEqual([]);
    // Whoever read it before may still change it.
    expect(found.revision).toBe(rotated.webhook.revision);
  });
});
