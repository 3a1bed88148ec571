/** A request to a model through the front end: whole answers, streams, errors before and after the first byte. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Event, StreamGenerateRequest, UsageSource } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import { KEY, startServer, type TestServer } from "../support/http-server.js";
import type { StreamScript } from "../support/scripted-channel.js";

const STREAM = { "tollgate-form": "stream", "x-request-id": "req_1" };
const WHOLE = { "tollgate-form": "whole", "x-request-id": "req_1" };

function say(text: string): Event {
  return { kind: { $case: "text", value: { candidate: 0, text } } };
}

const FINISH: Event = {
  kind: {
    $case: "finish",
    value: { usage: undefined, usageSource: UsageSource.USAGE_SOURCE_REPORTED, costNanos: 7n },
  },
};

let it: TestServer;
beforeAll(async () => {
  it = await startServer();
});
beforeEach(() => {
  it.channel.calls.length = 0;
});
afterAll(() => it.close());

async function ask(script: StreamScript, headers: Record<string, string> = {}): Promise<Response> {
  it.channel.streamScript = script;
  return fetch(`${it.url}/toy/red/say`, {
    method: "POST",
    headers: { ...KEY, "content-type": "application/json", ...headers },
    body: "toy-1 hello",
  });
}

test("the body, the wire's headers, the clamp and the credential reach the service", async () => {
  await ask(
    (_request, sink) => {
      sink.head(WHOLE);
      sink.data({ events: [say("hi"), FINISH] });
    },
    { "toy-mood": "merry", "x-tollgate-clamp": "1", "x-forwarded-for": "203.0.113.9", "x-tollgate-front": "forged" },
  );
  const [call] = it.channel.calls;
  const { generation, acceptWire } = StreamGenerateRequest.decode(call?.bytes ?? Buffer.alloc(0));
  expect(acceptWire).toBe("toy");
  expect(generation).toMatchObject({
    clamp: true,
    input: { value: { wire: "toy", body: Buffer.from("toy-1 hello"), headers: { box: "red", mood: "merry" } } },
  });
  expect(call?.metadata).toEqual({
    authorization: "Bearer sk-good",
    "x-tollgate-client": "node",
    "x-tollgate-client-address": "127.0.0.1",
    "x-tollgate-front": "front-secret",
    "x-tollgate-route": "/toy/:box/say",
  });
});

describe("a whole answer", () => {
  test.each<{ name: string; script: StreamScript; want: string }>([
    {
      name: "of source bytes is forwarded as it is",
      script: (_request, sink) => {
        sink.head({ ...WHOLE, "x-tollgate-upstream": "sim" });
        sink.data({ source: Buffer.from('{"as":') });
        sink.data({ source: Buffer.from('"is"}'), events: [FINISH] });
      },
      want: '{"as":"is"}',
    },
    {
      name: "of events is their fold",
      script: (_request, sink) => {
        sink.head({ ...WHOLE, "x-tollgate-upstream": "sim" });
        sink.data({ events: [say("hel")] });
        sink.data({ events: [say("lo"), FINISH] });
      },
      want: '{"says":"hello"}',
    },
  ])("$name", async ({ script, want }) => {
    const response = await ask(script);
    expect(await response.text()).toBe(want);
    expect(response.status).toBe(200);
    const { headers } = response;
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(headers.get("content-length")).toBe(String(want.length));
    expect(headers.get("x-request-id")).toBe("req_1");
    expect(headers.get("x-tollgate-upstream")).toBe("sim");
    expect(headers.get("toy-id")).toBe("req_1");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test.each<{ name: string; end: () => void }>([
    { name: "notes", end: () => undefined },
    {
      name: "cannot note",
      end: () => {
        throw new GatewayError("ERROR_REASON_INTERNAL");
      },
    },
  ])("is told before what the service $name of it afterwards", async ({ end }) => {
    let noted = (): void => undefined;
    const isNoted = new Promise<void>((resolve) => (noted = resolve));
    const response = await ask(async (_request, sink) => {
      sink.head(WHOLE);
      sink.data({ source: Buffer.from("{}"), events: [FINISH] });
      await isNoted;
      end();
    });
    expect(await response.text()).toBe("{}");
    noted();
    // The connection is as good as before.
    expect(await (await ask((_request, sink) => void sink.data({ events: [say("hi"), FINISH] }))).text()).toContain(
      "hi",
    );
  });

  test("that breaks off is an error, not a part of it", async () => {
    const response = await ask((_request, sink) => {
      sink.head(WHOLE);
      sink.data({ source: Buffer.from('{"as":') });
      throw new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { model: "toy-1" });
    });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ broken: "upstream_error" });
    expect(response.headers.get("x-request-id")).toBe("req_1");
  });

  test("without its finish is not told as if it were whole", async () => {
    const response = await ask((_request, sink) => {
      sink.head(WHOLE);
      sink.data({ source: Buffer.from("{}") });
    });
    expect(response.status).toBe(500);
  });
});

describe("a stream", () => {
  test.each<{ name: string; script: StreamScript; want: string }>([
    {
      name: "of source bytes is forwarded and ended in the wire's way",
      script: (_request, sink) => {
        sink.head(STREAM);
        sink.data({ source: Buffer.from("data: a\n\n") });
        sink.data({ source: Buffer.from("data: b\n\n") });
        sink.data({ events: [FINISH] });
      },
      want: "data: a\n\ndata: b\n\ndata: THE END\n\n",
    },
    {
      name: "whose last batch holds bytes and the finish has both",
      script: (_request, sink) => {
        sink.head(STREAM);
        sink.data({ source: Buffer.from("data: a\n\n"), events: [FINISH] });
      },
      want: "data: a\n\ndata: THE END\n\n",
    },
    {
      name: "of events is encoded, and the encoder writes the end",
      script: (_request, sink) => {
        sink.head(STREAM);
        sink.data({ events: [say("a"), say("b")] });
        sink.data({ events: [FINISH] });
      },
      want: "data: a\n\ndata: b\n\ndata: THE END\n\n",
    },
    {
      name: "of source bytes that breaks off tells the error and does not end well",
      script: (_request, sink) => {
        sink.head(STREAM);
        sink.data({ source: Buffer.from("data: a\n\n") });
        throw new GatewayError("ERROR_REASON_UPSTREAM_TIMEOUT", { model: "toy-1" });
      },
      want: "data: a\n\ndata: BROKEN upstream_timeout\n\n",
    },
    {
      name: "of events that breaks off tells the error and does not end well",
      script: (_request, sink) => {
        sink.head(STREAM);
        sink.data({ events: [say("a")] });
        throw new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { model: "toy-1" });
      },
      want: "data: a\n\ndata: BROKEN upstream_error\n\n",
    },
    {
      name: "that stops without a finish is cut",
      script: (_request, sink) => {
        sink.head(STREAM);
        sink.data({ source: Buffer.from("data: a\n\n") });
      },
      want: "data: a\n\ndata: BROKEN internal_error\n\n",
    },
  ])("$name", async ({ script, want }) => {
    const response = await ask(script);
    expect(await response.text()).toBe(want);
    expect(response.status).toBe(200);
    const { headers } = response;
    expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-cache");
    expect(headers.get("x-accel-buffering")).toBe("no");
    expect(headers.get("x-request-id")).toBe("req_1");
    expect(headers.get("toy-id")).toBe("req_1");
  });

  test("that is refused before its first batch has a status of its own", async () => {
    const response = await ask((_request, sink) => {
      sink.head(STREAM);
      throw new GatewayError("ERROR_REASON_RATE_LIMITED", {
        limit: "requests_per_minute",
        reset_ms: "1200",
        limit_requests: "60",
        remaining_requests: "0",
        reset_requests: "1.2s",
      });
    });
    expect(response.status).toBe(429);
    const { headers } = response;
    expect(headers.get("retry-after")).toBe("2");
    expect(headers.get("retry-after-ms")).toBe("1200");
    expect(headers.get("x-should-retry")).toBe("true");
    expect(headers.get("x-ratelimit-limit-requests")).toBe("60");
    expect(headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect(headers.get("x-ratelimit-reset-requests")).toBe("1.2s");
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(headers.get("x-request-id")).toBe("req_1");
  });

  test("that the encoder cannot tell ends the call, as our fault", async () => {
    let aborted = false;
    it.channel.streamScript = async (_request, sink, { signal }) => {
      sink.head(STREAM);
      // The toy reads no words from this body, and its encoder needs the request's facts.
      sink.data({ events: [say("a")] });
      aborted = signal.aborted;
      throw new GatewayError("ERROR_REASON_CANCELLED");
    };
    const response = await fetch(`${it.url}/toy/red/say`, {
      method: "POST",
      headers: { ...KEY, "content-type": "application/json" },
      body: "wordless",
    });
    expect(aborted).toBe(true);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ broken: "missing_required_parameter" });
  });
});

test("what could split a header is not copied, and other metadata is not either", async () => {
  const response = await ask((_request, sink) => {
    sink.head({
      ...WHOLE,
      "x-evil": "a\r\nset-cookie: b=1",
      "x-nul": "a\0b",
      "x-umlaut": "ü",
      "set-cookie": "c=1",
      "grpc-status": "0",
      "retry-hint": "fine",
    });
    sink.data({ source: Buffer.from("{}"), events: [FINISH] });
  });
  expect(response.status).toBe(200);
  const names = [...response.headers.keys()];
  for (const name of ["x-evil", "x-nul", "x-umlaut", "set-cookie", "grpc-status"]) expect(names).not.toContain(name);
  expect(response.headers.get("retry-hint")).toBe("fine");
});

test("an unexpected failure is ours: its cause is logged and never sent", async () => {
  const response = await ask(() => {
    throw new Error("postgres://user:hunter2@db");
  });
  expect(response.status).toBe(500);
  expect(response.headers.get("x-request-id")).toMatch(/^req_front_/);
  expect(await response.text()).not.toContain("hunter2");
  expect(it.logged.at(-1)?.fields).toMatchObject({ err: { cause: { message: "postgres://user:hunter2@db" } } });
});

test.each([
  { name: "x-api-key", headers: { "x-api-key": "sk-good" }, path: "/toy/red/say" },
  { name: "the format's own header", headers: { "toy-key": "sk-good" }, path: "/toy/red/say" },
  { name: "the format's own query", headers: {}, path: "/toy/red/say?key=sk-good" },
])("the key may come in $name", async ({ headers, path }) => {
  it.channel.streamScript = (_request, sink) => {
    sink.head(WHOLE);
    sink.data({ source: Buffer.from("{}"), events: [FINISH] });
  };
  const response = await fetch(it.url + path, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: "toy-1 hello",
  });
  expect(response.status).toBe(200);
});

test("more requests than may run are refused, and told to try again", async () => {
  const small = await startServer({ streamsMax: 1 });
  let release = (): void => undefined;
  small.channel.streamScript = async (_request, sink) => {
    sink.head(STREAM);
    sink.data({ source: Buffer.from("data: a\n\n") });
    await new Promise<void>((resolve) => (release = resolve));
    sink.data({ events: [FINISH] });
  };
  const init = { method: "POST", headers: { ...KEY, "content-type": "application/json" }, body: "toy-1 hello" };
  const first = await fetch(`${small.url}/toy/red/say`, init);
  const second = await fetch(`${small.url}/toy/red/say`, init);
  expect(second.status).toBe(529);
  expect(second.headers.get("x-should-retry")).toBe("true");
  expect(second.headers.get("retry-after")).toBe("1");
  await second.text();
  release();
  expect(await first.text()).toContain("THE END");
  release = () => undefined;
  await small.close();
});
