/** A short fault under load, by a clock of the test's own: how long a target is ejected for it. */
import { expect, test } from "vitest";
import { UpstreamHealth } from "../../src/routing/upstream-health.js";

const CLIENTS = 100;
const BLIP_FROM_MS = 10_000;
const BLIP_MS = 300;
const END_MS = 60_000;

interface Attempt {
  readonly endMs: number;
  readonly token: number;
  readonly accountId: string;
}

/** Draws numbers from 0 to 1, the same in each run. */
function drawer(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Each client asks again as soon as it was answered or refused. Whatever ends amid the blip fails. */
function run(accounts: number, isAlone: boolean, seed: number): { readonly lastRefusalMs: number; mostMs: number } {
  const random = drawer(seed);
  const health = new UpstreamHealth().of("model");
  const running = new Map<number, Attempt>();
  let lastRefusalMs = 0;
  let mostMs = 0;
  for (let nowMs = 0; nowMs < END_MS; nowMs += 10) {
    for (let client = 0; client < CLIENTS; client += 1) {
      const attempt = running.get(client);
      if (attempt !== undefined && attempt.endMs <= nowMs) {
        running.delete(client);
        health.end();
        const { token, accountId } = attempt;
        const fails = nowMs >= BLIP_FROM_MS && nowMs < BLIP_FROM_MS + BLIP_MS;
        if (fails) health.fail({ nowMs, token, accountId }, client % 3 > 0);
        else health.succeed({ nowMs, token, accountId });
      }
      if (running.has(client)) continue;
      const accountId = `account ${client % accounts}`;
      const mayAsk = health.admits(nowMs, accountId) || (isAlone && health.nextTryMs(nowMs, accountId) === 0);
      if (!mayAsk) {
        lastRefusalMs = nowMs;
        continue;
      }
      const token = health.begin(nowMs, accountId);
      running.set(client, { endMs: nowMs + 20 + random() * 2_000, token, accountId });
    }
    mostMs = Math.max(mostMs, health.ownCoolingMs(nowMs), health.upstream.coolingMs(nowMs));
  }
  return { lastRefusalMs, mostMs };
}

test.each([1, 2, 100])("a blip of 300 ms under 100 clients of %i accounts costs one ejection at most", (accounts) => {
  for (let seed = 1; seed <= 3; seed += 1) {
    const { lastRefusalMs, mostMs } = run(accounts, false, seed);
    expect(mostMs).toBeLessThanOrEqual(30_000);
    // After its ejection one request a second shows that it is well: the first that does ends it.
    expect(lastRefusalMs).toBeLessThanOrEqual(BLIP_FROM_MS + BLIP_MS + 30_000 + 4_000);
  }
});

test.each([1, 2, 100])("a target alone, with %i accounts, is back within seconds of the blip", (accounts) => {
  for (let seed = 1; seed <= 3; seed += 1) {
    expect(run(accounts, true, seed).lastRefusalMs).toBeLessThanOrEqual(BLIP_FROM_MS + BLIP_MS + 6_000);
  }
});
