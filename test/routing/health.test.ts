/** When an upstream is set aside, and when it is taken back. */
import { describe, expect, test } from "vitest";
import { Health } from "../../src/routing/health.js";

function failTimes(health: Health, times: number, nowMs: number): void {
  for (let index = 0; index < times; index += 1) {
    health.begin(nowMs);
    health.fail(nowMs);
    health.end();
  }
}

describe("health of an upstream", () => {
  test("is set aside for 30 s after five failures in a row, and longer each time", () => {
    const health = new Health();
    failTimes(health, 4, 0);
    expect(health.state(0)).toBe("healthy");
    failTimes(health, 1, 0);
    expect(health.coolingMs(0)).toBe(30_000);
    expect(health.state(30_000)).toBe("healthy");
    failTimes(health, 1, 30_000);
    expect(health.coolingMs(30_000)).toBe(60_000);
  });

  test("lets one request through after the pause, and all after that one did well", () => {
    const health = new Health();
    failTimes(health, 5, 0);
    expect(health.admits(29_999)).toBe(false);
    expect(health.admits(30_000)).toBe(true);
    health.begin(30_000);
    expect(health.admits(30_001)).toBe(false);
    health.succeed(30_001);
    health.end();
    expect(health.admits(30_002)).toBe(true);
  });

  test("a success between failures starts the count anew", () => {
    const health = new Health();
    failTimes(health, 4, 0);
    health.succeed(0);
    failTimes(health, 4, 0);
    expect(health.state(0)).toBe("healthy");
  });

  test("is set aside where most of twenty requests fail, though never five in a row", () => {
    const health = new Health();
    for (let index = 0; index < 24; index += 1) {
      health.begin(0);
      if (index % 5 < 2) health.succeed(0);
      else health.fail(0);
      health.end();
    }
    expect(health.state(0)).toBe("cooling");
  });

  test("a refused credential stays refused until an operator resets it", () => {
    const health = new Health();
    health.refuse();
    expect(health.state(1e12)).toBe("refused");
    health.reset();
    expect(health.state(1e12)).toBe("healthy");
  });

  test("waits as long as the upstream asks, at most five minutes", () => {
    const health = new Health();
    health.wait(0, 2_000);
    expect(health.waitMs(500)).toBe(1_500);
    health.wait(0, 3_600_000);
    expect(health.waitMs(0)).toBe(300_000);
  });

  test("retries are at most three and a tenth of the requests", () => {
    const health = new Health();
    let retries = 0;
    for (let index = 0; index < 200; index += 1) {
      health.begin(0);
      if (health.spendRetry()) retries += 1;
      health.end();
    }
    expect(retries).toBeGreaterThanOrEqual(20);
    expect(retries).toBeLessThanOrEqual(23);
  });
});
