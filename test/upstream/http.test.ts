/** The outbound client against real sockets. */
import { afterEach, describe, expect, test } from "vitest";
import { ConnectionError, createHttpUpstream } from "../../src/upstream/http.js";
import { Listener } from "./listener.js";
import { closeOpened, connect, fakeText, get, post, serveBytes, serveFake, serveHttp } from "./outbound.js";

afterEach(closeOpened);

describe("an exchange", () => {
  test("brings the body, the headers and the joined path, and asks for no compression", async () => {
    const fake = await serveFake();
    const request = post("hello");
    const heard = new Listener();
    connect(`${fake.url}/`).send(request, heard);
    await heard.ended;
    const [seen] = fake.requests;
    expect(seen).toMatchObject({ method: "POST", url: "/v1/chat/completions" });
    expect(seen?.raw).toEqual(request.body);
    expect(seen?.headers).toMatchObject({ "accept-encoding": "identity", authorization: "Bearer sk-secret-1234" });
    expect(seen?.headers["transfer-encoding"]).toBeUndefined();
    expect(heard.status).toBe(200);
    expect(JSON.parse(heard.text)).toMatchObject({ choices: [{ message: { content: "Hello from fake-1." } }] });
    expect(heard.calls).toEqual(["head", "data", "end"]);
  });

  test("keeps connections: fifty in a row need two at most", async () => {
    const fake = await serveFake();
    const upstream = connect(fake.url);
    for (let i = 0; i < 50; i++) {
      const heard = new Listener();
      upstream.send(post(`${i}`, i % 2 === 0), heard);
      await heard.ended;
    }
    expect(fake.requests).toHaveLength(50);
    // A connection is free again one turn of the event loop after its answer.
    expect(fake.connections()).toBeLessThanOrEqual(2);
  });

  test("passes every status up as it is", async () => {
    const fake = await serveFake();
    const upstream = connect(fake.url);
    for (const status of [400, 401, 404, 429, 500, 503]) {
      const heard = new Listener();
      upstream.send(post(fakeText({ status, headers: { "retry-after": "7" } })), heard);
      await heard.ended;
      expect(heard.status).toBe(status);
      expect(heard.headers).toMatchObject({ "retry-after": "7" });
    }
  });

  test("follows no redirect", async () => {
    let calls = 0;
    const origin = await serveHttp((_, response) => {
      calls++;
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    const heard = new Listener();
    connect(origin).send(post("x"), heard);
    await heard.ended;
    expect(heard.status).toBe(307);
    expect(calls).toBe(1);
  });

  test("takes early hints for no answer", async () => {
    const origin = await serveHttp((_, response) => {
      response.writeEarlyHints({ link: "</x>; rel=preload" });
      response.end("whole");
    });
    const heard = new Listener();
    connect(origin).send(get("/"), heard);
    await heard.ended;
    expect(heard.calls).toEqual(["head", "data", "end"]);
    expect(heard.status).toBe(200);
  });

  test.each([
    { name: "in one piece", atOnce: 1_000 },
    { name: "one by one", atOnce: 1 },
  ])("ends where informational responses come without end, $name", async ({ atOnce }) => {
    const early = "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n";
    let isClosed = false;
    const origin = await serveBytes((socket) => {
      const send = (): void => void (socket.writable && socket.write(early.repeat(atOnce), () => setImmediate(send)));
      socket
        .once("data", send)
        .on("error", () => undefined)
        .on("close", () => (isClosed = true));
    });
    const heard = new Listener();
    connect(origin).send(get("/"), heard);
    await expect(heard.ended).rejects.toBeInstanceOf(ConnectionError);
    expect(heard).toMatchObject({ code: "INFORMATIONAL_MAX", sent: true, calls: ["error"] });
    await expect.poll(() => isClosed).toBe(true);
  });

  test("joins a header that comes twice", async () => {
    const origin = await serveHttp((_, response) => {
      response.writeHead(200, { "x-twice": ["a", "b"] }).end();
    });
    const heard = new Listener();
    connect(origin).send(get("/"), heard);
    await heard.ended;
    expect(heard.headers["x-twice"]).toBe("a, b");
  });
});

describe("a failure", () => {
  test("to connect says that nothing was sent", async () => {
    const origin = await serveBytes(() => {});
    await closeOpened();
    const heard = new Listener();
    connect(origin).send(post("x"), heard);
    await expect(heard.ended).rejects.toBeInstanceOf(ConnectionError);
    expect(heard).toMatchObject({ code: "ECONNREFUSED", sent: false, calls: ["error"] });
  });

  test("to find the name says that nothing was sent", async () => {
    const heard = new Listener();
    connect("http://no-such-host.invalid/v1").send(post("x"), heard);
    await expect(heard.ended).rejects.toThrow();
    expect(["ENOTFOUND", "EAI_AGAIN"]).toContain(heard.code);
    expect(heard.sent).toBe(false);
  });

  test("to shake hands says that nothing was sent", async () => {
    const origin = await serveBytes((socket) => void socket.on("error", () => {}).end("this is no TLS"));
    const heard = new Listener();
    connect(origin.replace("http:", "https:")).send(post("x"), heard);
    await expect(heard.ended).rejects.toThrow();
    expect(heard.sent).toBe(false);
  });

  test.each([
    { name: "before the head", bytes: "", calls: ["error"] },
    { name: "in the head", bytes: "HTTP/1.1 200 OK\r\ncontent-", calls: ["error"] },
    {
      name: "in a body of known length",
      bytes: "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf",
      calls: ["head", "data", "error"],
    },
    {
      name: "in a chunked body",
      bytes: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
      calls: ["head", "data", "error"],
    },
  ])("$name says that the request may have arrived, once", async ({ bytes, calls }) => {
    let requests = 0;
    const origin = await serveBytes((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => {
        requests++;
        socket.end(bytes);
      });
    });
    const heard = new Listener();
    connect(origin).send(post("x"), heard);
    await expect(heard.ended).rejects.toThrow();
    expect(heard.calls).toEqual(calls);
    expect(heard.sent).toBe(true);
    // Nothing is retried here: that would buy an answer twice.
    expect(requests).toBe(1);
  });

  test("is an answer that is no HTTP, or whose head is too long", async () => {
    for (const bytes of ["SSH-2.0-OpenSSH\r\n\r\n", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(64 * 1024)}\r\n\r\n`]) {
      const origin = await serveBytes(
        (socket) => void socket.on("error", () => {}).once("data", () => socket.end(bytes)),
      );
      const heard = new Listener();
      connect(origin).send(post("x"), heard);
      await expect(heard.ended).rejects.toThrow();
      expect(heard.calls).toEqual(["error"]);
    }
  });

  test("is told in words that hold no credential", async () => {
    const heard = new Listener();
    const origin = await serveBytes(
      (socket) => void socket.on("error", () => {}).once("data", (all) => socket.end(all)),
    );
    connect(origin).send(post("x"), heard);
    const error: unknown = await heard.ended.catch((thrown: unknown) => thrown);
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain("sk-secret");
    expect(error).toBeInstanceOf(ConnectionError);
  });

  test("reaches whoever still waits when the upstream is closed", async () => {
    const fake = await serveFake();
    const upstream = connect(fake.url);
    const heard = new Listener();
    upstream.send(post(fakeText({ hang: true })), heard);
    await fake.waitFor(() => true);
    await upstream.close();
    await expect(heard.ended).rejects.toThrow();
  });
});

describe("an abort", () => {
  test.each([
    { phase: "at once", script: {}, until: "sent" },
    { phase: "before the head", script: { hang: true }, until: "arrived" },
    { phase: "after the head", script: { stallAfter: 0 }, until: "head" },
    { phase: "in the body", script: { words: 1_000, eventDelayMs: 1 }, until: "data" },
  ] as const)("$phase silences the handler and lets the upstream know", async ({ script, until }) => {
    const fake = await serveFake();
    const upstream = connect(fake.url);
    const heard = new Listener();
    const exchange = upstream.send(post(fakeText(script), true), heard);
    if (until === "arrived") await fake.waitFor(() => true);
    if (until === "head" || until === "data") await heard.until(until);
    exchange.abort();
    const calls = [...heard.calls];
    if (until !== "sent") await fake.waitFor((request) => request.left);
    // Whatever still comes of the aborted exchange has come once a later one is over.
    const later = new Listener();
    upstream.send(post("hello"), later);
    await later.ended;
    expect(heard.calls).toEqual(calls);
    exchange.abort();
    exchange.resume();
  });

  test("from inside a callback ends the exchange there", async () => {
    const fake = await serveFake();
    const upstream = connect(fake.url);
    for (const at of ["head", "data"] as const) {
      const heard = new Listener();
      const exchange = upstream.send(post(fakeText({ words: 50, eventDelayMs: 5 }), true), heard);
      heard.on(at, () => exchange.abort());
      await heard.until(at);
      await fake.waitFor((request) => request.left);
      expect(heard.calls.at(-1)).toBe(at);
      expect(heard.calls.filter((call) => call === at)).toHaveLength(1);
    }
  });
});

describe("what could split a request", () => {
  test.each([
    { name: "a line break in a header", change: { headers: { "x-a": "1\r\nx-b: 2" } } },
    { name: "a line break in a header's name", change: { headers: { "x-a: 1\r\nx-b": "2" } } },
    { name: "a null in a header", change: { headers: { "x-a": "\0" } } },
    { name: "a second length", change: { headers: { "content-length": "1", "Content-Length": "2" } } },
    { name: "an encoding of its own", change: { headers: { "transfer-encoding": "chunked" } } },
    { name: "a line break in the path", change: { path: "/a\r\nx: y" } },
    { name: "a blank in the path", change: { path: "/a b" } },
    { name: "a fragment", change: { path: "/a#b" } },
    { name: "a way out of the base path", change: { path: "/models/../../admin" } },
    { name: "the same, encoded", change: { path: "/models/%2e%2E/admin" } },
    { name: "another address", change: { path: "http://127.0.0.1:1/" } },
  ])("is refused: $name", async ({ change }) => {
    const fake = await serveFake();
    const heard = new Listener();
    let returned = false;
    heard.on("error", () => expect(returned).toBe(true));
    connect(fake.url).send({ ...post("x"), ...change }, heard);
    returned = true;
    await expect(heard.ended).rejects.toBeInstanceOf(ConnectionError);
    expect(heard.sent).toBe(false);
    expect(fake.requests).toEqual([]);
  });

  test.each([
    { name: "no address", baseUrl: "localhost" },
    { name: "another protocol", baseUrl: "file:///etc/passwd" },
    { name: "credentials", baseUrl: "https://user:hunter2@example.com/v1" },
    { name: "a query", baseUrl: "https://example.com/v1?key=hunter2" },
    { name: "a fragment", baseUrl: "https://example.com/v1#hunter2" },
  ])("is no base address: $name", ({ baseUrl }) => {
    expect(() => createHttpUpstream({ baseUrl })).toThrow(TypeError);
    expect(() => createHttpUpstream({ baseUrl })).not.toThrow(/hunter2/);
  });
});
