/** Proves after a scenario that the gateway took exactly what it should: the ledger holds, and the sums are right. */
import { setTimeout as sleep } from "node:timers/promises";
import { ACCOUNT } from "./gateway-under-test.mjs";

const SETTLE_MS_MAX = 15_000;

/**
 * Returns what is wrong, a sentence each.
 * @param {{ http: string, operatorKey: string }} gateway
 * @param {bigint} expectedNanos
 * @returns {Promise<string[]>}
 */
export async function proveLedger(gateway, expectedNanos) {
  const balance = await settledBalance(gateway);
  const problems = [];
  if (balance.held_nanos !== "0") problems.push(`${balance.held_nanos} nano-USD are still held`);
  if (balance.spent_nanos !== String(expectedNanos))
    problems.push(`spent ${balance.spent_nanos} nano-USD, not ${expectedNanos}`);
  const verdict = await ask(gateway, "POST", "/api/v1/ledger:verify");
  if (verdict.holds !== true) problems.push(`the ledger does not hold: ${(verdict.problems ?? []).join("; ")}`);
  return problems;
}

/**
 * Answers reach the client before their settlement is durable, so the last ones are waited for.
 * @param {{ http: string, operatorKey: string }} gateway
 */
async function settledBalance(gateway) {
  for (const deadlineMs = performance.now() + SETTLE_MS_MAX; ; await sleep(50)) {
    const balance = await ask(gateway, "GET", `/api/v1/accounts/${ACCOUNT}/balance`);
    if (balance.held_nanos === "0" || performance.now() > deadlineMs) return balance;
  }
}

/**
 * @param {{ http: string, operatorKey: string }} gateway
 * @param {"GET" | "POST"} method
 * @param {string} path
 */
async function ask({ http, operatorKey }, method, path) {
  const response = await fetch(`http://${http}${path}`, {
    method,
    headers: { authorization: `Bearer ${operatorKey}`, "content-type": "application/json" },
    ...(method === "POST" ? { body: "{}" } : {}),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}
