/** No caller may call methods of management without end: each method, asked one call after the other. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { Cancellation } from "../../../src/base/cancellation.js";
import { FrontServiceService, KeyServiceService } from "../../../src/api/index.js";
import { serviceMethod } from "../../../src/api/methods.js";
import { SCOPES } from "../../../src/keys/caller.js";
import { isChange } from "../../../src/rpc/call/call-log.js";
import { Dispatcher } from "../../../src/rpc/call/dispatcher.js";
import { RateLimiter } from "../../../src/rpc/call/rate-limiter.js";
import { openCore, type OpenCore } from "../open-core.js";
import { TENANT_METHODS } from "../tenant-methods.js";

/** More than one key may call at once, and more than all of its account may. */
const OF_KEY_MAX = { calls: 1_100, changes: 380 };
const ACCOUNT_SHARES = 4;

let core: OpenCore;
let secrets: { readonly busy: readonly string[]; readonly quiet: string; readonly operator: string };
beforeAll(async () => {
  core = await openCore();
  const scopes = SCOPES.filter((scope) => scope !== "operator");
  const busy = [];
  for (let count = 0; count < 6; count += 1) busy.push((await core.makeKey("busy", { scopes })).secret);
  const quiet = (await core.makeKey("quiet", { scopes })).secret;
  secrets = { busy, quiet, operator: (await core.makeKey("", { scopes: ["operator"] })).secret };
});
afterAll(() => core.close());
// Calls come back with the time, which stands still here: no machine is too slow to use them up.
beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

/** Answers at once. */
function answering(path: string): Dispatcher {
  const stream = (): Promise<void> => Promise.resolve();
  const unary = (): Promise<object> => Promise.resolve({});
  const isStream = serviceMethod(path)?.responseStream === true;
  return new Dispatcher(core.parts, [isStream ? { path, stream: stream as never } : { path, unary: unary as never }]);
}

interface Refusal {
  readonly reason: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Undefined where it was answered. */
async function ask(dispatcher: Dispatcher, path: string, secret: string, local = false): Promise<Refusal | undefined> {
  const method = serviceMethod(path);
  if (method === undefined) throw new Error(`there is no ${path}`);
  const call = { metadata: { authorization: `Bearer ${secret}` }, signal: new Cancellation(), peer: "", local };
  const sink = { head: () => undefined, data: () => true, onDrain: () => undefined };
  const outcome = method.responseStream
    ? await dispatcher.stream(method, {}, call, sink)
    : await dispatcher.unary(method, {}, call);
  return outcome.kind === "refused"
    ? { reason: outcome.error.reasonWord, metadata: outcome.error.metadata }
    : undefined;
}

/** How many calls were answered until one was refused, and that refusal. */
async function untilRefused(
  dispatcher: Dispatcher,
  path: string,
  secret: string,
  most: number,
): Promise<{ readonly answered: number; readonly refusal: Refusal | undefined }> {
  for (let answered = 0; answered < most; answered += 1) {
    const refusal = await ask(dispatcher, path, secret);
    if (refusal !== undefined) return { answered, refusal };
  }
  return { answered: most, refusal: undefined };
}

test.each(TENANT_METHODS.map((method) => ({ path: method.path, isChange: isChange(method) })))(
  "$path is refused to a key that calls it too often, and to no other",
  async ({ path, isChange }) => {
    const dispatcher = answering(path);
    const most = isChange ? OF_KEY_MAX.changes : OF_KEY_MAX.calls;
    const { answered, refusal } = await untilRefused(dispatcher, path, secrets.busy[0] ?? "", most);
    expect(answered).toBeGreaterThan(most / 2);
    expect(refusal).toMatchObject({ reason: "RATE_LIMITED", metadata: { remaining: "0" } });
    expect(refusal?.metadata["owner"]).toMatch(/^key /);
    expect(Number(refusal?.metadata["reset_ms"])).toBeGreaterThan(0);
    expect(await ask(dispatcher, path, secrets.quiet)).toBeUndefined();
  },
);

test("all keys of an account together have a few times as much", async () => {
  const { path } = KeyServiceService.createKey;
  const dispatcher = answering(path);
  let all = 0;
  let last: Refusal | undefined;
  for (const secret of secrets.busy) {
    const { answered, refusal } = await untilRefused(dispatcher, path, secret, OF_KEY_MAX.changes);
    all += answered;
    last = refusal;
  }
  expect(all).toBeLessThan(OF_KEY_MAX.changes * ACCOUNT_SHARES);
  expect(last?.metadata["owner"]).toBe("account busy");
  expect(await ask(dispatcher, path, secrets.quiet)).toBeUndefined();
});

test("an operator, and a front end of ours, are held to no pace", async () => {
  const { path } = KeyServiceService.listKeys;
  const most = 2 * OF_KEY_MAX.calls;
  expect(await untilRefused(answering(path), path, secrets.operator, most)).toMatchObject({ refusal: undefined });
  const watch = FrontServiceService.watchCaller.path;
  const dispatcher = answering(watch);
  for (let count = 0; count < most; count += 1)
    expect(await ask(dispatcher, watch, secrets.quiet, true)).toBeUndefined();
});

test("calls come back with the time, and whoever has all of them is forgotten", () => {
  let nowMs = 0;
  const paces = new RateLimiter(() => nowMs);
  const caller = (keyId: string): never => ({ accountId: `of ${keyId}`, keyId, hasScope: () => false }) as never;
  const taken = (keyId: string): number => {
    for (let count = 0; ; count += 1)
      try {
        paces.take("/method", "changes", caller(keyId));
      } catch {
        return count;
      }
  };
  const burst = taken("k");
  expect(taken("k")).toBe(0);
  nowMs += 10_000;
  const came = taken("k");
  expect(came).toBeGreaterThan(0);
  expect(came).toBeLessThan(burst);
  for (let count = 0; count < 40_000; count += 1) {
    nowMs += 100;
    paces.take("/method", "changes", caller(`k${count}`));
  }
  expect(paces.size).toBeLessThan(25_000);
});
