/** Nobody takes all the room for calls that no limit of a key counts: each method, asked for without end. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Cancellation, type CancelSignal } from "../../../src/base/cancellation.js";
import { type AnyMethod, serviceMethod } from "../../../src/api/methods.js";
import { FrontServiceService, UsageServiceService } from "../../../src/api/index.js";
import { SCOPES } from "../../../src/keys/caller.js";
import { Dispatcher } from "../../../src/rpc/call/dispatcher.js";
import { ConcurrencyLimiter } from "../../../src/rpc/call/concurrency-limiter.js";
import { openCore, type OpenCore } from "../open-core.js";
import { bySweep } from "../../support/sweep.js";
import { TENANT_METHODS } from "../tenant-methods.js";

const MANY = 400;
/** Of each of the eight keys: together more than their account may. */
const OF_EACH = bySweep({ short: 100, long: MANY, all: MANY });

let core: OpenCore;
let secrets: { readonly noisy: readonly string[]; readonly quiet: string };
beforeAll(async () => {
  core = await openCore();
  const scopes = SCOPES.filter((scope) => scope !== "operator");
  const noisy = [];
  for (let count = 0; count < 8; count += 1) noisy.push((await core.makeKey("noisy", { scopes })).secret);
  secrets = { noisy, quiet: (await core.makeKey("quiet", { scopes })).secret };
});
afterAll(() => core.close());

/** The calls that run for ever, and what the others were told. */
class Calls {
  asked = 0;
  /** Those that came to their method, which never answers. */
  running = 0;
  readonly refused: { readonly reason: string; readonly metadata: Readonly<Record<string, string>> }[] = [];
  readonly #gone = new Cancellation();
  readonly #ended: Promise<unknown>[] = [];
  readonly #dispatcher: Dispatcher;

  constructor(private readonly path: string) {
    this.#dispatcher = hanging(path, () => (this.running += 1));
  }

  /** Every call runs, or was refused. */
  get isSettled(): boolean {
    return this.running + this.refused.length === this.asked;
  }

  ask(secret: string, local = false): void {
    const call = { metadata: { authorization: `Bearer ${secret}` }, signal: this.#gone, peer: "", local };
    const method = methodAt(this.path);
    const sink = { head: () => undefined, data: () => true, onDrain: () => undefined };
    this.asked += 1;
    const asked = method.responseStream
      ? this.#dispatcher.stream(method, {}, call, sink)
      : this.#dispatcher.unary(method, {}, call);
    this.#ended.push(
      asked.then((outcome) => {
        if (outcome.kind === "refused")
          this.refused.push({ reason: outcome.error.reasonWord, metadata: outcome.error.metadata });
      }),
    );
  }

  async leave(): Promise<void> {
    this.#gone.abort(new Error("over"));
    await Promise.all(this.#ended);
  }
}

function methodAt(path: string): AnyMethod {
  const method = serviceMethod(path);
  if (method === undefined) throw new Error(`there is no ${path}`);
  return method;
}

/** A service of one method, which never answers. */
function hanging(path: string, onCall: () => void): Dispatcher {
  const never = (_request: unknown, { signal }: { readonly signal: CancelSignal }): Promise<never> => {
    onCall();
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new Error("over")), { once: true });
    });
  };
  const stream = never as never;
  const unary = never as never;
  return new Dispatcher(core.parts, [methodAt(path).responseStream ? { path, stream } : { path, unary }]);
}

describe.each(TENANT_METHODS)("$path", ({ path }) => {
  test("one key, and all keys of one account, have a bounded share, and others still get in", async () => {
    const calls = new Calls(path);
    const [first = ""] = secrets.noisy;
    for (let count = 0; count < MANY; count += 1) calls.ask(first);
    await expect.poll(() => calls.isSettled).toBe(true);
    expect(calls.refused.length).toBeGreaterThan(MANY / 2);
    expect(new Set(calls.refused.map(({ reason }) => reason))).toEqual(new Set(["RATE_LIMITED"]));
    const ofKey = calls.running;
    for (const secret of secrets.noisy) for (let count = 0; count < OF_EACH; count += 1) calls.ask(secret);
    await expect.poll(() => calls.isSettled).toBe(true);
    expect(calls.running).toBeGreaterThan(ofKey);
    expect(calls.running).toBeLessThan(200);
    expect(calls.refused.at(-1)?.metadata).toMatchObject({ remaining: "0", reset_ms: expect.any(String) as string });

    const { running } = calls;
    calls.ask(secrets.quiet);
    await expect.poll(() => calls.isSettled).toBe(true);
    expect(calls.running).toBe(running + 1);
    const refused = calls.refused.length;
    await calls.leave();
    // What runs no more left its room.
    expect(calls.refused.length).toBe(refused + running + 1);
    const again = new Calls(path);
    again.ask(first);
    await expect.poll(() => again.running).toBe(1);
    await again.leave();
  });
});

test("a front end of ours is not held to what a key may ask for at once", async () => {
  const { path } = FrontServiceService.watchCaller;
  const calls = new Calls(path);
  for (let count = 0; count < MANY; count += 1) calls.ask(secrets.quiet, true);
  await expect.poll(() => calls.isSettled).toBe(true);
  expect([calls.running, calls.refused]).toEqual([MANY, []]);
  await calls.leave();
});

describe("the room of all", () => {
  const bounds = { ofKey: 4, ofAccount: 8, ofAll: 32 };
  const caller = (accountId: string, keyId: string, operates = false): never =>
    ({ accountId, keyId, hasScope: () => operates }) as never;
  const fill = (rooms: ConcurrencyLimiter, account: string, keys: number, operates = false): number => {
    let entered = 0;
    for (let key = 0; key < keys; key += 1)
      for (let call = 0; call < 40; call += 1)
        try {
          rooms.enter("calls", caller(account, `${account} ${key}`, operates));
          entered += 1;
        } catch {
          // It is full.
        }
    return entered;
  };

  test("is shared evenly where it is full, and never holds more than twice as many", () => {
    const rooms = new ConcurrencyLimiter({ calls: bounds, streams: bounds });
    for (let account = 0; account < 4; account += 1) expect(fill(rooms, `big ${account}`, 9)).toBe(8);
    // All 32 are taken: whoever comes now has an even share all the same.
    const later = Array.from({ length: 40 }, (_, index) => fill(rooms, `small ${index}`, 9));
    expect(later[0]).toBe(7);
    expect(later.reduce((sum, entered) => sum + entered, 0)).toBe(32);
    expect(later.filter((entered) => entered > 0)).toHaveLength(7);
  });

  test("operators may take all of it, and no more than all", () => {
    const rooms = new ConcurrencyLimiter({ calls: bounds, streams: bounds });
    expect(fill(rooms, "root", 3, true)).toBe(32);
    expect(fill(rooms, "acme", 1)).toBe(4);
  });
});

test("streams that watch are methods of the walk", () => {
  const paths = TENANT_METHODS.map(({ path }) => path);
  expect(paths).toContain(UsageServiceService.watchRequests.path);
  expect(paths.length).toBeGreaterThan(20);
});
