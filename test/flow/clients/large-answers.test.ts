/** Answers beyond what is kept of them: charged once, and whoever asks again is told so. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { formatMoney } from "../../../src/base/money.js";
import { chat, postChat } from "../../support/chat-call.js";
import { type DroppingProxy, lossesHeard, startDroppingProxy } from "../../support/dropping-proxy.js";
import type { FakeScript } from "../../support/fake-upstream.js";
import { allowTimeToFail } from "../../support/pauses.js";
import { readSoFar } from "../../support/read-so-far.js";
import { bySweep } from "../../support/sweep.js";
import { SWEPT_TOPOLOGIES } from "../../support/topologies.js";
import { startWorld, type World } from "../../support/world.js";

const MIB = 1_048_576;
/** More than any answer here has, so that none is stopped at its limit. */
const OUTPUT_TOKENS_MAX = 20_000_000;
/** So the fake upstream reports, however long the text: enough for the longest, at 10 and 100 nano-USD a token. */
const USAGE = { prompt_tokens: 10, completion_tokens: 4_000_000, total_tokens: 4_000_010 };
const COST_NANOS = 400_000_100n;

/** A whole answer of so many bytes, and about as many. */
function whole(bytes: number): FakeScript {
  const message = { role: "assistant", content: "word ".repeat(bytes / 5) };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  const answer = { id: "chatcmpl-fake", object: "chat.completion", created: 1, model: "fake-1", choices };
  return { body: JSON.stringify({ ...answer, usage: USAGE }) };
}

/** A stream of about so many bytes, in events of 64 KiB. */
function streamed(bytes: number): FakeScript {
  const event = (delta: object, finish: string | null, more: object = {}): string => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const chunk = {
      id: "chatcmpl-fake",
      object: "chat.completion.chunk",
      created: 1,
      model: "fake-1",
      choices,
      ...more,
    };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  };
  const text = event({ content: "word ".repeat(13_107) }, null);
  const events = Array.from({ length: Math.ceil(bytes / text.length) }, () => text);
  return { streamText: `${events.join("")}${event({}, "stop", { usage: USAGE })}data: [DONE]\n\n` };
}

const STREAM = { stream: true, stream_options: { include_usage: true } };
const FORMS = [
  { form: "whole", answer: whole, more: {} },
  { form: "streamed", answer: streamed, more: STREAM },
];

type Headers = Readonly<Record<string, string>>;

