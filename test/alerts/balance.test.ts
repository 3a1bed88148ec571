/** From money that runs low to a signed request at a webhook: through the real parts, over both databases. */
import type { IncomingHttpHeaders } from "node:http";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Webhook as Verifier } from "standardwebhooks";
import { AlertKind, AlertSettings } from "../../src/api/index.js";
import { gatewayAct } from "../../src/audit/act.js";
import type { Alerts, AlertsOptions } from "../../src/alerts/alerts.js";
import { openPostgresStore } from "../../src/store/postgres/store.js";
import type { Store } from "../../src/store/store.js";
import { creditOf, holdOf, settleOf } from "../ledger/operations.js";
import { openForTest } from "../store/directory.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { alertsOver } from "../support/alerts-over.js";
import { makeDatabase, postgresMissing } from "../support/postgres.js";
import { startReceiver } from "../support/webhook-receiver.js";

const ACT = gatewayAct("test", 0);
const PAGE = { size: 100, token: "" };
const EVERY = { subjectAccountId: "", alertId: "", type: "" };
const MINUTE_MS = 60_000;

const drivers = [
  { driver: "SQLite", open: () => openForTest({ directory: temporaryDirectory() }) },
  { driver: "PostgreSQL", open: openPostgres },
].filter(({ driver }) => driver === "SQLite" || postgresMissing === undefined);

// Receivers compare a signature's time with their own clock.
let clockMs = 0;
beforeEach(() => {
  clockMs = Date.now();
});

async function openPostgres(): Promise<Store> {
  const store = await openPostgresStore({ url: await makeDatabase(), nodeId: "node" });
  onTestFinished(() => store.close());
  return store;
}

function settingsOf(more: Partial<AlertSettings>): AlertSettings {
  return { ...AlertSettings.decode(new Uint8Array()), ...more };
}

const LOW = settingsOf({ kind: AlertKind.ALERT_KIND_BALANCE_LOW, amountNanos: 1_000n, name: "low" });

/** Alerts that look only when the test says so, by the test's clock. */
function alertsOf(store: Store, options: Partial<AlertsOptions> = {}): Alerts {
  const alerts = alertsOver(store, { nowMs: () => clockMs, networks: ["127.0.0.0/8"], everyMs: 3_600_000, ...options });
  onTestFinished(() => alerts.close());
  return alerts;
}

async function openStore(open: () => Promise<Store>, creditNanos: bigint): Promise<Store> {
  const store = await open();
  await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: 0 }, ACT);
  await store.ledger.commit([creditOf(creditNanos, { accountId: "acme", creditId: "first" })]);
  return store;
}

async function spend(store: Store, requestId: string, nanos: bigint): Promise<void> {
  await store.ledger.commit([holdOf({ requestId, accountId: "acme", amountNanos: nanos, nowMs: clockMs })]);
  await store.ledger.commit([settleOf({ requestId, costNanos: nanos, nowMs: clockMs })]);
}

function flat(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

const typesOf = async (alerts: Alerts): Promise<string[]> =>
  (await alerts.events.list(undefined, EVERY, { fromMs: undefined, toMs: undefined }, PAGE)).rows.map(
    ({ type }) => type,
  );

describe.each(drivers)("on $driver", ({ open }) => {
  test("a low balance is told once, to a webhook that verifies it, and once more when it is over", async () => {
    const store = await openStore(open, 1_500n);
    const receiver = await startReceiver();
    const alerts = alertsOf(store);
    const { secret } = await alerts.webhooks.create("acme", { name: "", url: receiver.url, paused: false }, ACT);
    await alerts.rules.create("acme", LOW, ACT);
    alerts.start();
    await alerts.evaluator.round();
    expect(await typesOf(alerts)).toEqual([]);

    await spend(store, "one", 600n);
    for (let round = 0; round < 3; round += 1) await alerts.evaluator.round();
    expect(await typesOf(alerts)).toEqual(["balance_low.fired"]);
    await expect.poll(() => receiver.received.length).toBe(1);
    const [{ body = "", headers = {} } = {}] = receiver.received;
    expect(new Verifier(secret).verify(body, flat(headers))).toMatchObject({
      type: "balance_low.fired",
      data: { account_id: "acme", subject: "account acme", facts: { available_nanos: "900", amount_nanos: "1000" } },
    });
    expect(headers["webhook-id"]).toMatch(/^evt_[0-9a-f]{32}$/);

    // A little above the amount it may go to and fro: nothing is told.
    await store.ledger.commit([creditOf(150n, { accountId: "acme", creditId: "second" })]);
    await alerts.evaluator.round();
    await store.ledger.commit([creditOf(500n, { accountId: "acme", creditId: "third" })]);
    await alerts.evaluator.round();
    expect(await typesOf(alerts)).toEqual(["balance_low.fired"]);
    clockMs += MINUTE_MS;
    await alerts.evaluator.round();
    expect(await typesOf(alerts)).toEqual(["balance_low.resolved", "balance_low.fired"]);
    await expect.poll(() => receiver.received.length).toBe(2);
  });
});
