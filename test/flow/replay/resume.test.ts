/** Streams that are resumed after their connection was lost, in every client format, and those that are cancelled. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientOf, type DynamicStream, type Json } from "../../support/dynamic-client.js";
import { Metadata } from "@grpc/grpc-js";
import { chat, readAll } from "../../support/chat-call.js";
import { script } from "../../support/fake-upstream.js";
import { OPERATOR_KEY } from "../../support/gateway-process.js";
import { says, startWorld, TOPOLOGIES, type World } from "../../support/world.js";

const CONTENTS = { contents: [{ role: "user", parts: [{ text: "Hello" }] }] };
const WORDS = 12;

interface Asked {
  readonly format: string;
  readonly path: string;
  /** A request whose answer takes the fake upstream's script. */
  readonly body: (text: string) => unknown;
  /** What the last event of a whole answer holds. */
  readonly end: string;
}

const FORMATS: readonly Asked[] = [
  {
    format: "openai",
    path: "/v1/chat/completions",
    body: (text) => chat(text, { stream: true, stream_options: { include_usage: true } }),
    end: "[DONE]",
  },
  {
    format: "responses",
    path: "/v1/responses",
    body: (text) => ({ model: "fake-1", stream: true, input: text }),
    end: "response.completed",
  },
  {
    format: "anthropic",
    path: "/v1/messages",
    body: (text) => ({ model: "fake-1", max_tokens: 1_000, stream: true, messages: says(text) }),
    end: "message_stop",
  },
  {
    format: "gemini",
    path: "/v1beta/models/fake-1:streamGenerateContent?alt=sse",
    body: (text) => ({ contents: [{ role: "user", parts: [{ text }] }] }),
    end: "usageMetadata",
  },
];

/** Each is a word and a number: two tokens at least, and so many are reported. */
const SIXTY_WORDS = { words: 60, usageIs: { completion_tokens: 120 } };

