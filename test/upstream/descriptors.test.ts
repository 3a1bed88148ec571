/** A process that may open nothing more says so, and blames no upstream. */
import { expect, test } from "vitest";
import { connectionFailure } from "../../src/routing/failure-message.js";
import { nextAfter, recordOutcome } from "../../src/routing/failure-policy.js";
import { UpstreamHealth } from "../../src/routing/upstream-health.js";
import { DescriptorWatch } from "../../src/serve/descriptor-watch.js";
import { isOutOfDescriptors } from "../../src/upstream/descriptors.js";

const coded = (code: string): Error => Object.assign(new Error(code), { code });
const failing = (code: string) => (): never => {
  throw coded(code);
};

test.each([
  { code: "EMFILE", isOut: true },
  { code: "ENFILE", isOut: true },
  { code: "ENOENT", isOut: false },
])("a file that cannot be opened for $code: $isOut", ({ code, isOut }) => {
  expect(isOutOfDescriptors(failing(code))).toBe(isOut);
});

test("here there are descriptors", () => {
  expect(isOutOfDescriptors()).toBe(false);
});

test.each([
  { code: "EMFILE", sent: false, reason: "ERROR_REASON_OVERLOADED", isEjected: false },
  { code: "ECONNREFUSED", sent: false, reason: "ERROR_REASON_UPSTREAM_FAILED", isEjected: true },
])("ten connections that fail with $code eject the upstream: $isEjected", ({ code, sent, reason, isEjected }) => {
  const health = new UpstreamHealth();
  const target = health.of("m");
  const error = connectionFailure(coded(code), sent);
  expect(error.reason).toBe(reason);
  for (let count = 0; count < 10; count += 1) {
    const evidence = { nowMs: count, token: target.begin(count, "acme"), accountId: "acme" };
    recordOutcome(target, evidence, { error, status: 0, hasOutput: false } as never, undefined);
    target.end();
  }
  expect(health.ejections(10).length > 0).toBe(isEjected);
  expect(nextAfter(error).shouldFailover, "no other target could be reached either").toBe(isEjected);
});

test("that none is left has one line, and one once it was well for half a minute", () => {
  const lines: string[] = [];
  const log = {
    error: (_: object, message: string) => void lines.push(message),
    warn: (_: object, message: string) => void lines.push(message),
  };
  let [timeMs, isOut] = [0, false];
  const watch = new DescriptorWatch(
    log,
    () => timeMs,
    () => isOut,
  );
  for (; timeMs < 120_000; timeMs += 1_000) {
    isOut = timeMs >= 10_000 && timeMs < 60_000 && timeMs % 3_000 === 0;
    watch.look();
    if (isOut) watch.met();
  }
  expect(lines).toEqual([expect.stringContaining("raise LimitNOFILE"), "there are file descriptors again"]);
});
