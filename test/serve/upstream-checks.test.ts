/** When the gateway checks an upstream by itself, and what a check changes. */
import { beforeEach, expect, test } from "vitest";
import { TestUpstreamResponse, UpstreamTestResult } from "../../src/api/index.js";
import type { CheckSettings, UpstreamSettings } from "../../src/config/settings.js";
import type { ServedUpstream } from "../../src/routing/model.js";
import { UpstreamChecks } from "../../src/serve/upstream-checks.js";
import { targetOf } from "../routing/served.js";

const MINUTE_MS = 60_000;
const LOOK_MS = 15_000;
const { UPSTREAM_TEST_RESULT_WELL: WELL, UPSTREAM_TEST_RESULT_UNREACHABLE: UNREACHABLE } = UpstreamTestResult;
const ACME = "acme";

const NEVER_SENDS = {
  send: () => {
    throw new Error("the board is a fake: nothing is sent");
  },
  close: () => Promise.resolve(),
};

let nowMs: number;
let served: Map<string, ServedUpstream>;
let done: string[];
let results: Map<string, UpstreamTestResult>;
let warnings: object[];

beforeEach(() => {
  nowMs = 1_000_000;
  served = new Map();
  done = [];
  results = new Map();
  warnings = [];
});

/** Checks of upstreams with these settings, over a board that notes what it is asked to do. */
function checksOf(settings: Readonly<Record<string, CheckSettings | undefined>>): UpstreamChecks {
  for (const id of Object.keys(settings)) served.set(id, targetOf(NEVER_SENDS, id).served);
  const same = { family: "openai-compatible", apiKey: undefined, baseUrl: undefined, promptCache: undefined };
  const wanted: UpstreamSettings[] = [];
  for (const [id, checks] of Object.entries(settings)) wanted.push({ id, unknownMembers: "pass", checks, ...same });
  return new UpstreamChecks({
    settings: () => wanted,
    served: () => served,
    board: {
      test: (id, isListOnly) => {
        done.push(`${id} ${isListOnly ? "list" : "call"}`);
        const result = results.get(id) ?? WELL;
        return Promise.resolve({ ...TestUpstreamResponse.decode(new Uint8Array()), result, problem: "no route" });
      },
    },
    nowMs: () => nowMs,
    onChecked: () => undefined,
    log: { warn: (about: object) => void warnings.push(about) } as never,
  });
}

/** Lets time pass, with a look at every 15 seconds, and returns what was checked meanwhile. */
async function pass(checks: UpstreamChecks, minutes: number, each: () => void = () => undefined): Promise<string[]> {
  done = [];
  for (const endMs = nowMs + minutes * MINUTE_MS; nowMs < endMs; nowMs += LOOK_MS) {
    each();
    checks.look();
    await Promise.resolve();
    await Promise.resolve();
  }
  return done;
}

function request(id: string): void {
  const target = served.get(id)?.health.of("m");
  target?.begin(nowMs, ACME);
  target?.end();
}

test("a quiet upstream has its list read every ten minutes, and is called only where settings say so", async () => {
  const checks = checksOf({ plain: undefined, off: { listMs: 0 }, called: { callMs: 30 * MINUTE_MS } });
  expect(await pass(checks, 10)).toEqual([]);
  expect((await pass(checks, 22)).toSorted()).toEqual([
    "called call",
    "called list",
    "called list",
    "plain list",
    "plain list",
    "plain list",
  ]);
});

test("an upstream to which requests go is not checked", async () => {
  const checks = checksOf({ busy: { callMs: MINUTE_MS } });
  expect(await pass(checks, 60, () => request("busy"))).toEqual([]);
});

test("a call that another node proved it by is not paid for again, unless it is ejected here", async () => {
  const checks = checksOf({ spare: { listMs: 0, callMs: 5 * MINUTE_MS } });
  const health = served.get("spare")?.health;
  expect(await pass(checks, 30, () => health?.prove(nowMs))).toEqual([]);
  const target = health?.of("m");
  const token = target?.begin(nowMs, ACME) ?? 0;
  target?.end();
  target?.refuse({ nowMs, token, accountId: ACME }, "credential");
  expect(await pass(checks, 11, () => health?.prove(nowMs))).toHaveLength(3);
});

test("a drained upstream is left alone, and so is one that the settings no longer name", async () => {
  const checks = checksOf({ drained: undefined, gone: undefined });
  const drained = served.get("drained");
  if (drained !== undefined) drained.health.isDrained = true;
  served.delete("gone");
  expect(await pass(checks, 30)).toEqual([]);
});

test("one that cannot be reached is warned of once, and stays in use", async () => {
  const checks = checksOf({ dead: undefined });
  const health = served.get("dead")?.health;
  results.set("dead", UNREACHABLE);
  const note = (): void => {
    if (health !== undefined && done.length > 0)
      health.lastCheck = { checkTime: new Date(0), result: UNREACHABLE, problem: "", missingModels: [] };
  };
  expect(await pass(checks, 31, note)).toHaveLength(3);
  expect(warnings).toHaveLength(1);
  expect(health?.state(nowMs)).toBe("healthy");
});

test("at most four run at once", () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const checks = checksOf(Object.fromEntries(names.map((name) => [name, undefined])));
  checks.look();
  nowMs += 10 * MINUTE_MS;
  checks.look();
  expect(done).toHaveLength(4);
});