describe.each(TOPOLOGIES)("a resumable stream, %s", (topology) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(topology);
  });
  afterAll(() => world.close());

  const send = (
    method: string,
    path: string,
    more: { headers?: Record<string, string>; body?: unknown; signal?: AbortSignal; secret?: string } = {},
  ): Promise<Response> =>
    fetch(`${world.front.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${more.secret ?? world.secret}`,
        ...(more.body === undefined ? {} : { "content-type": "application/json" }),
        ...more.headers,
      },
      ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
      ...(more.signal === undefined ? {} : { signal: more.signal }),
    });
  const start = (asked: Asked, fake: object, signal?: AbortSignal): Promise<Response> =>
    send("POST", asked.path, {
      headers: { "x-tollgate-resumable": "1" },
      body: asked.body(script(fake)),
      ...(signal === undefined ? {} : { signal }),
    });
  const resume = (id: string, after?: number, secret?: string): Promise<Response> =>
    send("GET", `/v1/streams/${id}`, {
      headers: after === undefined ? {} : { "last-event-id": `${id}:${after}` },
      ...(secret === undefined ? {} : { secret }),
    });
  const settled = async (): Promise<bigint> => {
    await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
    return (await world.management.balance("acme")).spentNanos;
  };

  test.each(FORMATS)("in $format: each event has its number, and any may be the last that was read", async (asked) => {
    const calls = world.upstream.requests.length;
    const response = await start(asked, { words: WORDS });
    const id = response.headers.get("x-request-id") ?? "";
    expect(response.headers.get("x-tollgate-resumable")).toBe("1");
    const whole = await response.text();
    const events = eventsOf(whole);
    expect(events.map(({ number }) => number)).toEqual(events.map((_, index) => `${id}:${index + 1}`));
    expect(events.at(-1)?.text).toContain(asked.end);
    const spent = await settled();
    for (let after = 0; after <= events.length; after += 1) {
      const rest = await resume(id, after === 0 ? undefined : after);
      expect(rest.status).toBe(200);
      expect(rest.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
      expect(eventsOf(await rest.text())).toEqual(events.slice(after));
    }
    expect(world.upstream.requests.length - calls).toBe(1);
    expect(await settled()).toBe(spent);
  });

  test.each(FORMATS)("in $format: it goes on without its client, who follows it to its end", async (asked) => {
    const before = await settled();
    const leaving = new AbortController();
    const response = await start(asked, { ...SIXTY_WORDS, eventDelayMs: 15 }, leaving.signal);
    const id = response.headers.get("x-request-id") ?? "";
    let read = "";
    for await (const bytes of response.body!) {
      read += Buffer.from(bytes as Uint8Array).toString();
      if (eventsOf(read).length >= 5) break;
    }
    leaving.abort();
    const had = eventsOf(read);
    const rest = eventsOf(await resume(id, had.length).then(readAll));
    const all = eventsOf(await resume(id).then(readAll));
    expect([...had, ...rest]).toEqual(all);
    expect(all.at(-1)?.text).toContain(asked.end);
    // Ten tokens read at ten nano-USD, and those answered at a hundred.
    expect((await settled()) - before).toBe(12_100n);
  });

  test("two may read one stream", async () => {
    const response = await start(FORMATS[0]!, { words: 30, eventDelayMs: 15 });
    const id = response.headers.get("x-request-id") ?? "";
    const [first, second] = await Promise.all([readAll(response), resume(id).then(readAll)]);
    expect(first).toContain("[DONE]");
    expect(second).toBe(first);
  });

  test("DELETE ends it, charges what was generated, and forgets it", async () => {
    const before = await settled();
    const response = await start(FORMATS[0]!, { words: 500, eventDelayMs: 10 });
    const id = response.headers.get("x-request-id") ?? "";
    const reader = response.body!.getReader();
    for (let bytes = 0; bytes < 2_000;) bytes += (await reader.read()).value?.length ?? 2_000;
    const ended = await send("DELETE", `/v1/streams/${id}`);
    expect(ended.status).toBe(200);
    const told = (await ended.json()) as { id: string; cancelled: boolean; cost_nanos: string };
    expect(told).toMatchObject({ id, cancelled: true });
    expect(BigInt(told.cost_nanos)).toBeGreaterThan(0n);
    expect(BigInt(told.cost_nanos)).toBeLessThan(500n * 100n);
    expect((await settled()) - before).toBe(BigInt(told.cost_nanos));
    await world.upstream.waitFor((request) => request.left && request.raw.includes("500"));
    const rest = Buffer.concat(await toArray(reader)).toString();
    expect(rest).not.toContain("[DONE]");
    expect((await resume(id)).status).toBe(410);
    expect((await send("DELETE", `/v1/streams/${id}`)).status).toBe(410);
  });

  test("a stream that fails tells it to whoever resumes it", async () => {
    const response = await start(FORMATS[0]!, { cutAfter: 3 });
    const id = response.headers.get("x-request-id") ?? "";
    const told = await response.text();
    expect(told).toContain("error");
    expect(await resume(id).then(readAll)).toBe(told);
  });

  test("is another account's secret, and is gone where it was never kept", async () => {
    const response = await start(FORMATS[0]!, { words: 3 });
    const id = response.headers.get("x-request-id") ?? "";
    await response.text();
    await world.management.account(`other-${topology.replaceAll(" ", "-")}`, 0n);
    const other = await world.management.makeKey(`other-${topology.replaceAll(" ", "-")}`);
    for (const answer of [await resume(id, undefined, other.secret), await resume(`req_${"0".repeat(32)}`)]) {
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: { code: "not_found" } });
    }
    expect((await send("DELETE", `/v1/streams/${id}`, { secret: other.secret })).status).toBe(404);
    const plain = await send("POST", "/v1/chat/completions", { body: chat("Hello", { stream: true }) });
    const plainText = await plain.text();
    expect(plainText).not.toContain("id: req_");
    const gone = await resume(plain.headers.get("x-request-id") ?? "");
    expect(gone.status).toBe(410);
    expect(await gone.json()).toMatchObject({ error: { code: "stream_gone" } });
    expect((await send("GET", `/v1/streams/${id}`, { secret: "sk-wrong-0123456789abcdef" })).status).toBe(401);
  });

  test("is its key's, and that of the keys above it: no other key of the account reads it or ends it", async () => {
    const asker = { scopes: ["chat", "keys"] };
    const makeKey = async (maker: string): Promise<string> => {
      const made = await send("POST", "/api/v1/keys", { secret: maker, body: { settings: asker } });
      return ((await made.json()) as { secret: string }).secret;
    };
    const top = (await world.management.makeKey("acme", asker)).secret;
    const own = await makeKey(top);
    const others = {
      sibling: await makeKey(top),
      child: await makeKey(own),
      stranger: world.secret,
    };
    const begin = async (fake: object): Promise<string> => {
      const headers = { "x-tollgate-resumable": "1" };
      const body = chat(script(fake), { stream: true });
      const response = await send("POST", "/v1/chat/completions", { headers, body, secret: own });
      if (!("eventDelayMs" in fake)) await response.text();
      return response.headers.get("x-request-id") ?? "";
    };
    const ended = await begin({ words: 3 });
    const running = await begin({ words: 400, eventDelayMs: 20 });
    for (const [who, secret] of Object.entries(others)) {
      for (const id of [ended, running]) {
        expect((await resume(id, undefined, secret)).status, who).toBe(404);
        expect((await send("DELETE", `/v1/streams/${id}`, { secret })).status, who).toBe(404);
      }
    }
    for (const secret of [own, top, OPERATOR_KEY]) {
      const answer = await resume(ended, undefined, secret);
      expect([answer.status, (await answer.text()).includes("[DONE]")]).toEqual([200, true]);
    }
    expect((await send("DELETE", `/v1/streams/${running}`, { secret: top })).status).toBe(200);
  });

  test.each(["7", "req_1:2", `req_${"0".repeat(32)}:3`, "req_x:-1"])("refuses the event id %j", async (last) => {
    const response = await start(FORMATS[0]!, { words: 3 });
    const id = response.headers.get("x-request-id") ?? "";
    await response.text();
    const refused = await send("GET", `/v1/streams/${id}`, { headers: { "last-event-id": last } });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { param: "Last-Event-ID" } });
  });

  test("a client that takes no events gets them without numbers", async () => {
    const response = await send("POST", "/v1beta/models/fake-1:streamGenerateContent", {
      headers: { "x-tollgate-resumable": "1" },
      body: CONTENTS,
    });
    expect(await response.json()).toBeInstanceOf(Array);
  });

  test("a service on gRPC resumes after any batch, and gets the answer of its idempotency-key", async () => {
    const calls = world.upstream.requests.length;
    const client = clientOf("tollgate.v1.InferenceService", world.core.grpc);
    const call = async (name: string, request: object, headers: Record<string, string>): Promise<Called> => {
      const metadata = new Metadata();
      metadata.set("authorization", `Bearer ${world.secret}`);
      for (const [key, value] of Object.entries(headers)) metadata.set(key, value);
      const stream = Reflect.get(client, name).call(client, request, metadata) as DynamicStream;
      const messages: Json[] = [];
      let head: Metadata | undefined;
      await new Promise<void>((resolve, reject) => {
        stream.on("metadata", (told) => (head = told));
        stream.on("data", (message) => messages.push(message));
        stream.on("error", reject);
        stream.on("end", resolve);
      });
      return { messages, head: (name) => String(head?.get(name)[0] ?? "") };
    };
    const prompt = { messages: [{ role: "ROLE_USER", parts: [{ text: { text: script({ words: 9 }) } }] }] };
    const request = { generation: { model: "fake-1", prompt } };
    const first = await call("StreamGenerate", request, { "x-tollgate-resumable": "1", "idempotency-key": "a" });
    expect(first.messages.length).toBeGreaterThan(1);
    const again = await call("StreamGenerate", request, { "idempotency-key": "a" });
    expect(again.messages).toEqual(first.messages);
    expect(again.head("idempotent-replayed")).toBe("true");
    const id = first.head("x-request-id");
    const resumed = await call("ResumeStream", { request_id: id, after_batches: 1 }, {});
    expect(resumed.messages.slice(1).map((message) => message["batch"])).toEqual(first.messages.slice(1));
    expect(world.upstream.requests.length - calls).toBe(1);
    client.close();
  });

  test("leaves a ledger that holds", async () => {
    await world.management.verify();
  });
});

interface Called {
  readonly messages: readonly Json[];
  readonly head: (name: string) => string;
}

/** The events of a stream without its comments, with the number that each one has. */
function eventsOf(text: string): { text: string; number: string | undefined }[] {
  const whole = text.split("\n\n").slice(0, -1);
  return whole
    .filter((event) => !event.startsWith(":"))
    .map((event) => ({ text: event, number: /^id: (\S+)$/m.exec(event)?.[1] }));
}

async function toArray(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value);
  return parts;
}
