/** Who waits for a connection, and what waits for its reader. */
import { afterEach, describe, expect, test } from "vitest";
import { allowTimeToFail } from "../support/pauses.js";
import { Listener } from "./listener.js";
import { closeOpened, connect, fakeText, get, post, serveBytes, serveFake, serveHttp } from "./outbound.js";

afterEach(closeOpened);

describe("exchanges that want a connection", () => {
  test("share none at once, and open no more than there may be", async () => {
    const fake = await serveFake();
    const upstream = connect(fake.url, { connections: 3 });
    const all = Array.from({ length: 9 }, () => {
      const heard = new Listener();
      upstream.send(post(fakeText({ headDelayMs: 20 })), heard);
      return heard;
    });
    await Promise.all(all.map((heard) => heard.ended));
    expect(fake.connections()).toBe(3);
  });

  test("are refused at once where too many wait", async () => {
    const fake = await serveFake();
    const upstream = connect(fake.url, { connections: 1, waitingMax: 1 });
    const listeners = Array.from({ length: 4 }, () => new Listener());
    const running = listeners.map((heard) => upstream.send(post(fakeText({ hang: true })), heard));
    await Promise.allSettled(listeners.slice(2).map((heard) => heard.ended));
    expect(listeners.map((heard) => heard.calls)).toEqual([[], [], ["error"], ["error"]]);
    expect(listeners[2]).toMatchObject({ code: "EXCHANGES_MAX", sent: false });
    await fake.waitFor(() => true);
    for (const exchange of running) exchange.abort();
    // Aborting made room again.
    await fake.waitFor((request) => request.left);
    const later = new Listener();
    upstream.send(post("hello"), later);
    await later.ended;
    expect(later.status).toBe(200);
  });

  test("hear each that nobody answers there, however many wait", async () => {
    const origin = await serveBytes(() => {});
    await closeOpened();
    const upstream = connect(origin, { connections: 1 });
    const all = Array.from({ length: 100 }, () => new Listener());
    for (const heard of all) upstream.send(post("x"), heard);
    await Promise.allSettled(all.map(({ ended }) => ended));
    expect(new Set(all.map(({ code, sent }) => `${code} ${sent}`))).toEqual(new Set(["ECONNREFUSED false"]));
  });

  test("hear so after the upstream was closed, and open none", async () => {
    const fake = await serveFake();
    const upstream = connect(fake.url);
    await upstream.close();
    const heard = new Listener();
    upstream.send(post("x"), heard);
    await expect(heard.ended).rejects.toThrow();
    expect([heard.sent, fake.connections()]).toEqual([false, 0]);
  });

  test("get another where an answer came before all of the request was taken, which goes no further", async () => {
    let opened = 0;
    const origin = await serveBytes((socket) => {
      opened += 1;
      socket.on("error", () => {});
      // It reads nothing of the request but what its first packets bring.
      socket.once("data", () => {
        socket.pause();
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      });
    });
    const upstream = connect(origin, { connections: 1 });
    for (let count = 0; count < 3; count++) {
      const heard = new Listener();
      upstream.send({ ...post("x"), body: Buffer.alloc(30_000_000) }, heard);
      await heard.ended;
      expect(heard.text).toBe("ok");
    }
    expect(opened).toBe(3);
  });

  test("hear when the upstream is closed, however many they are", async () => {
    const fake = await serveFake();
    const upstream = connect(fake.url, { connections: 1 });
    const all = Array.from({ length: 1_000 }, () => new Listener());
    for (const heard of all) upstream.send(post(fakeText({ hang: true })), heard);
    await fake.waitFor(() => true);
    await upstream.close();
    await Promise.allSettled(all.map(({ ended }) => ended));
    expect(new Set(all.map(({ calls }) => calls.join()))).toEqual(new Set(["error"]));
    expect(all.filter(({ sent }) => sent)).toHaveLength(1);
  });
});

