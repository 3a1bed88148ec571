/** Endpoints that mean harm: each attempt ends in its bounds, stands in the log, and holds up nobody else. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import { createServer, type Server as TcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Alerts, AlertsOptions } from "../../src/alerts/alerts.js";
import type { FoundAddress } from "../../src/alerts/names.js";
import type { AttemptRow } from "../../src/alerts/rows.js";
import type { Store } from "../../src/store/store.js";
import { TEST_ACT } from "../support/acts.js";
import { alertsOver } from "../support/alerts-over.js";
import { makeCertificate } from "../support/certificate.js";
import { startReceiver } from "../support/webhook-receiver.js";
import { openTestStore } from "../support/open-test-store.js";

/** For an endpoint that never ends; the others have as long as in production. */
const ENDLESS_MS = 1_500;

const directory = mkdtempSync(join(tmpdir(), "tollgate-"));
const stores: Store[] = [];
let alerts: Alerts;
let impatient: Alerts;
/** What the name rebinds.example leads to, one look-up after the other. */
let found: FoundAddress[][] = [];

beforeAll(async () => {
  const resolve = (): Promise<FoundAddress[]> => Promise.resolve(found.shift() ?? []);
  const started = async (name: string, more: Partial<AlertsOptions>): Promise<Alerts> => {
    mkdirSync(join(directory, name));
    const store = await openTestStore(join(directory, name));
    stores.push(store);
    const made = alertsOver(store, { networks: ["127.0.0.0/8"], everyMs: 3_600_000, resolve, ...more });
    made.start();
    return made;
  };
  alerts = await started("patient", {});
  impatient = await started("impatient", { attemptMs: ENDLESS_MS });
});
afterAll(async () => {
  await Promise.all([alerts.close(), impatient.close()]);
  for (const store of stores) await store.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Listens as a stranger does, and counts the connections that are open. */
async function listen(server: TcpServer): Promise<{ readonly port: number; readonly open: () => number }> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    // Unread, it would never tell that the other side left.
    socket
      .on("error", () => undefined)
      .on("close", () => sockets.delete(socket))
      .resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it listens nowhere");
  return { port: address.port, open: () => sockets.size };
}

/** What is written down of the one attempt that a test of this webhook makes. */
async function attemptAt(url: string, by = alerts): Promise<AttemptRow> {
  const { webhook } = await by.webhooks.create("", { name: "", url, paused: false }, TEST_ACT);
  const delivery = await by.maker.test(webhook, TEST_ACT);
  const logged = (): Promise<readonly AttemptRow[]> => by.deliveries.attempts(delivery?.id ?? "");
  await expect.poll(async () => (await logged()).length, { interval: 20 }).toBe(1);
  await by.webhooks.delete(webhook, TEST_ACT);
  const [attempt] = await logged();
  if (attempt === undefined) throw new Error("no attempt was written down");
  return attempt;
}

const HEAD = "HTTP/1.1 200 OK\r\n";
const TOO_LONG = { status: 0, problem: "timed out" };
const FAILED = { status: 0, problem: expect.stringMatching(/^the connection failed/) };
const BOMB = gzipSync(Buffer.alloc(64 * 1_024 * 1_024));

/** Writes again and again until the other side leaves. */
function drip(socket: Socket, text: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.on("close", () => clearInterval(timer));
}

function pour(socket: Socket): void {
  const chunk = Buffer.alloc(65_536, "x");
  const more = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", more);
  more();
}

test.each<{ name: string; how: (socket: Socket) => void; want: object; isEndless?: true }>([
  {
    name: "redirects to a private address",
    how: (socket) => socket.end("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n"),
    want: { status: 302, problem: expect.stringContaining("redirects are not followed") },
  },
  {
    name: "pours an answer without end",
    how: (socket) => {
      socket.write(`${HEAD}\r\n`);
      pour(socket);
    },
    want: { status: 200, problem: "", answer: "x".repeat(1_024) },
  },
  {
    name: "answers with 10 MB",
    how: (socket) => {
      socket.write(`${HEAD}content-length: 10000000\r\n\r\n`);
      socket.end(Buffer.alloc(10_000_000, "x"));
    },
    want: { status: 200, problem: "", answer: "x".repeat(1_024) },
  },
  {
    name: "answers with 64 MB in a few kilobytes of gzip",
    how: (socket) => {
      socket.write(`${HEAD}content-encoding: gzip\r\ncontent-length: ${BOMB.length}\r\n\r\n`);
      socket.end(BOMB);
    },
    // It is not inflated.
    want: { status: 200, problem: "", answer: expect.not.stringContaining("\u0000") },
  },
  { name: "never answers", how: () => undefined, want: TOO_LONG, isEndless: true },
  {
    name: "sends its headers a letter at a time",
    how: (socket) => {
      socket.write(HEAD);
      drip(socket, "x", 20);
    },
    want: TOO_LONG,
    isEndless: true,
  },
  {
    name: "sends provisional answers without end",
    how: (socket) => drip(socket, "HTTP/1.1 102 Processing\r\n\r\n", 5),
    want: { status: 0 },
    isEndless: true,
  },
  {
    name: "sends headers without end",
    how: (socket) => {
      socket.write(`${HEAD}x-long: `);
      pour(socket);
    },
    want: FAILED,
  },
  {
    name: "sends its body a letter at a time",
    how: (socket) => {
      socket.write(`${HEAD}\r\n`);
      drip(socket, "x", 20);
    },
    want: { status: 200, problem: "", answer: expect.stringMatching(/^x+$/) },
    isEndless: true,
  },
  { name: "resets the connection at once", how: (socket) => void socket.resetAndDestroy(), want: FAILED },
  {
    name: "resets it in the middle of the head",
    how: (socket) => {
      socket.write(HEAD);
      socket.once("data", () => socket.resetAndDestroy());
    },
    want: FAILED,
  },
  { name: "closes without a word", how: (socket) => void socket.end(), want: FAILED },
  { name: "speaks no HTTP", how: (socket) => void socket.end("SSH-2.0-OpenSSH_9.2\r\n"), want: FAILED },
  {
    name: "wants no more",
    how: (socket) => void socket.end("HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"),
    want: { status: 410, problem: "it answered with status 410" },
  },
])("one that $name is left in time, with its attempt in the log", async ({ how, want, isEndless }) => {
  const server = createServer((socket) => how(socket));
  const { port, open } = await listen(server);
  const attempt = await attemptAt(`http://127.0.0.1:${port}/hook`, isEndless ? impatient : alerts);
  expect(attempt).toMatchObject(want);
  expect(attempt.answer.length).toBeLessThanOrEqual(1_024);
  await expect.poll(open).toBe(0);
});

test("one without TLS where it should have some, or with a certificate that nobody knows, gets nothing", async () => {
  const { port: plain } = await listen(createServer((socket) => void socket.end("not TLS")));
  expect(await attemptAt(`https://127.0.0.1:${plain}/`)).toMatchObject(FAILED);
  let asked = 0;
  const { cert, key } = makeCertificate();
  const server = createTlsServer({ cert, key }, (_, response) => {
    asked += 1;
    response.end();
  });
  const { port } = await listen(server);
  expect(await attemptAt(`https://127.0.0.1:${port}/`)).toMatchObject(FAILED);
  expect(asked).toBe(0);
});

test("a name is looked up once an attempt, and reached where it was looked at", async () => {
  const receiver = await startReceiver();
  const url = `http://rebinds.example:${new URL(receiver.url).port}/`;
  const loopback: FoundAddress = { address: "127.0.0.1", family: 4 };
  const internal: FoundAddress = { address: "10.0.0.1", family: 4 };
  found = [[loopback], [internal]];
  expect(await attemptAt(url)).toMatchObject({ status: 204, problem: "" });
  expect(await attemptAt(url)).toMatchObject({ status: 0, problem: expect.stringMatching(/^its address is private/) });
  found = [[loopback, internal], []];
  expect(await attemptAt(url)).toMatchObject({ status: 0, problem: expect.stringMatching(/^its address is private/) });
  expect(await attemptAt(url)).toMatchObject({ status: 0, problem: "its name leads to no address" });
  expect(receiver.received).toHaveLength(1);
});

test("while many never answer, another one has its event at once, and a slow one two attempts at most", async () => {
  const slow = await startReceiver();
  slow.answer(() => undefined);
  const settings = { name: "", url: slow.url, paused: false };
  const made = await Promise.all([1, 2, 3, 4].map(() => impatient.webhooks.create("", settings, TEST_ACT)));
  for (const { webhook } of made) for (let each = 0; each < 5; each += 1) await impatient.maker.test(webhook, TEST_ACT);
  const quick = await startReceiver();
  expect(await attemptAt(quick.url, impatient)).toMatchObject({ status: 204 });
  expect(slow.openMost).toBeLessThanOrEqual(8);
  for (const { webhook } of made) await impatient.webhooks.delete(webhook, TEST_ACT);
});