describe.each(SWEPT_TOPOLOGIES)("a large answer, %s", (topology) => {
  let world: World;
  let proxy: DroppingProxy;
  let lastName = 0;
  beforeAll(async () => {
    world = await startWorld(topology, OUTPUT_TOKENS_MAX);
    proxy = await startDroppingProxy(world.front.url);
  });
  afterEach(() => {
    world.upstream.override = undefined;
    proxy.lose();
  });
  afterAll(async () => {
    await proxy.close();
    await world.close();
  });

  const nextName = (): string => `large ${(lastName += 1)}`;
  const post = (body: unknown, headers: Headers, signal?: AbortSignal): Promise<Response> =>
    postChat(world.front, world.secret, body, { headers, ...(signal === undefined ? {} : { signal }) });
  const balance = async (): Promise<bigint> => {
    await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
    return (await world.management.balance("acme")).spentNanos;
  };
  /** What the block cost the account, and how many calls reached the upstream meanwhile. */
  const bill = async (work: () => Promise<void>): Promise<{ spent: bigint; calls: number }> => {
    const before = await balance();
    const calls = world.upstream.requests.length;
    await work();
    return { spent: (await balance()) - before, calls: world.upstream.requests.length - calls };
  };
  const bytesOf = async (response: Response): Promise<Buffer> => {
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.status, bytes.toString("utf8", 0, 1_000)).toBe(200);
    return bytes;
  };
  const expectWhole = (bytes: Buffer, more: object): void =>
    expect(bytes.toString("utf8", bytes.length - 200)).toMatch(
      more === STREAM ? /\[DONE\]\s*(?:id: \S+\s*)?$/ : /"usage":\{.*\}\}$/,
    );
  /** The refusal that says what was charged before, and to which request. */
  const expectGone = async (response: Response, requestId: string | null): Promise<void> => {
    expect(response.status).toBe(409);
    expect(response.headers.get("x-should-retry")).toBe("false");
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe("answer_gone");
    expect(error.message).toContain(`${requestId} with this Idempotency-Key was charged ${formatMoney(COST_NANOS)},`);
  };
  const ONCE = { spent: COST_NANOS, calls: 1 };

  test.each(FORMS)("of 5 MiB comes again to its Idempotency-Key, $form", async ({ answer, more }) => {
    world.upstream.override = answer(5 * MIB);
    const headers = { "idempotency-key": nextName() };
    const made = await bill(async () => {
      const first = await bytesOf(await post(chat("Hello", more), headers));
      const again = await post(chat("Hello", more), headers);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect((await bytesOf(again)).equals(first)).toBe(true);
      expectWhole(first, more);
    });
    expect(made).toEqual(ONCE);
  });

  const [wholly, streaming] = FORMS as [(typeof FORMS)[0], (typeof FORMS)[0]];
  const larger = [{ ...wholly, mib: 45 }];
  const BEYOND = [
    { ...wholly, mib: 17 },
    { ...streaming, mib: 17 },
    ...bySweep({ short: [], long: larger, all: larger }),
  ];
  test.each(BEYOND)("of $mib MiB is served, and its key then tells what it cost, $form", async (row) => {
    const { answer, more, mib } = row;
    world.upstream.override = answer(mib * MIB);
    const headers = { "idempotency-key": nextName() };
    const made = await bill(async () => {
      const first = await post(chat("Hello", more), headers);
      const bytes = await bytesOf(first);
      expect(bytes.length).toBeGreaterThan(mib * MIB);
      expectWhole(bytes, more);
      for (let round = 0; round < 2; round += 1)
        await expectGone(await post(chat("Hello", more), headers), first.headers.get("x-request-id"));
    });
    expect(made).toEqual(ONCE);
  });

  test("of 17 MiB goes to all who asked with its key before it came", async () => {
    const name = nextName();
    world.upstream.override = { ...whole(17 * MIB), held: name };
    const headers = { "idempotency-key": name };
    const made = await bill(async () => {
      const asked = Array.from({ length: 3 }, async () => bytesOf(await post(chat("Hello"), headers)));
      // They are read, and wait for the first.
      await readSoFar(world.front, world.secret);
      await allowTimeToFail(500);
      world.upstream.release(name);
      const answers = await Promise.all(asked);
      for (const answer of answers) expect(answer.equals(answers[0]!)).toBe(true);
    });
    expect(made).toEqual(ONCE);
  });

  test("of 17 MiB whose client left is charged once, and its key tells it", async () => {
    world.upstream.override = { ...whole(17 * MIB), headDelayMs: 300 };
    const headers = { "idempotency-key": nextName() };
    const body = chat("Hello", { user: nextName() });
    const made = await bill(async () => {
      const leaving = new AbortController();
      const gone = post(body, headers, leaving.signal);
      const isOurs = (raw: Buffer): boolean => raw.includes(String(body["user"]));
      await world.upstream.waitFor(({ raw }) => isOurs(raw));
      leaving.abort();
      await expect(gone).rejects.toThrow();
      await world.upstream.waitFor(({ raw, done }) => done && isOurs(raw));
      // Until it is charged, whoever comes back still finds it running.
      await balance();
      const [request] = (await world.management.call("GET", "/requests?account_id=acme")).body["requests"] as [
        { id: string },
      ];
      await expectGone(await post(body, headers), request.id);
    });
    expect(made).toEqual(ONCE);
  });

  const retry = (body: unknown, count: number): Promise<Response> =>
    postChat(proxy, world.secret, body, { headers: { "x-stainless-retry-count": String(count) } });

  test.each([
    { mib: 3, calls: 1 },
    { mib: 5, calls: 2 },
  ])("of $mib MiB that an SDK lost on its way: $calls calls, and the client knows", async ({ mib, calls }) => {
    world.upstream.override = whole(mib * MIB);
    const body = chat("Hello", { user: nextName() });
    const made = await bill(async () => {
      proxy.lose({ kind: "in the answer", bytes: 100_000 });
      const first = await retry(body, 0);
      const lostId = first.headers.get("x-request-id");
      await expect(first.arrayBuffer()).rejects.toThrow();
      await lossesHeard(world.front, world.secret);
      const again = await retry(body, 1);
      expectWhole(await bytesOf(again), {});
      expect(again.headers.get("x-tollgate-original-request")).toBe(calls === 1 ? lostId : null);
      expect(again.headers.get("x-tollgate-lost-attempt")).toBe(calls === 1 ? null : lostId);
    });
    expect(made).toEqual({ spent: COST_NANOS * BigInt(calls), calls });
  });

  test("of 17 MiB that an SDK did not wait for: the retry pays, and is told of the first", async () => {
    world.upstream.override = { ...whole(17 * MIB), headDelayMs: 300 };
    const body = chat("Hello", { user: nextName() });
    const isOurs = (raw: Buffer): boolean => raw.includes(String(body["user"]));
    const made = await bill(async () => {
      proxy.lose({ kind: "before the head", when: () => world.upstream.waitFor(({ raw }) => isOurs(raw)) });
      await expect(retry(body, 0)).rejects.toThrow();
      await world.upstream.waitFor(({ raw, done }) => done && isOurs(raw));
      await balance();
      // What is asked again need not be as large.
      world.upstream.override = whole(MIB);
      const again = await retry(body, 1);
      await bytesOf(again);
      expect(again.headers.get("x-tollgate-lost-attempt")).toMatch(/^req_/);
      // Told once: a later request that asks the same has nothing to do with it.
      const later = await retry(body, 1);
      await bytesOf(later);
      expect(later.headers.get("x-tollgate-lost-attempt")).toBeNull();
    });
    expect(made).toEqual({ spent: COST_NANOS * 3n, calls: 3 });
  });

  test("of 17 MiB is streamed to its end though it is resumable, and cannot be resumed then", async () => {
    world.upstream.override = streamed(17 * MIB);
    const made = await bill(async () => {
      const response = await post(chat("Hello", STREAM), { "x-tollgate-resumable": "1" });
      expectWhole(await bytesOf(response), STREAM);
      const path = `${world.front.url}/v1/streams/${response.headers.get("x-request-id")}`;
      const headers = { authorization: `Bearer ${world.secret}`, "last-event-id": "" };
      expect((await fetch(path, { headers })).status).toBe(410);
    });
    expect(made).toEqual(ONCE);
  });

  test("of more than 64 MiB, streamed, is cut, told so, and charged once for what came", async () => {
    world.upstream.override = streamed(65 * MIB);
    const { spent, calls } = await bill(async () => {
      const bytes = await bytesOf(await post(chat("Hello", STREAM), {}));
      const end = bytes.toString("utf8", bytes.length - 300);
      expect(end).toContain("its answer is too large");
      expect(end).not.toContain("[DONE]");
    });
    expect(calls).toBe(1);
    expect(spent).toBeGreaterThan(0n);
  });

  test("leaves a ledger that holds", async () => {
    expect(await world.management.verify()).toMatchObject({ open_hold_count: "0" });
  });
});