describe("an abort", () => {
  test.each([1, 1_000])("of %i that wait never reaches the upstream, and lets the next through", async (count) => {
    const fake = await serveFake();
    const upstream = connect(fake.url, { connections: 1 });
    const first = new Listener();
    upstream.send(post(fakeText({ headDelayMs: 30 })), first);
    const waiting = Array.from({ length: count }, () => new Listener());
    for (const heard of waiting) upstream.send(post("never"), heard).abort();
    const last = new Listener();
    upstream.send(post("last"), last);
    await last.ended;
    expect(fake.requests).toHaveLength(2);
    expect(waiting.flatMap(({ calls }) => calls)).toEqual([]);
  });
});

describe("a pause", () => {
  const BODY_BYTES = 50 * 1024 * 1024;

  test("makes the upstream wait: little of a long body is read until it is resumed", async () => {
    let written = 0;
    const origin = await serveHttp((_, response) => {
      const block = Buffer.alloc(64 * 1024, "x");
      const fill = (): void => {
        while (written < BODY_BYTES) {
          written += block.length;
          if (!response.write(block)) return;
        }
        response.end();
      };
      response.on("drain", fill);
      fill();
    });
    const heard = new Listener({ keep: false });
    const exchange = connect(origin).send(get("/long"), heard);
    heard.on("head", () => exchange.pause());
    await heard.until("head");
    let before = -1;
    // The kernel's buffers fill up; then nothing moves any more.
    while (before !== written) {
      before = written;
      await allowTimeToFail(100);
    }
    expect(written).toBeLessThan(BODY_BYTES / 3);
    expect(heard.bytes).toBe(0);
    exchange.resume();
    await heard.ended;
    expect(heard.bytes).toBe(BODY_BYTES);
  });

  test.each(["head", "data"] as const)(
    "at the %s of an answer that was read whole keeps what comes behind it, and no connection",
    async (at) => {
      const fake = await serveFake();
      const upstream = connect(fake.url, { connections: 1 });
      const heard = new Listener();
      const exchange = upstream.send(post("hello"), heard);
      heard.on(at, () => exchange.pause());
      await heard.until(at);
      const later = new Listener();
      upstream.send(post("hello"), later);
      await later.ended;
      expect([heard.calls.at(-1), fake.connections()]).toEqual([at, 1]);
      exchange.resume();
      await heard.ended;
      expect(heard.text).toContain("Hello from fake-1.");
      expect(heard.calls).toEqual(["head", "data", "end"]);
    },
  );

  test("before the head lets the head through", async () => {
    const fake = await serveFake();
    const heard = new Listener();
    const exchange = connect(fake.url).send(post(fakeText({ held: "until it is paused" })), heard);
    await fake.waitFor(() => true);
    exchange.pause();
    fake.release("until it is paused");
    await heard.until("head");
    expect(heard.calls).toEqual(["head"]);
    exchange.resume();
    await heard.ended;
  });

  test("and going on, both inside the call that tells the rest, tells each byte once", async () => {
    const origin = await serveHttp((_, response) => {
      for (let at = 0; at < 5_000; at++) response.write(`${at % 10}`);
      response.end();
    });
    const heard = new Listener();
    const exchange = connect(origin).send(get("/"), heard);
    heard.on("head", () => {
      exchange.pause();
      setTimeout(() => exchange.resume(), 20);
    });
    heard.on("data", () => {
      exchange.pause();
      exchange.resume();
      expect(heard.calls).not.toContain("end");
    });
    await heard.ended;
    expect(heard.text).toBe("0123456789".repeat(500));
  });

  test("before the head holds the body back, and aborting a paused exchange frees the connection", async () => {
    const fake = await serveFake();
    const upstream = connect(fake.url, { connections: 1 });
    const heard = new Listener();
    const exchange = upstream.send(post(fakeText({ words: 20_000 }), true), heard);
    exchange.pause();
    await heard.until("head");
    await allowTimeToFail(50);
    expect(heard.calls).toEqual(["head"]);
    exchange.abort();
    const later = new Listener();
    upstream.send(post("hello"), later);
    await later.ended;
    expect(later.status).toBe(200);
  });
});
