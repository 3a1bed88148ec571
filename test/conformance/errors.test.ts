/** Every error of an upstream means the same to a client of every format, in the format's own envelope. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GatewayProcess, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import { type ErrorFormat, errorFormats } from "./error-formats.js";
import { type Meaning, SECRET, type UpstreamError, upstreamErrors } from "./upstream-errors.js";
import { bySweep } from "../support/sweep.js";

/** A row of the table in one client format, with an upstream of its own: refusals are remembered. */
interface Case {
  readonly title: string;
  readonly row: UpstreamError;
  readonly format: ErrorFormat;
  readonly id: string;
}

const ALL_CASES = errorFormats.flatMap((format, column) =>
  upstreamErrors.map((row, place) => ({
    title: `${format.name} on ${row.family}: ${row.name}`,
    row,
    format,
    id: `${format.name}-${place}`,
    isFirst: place % errorFormats.length === column || isFirstOfItsMeaning(row),
  })),
);
/** In the short form each row in one format, and in every format the first row of each meaning in each family. */
const FIRST_CASES = ALL_CASES.filter(({ isFirst }) => isFirst);
const CASES: readonly Case[] = bySweep({ short: FIRST_CASES, long: ALL_CASES, all: ALL_CASES });

function isFirstOfItsMeaning(row: UpstreamError): boolean {
  const ofRow = ({ family, means, isStream }: UpstreamError): string => `${family} ${means} ${isStream === true}`;
  return upstreamErrors.find((other) => ofRow(other) === ofRow(row)) === row;
}

/** Meanings after which the same request may succeed. */
const AGAIN: ReadonlySet<Meaning> = new Set(["failed", "rate limit", "unavailable", "timeout"]);

/** Most of the time is the gateway's own between its tries, so many cases wait at once. */
const AT_ONCE = 64;

/** What a client received. */
interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Outcome {
  readonly received: readonly Received[];
  readonly thrown: unknown;
}

const outcomes = new Map<Case, Promise<Outcome>>();

let server: Server;
let gateway: GatewayProcess;
let management: Management;
let secret: string;

beforeAll(async () => {
  // Each case is answered under a path of its own, whatever is asked there.
  const rows = new Map(CASES.map(({ id, row }) => [id, row]));
  server = createServer((request, response) => {
    const { status, body, headers, isStream } = rows.get(/^\/([^/]+)\//.exec(request.url ?? "")?.[1] ?? "")!;
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const type = isStream === true ? "text/event-stream" : text.startsWith("<") ? "text/html" : "application/json";
    request.resume().on("end", () => response.writeHead(status, { "content-type": type, ...headers }).end(text));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  gateway = await startGateway({ settings: settingsAt(`http://127.0.0.1:${port}`) });
  management = new Management(gateway);
  await management.account("acme", 1_000_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
  const queue = CASES.values();
  const work = async (): Promise<void> => {
    for (const one of queue) {
      const outcome = run(one);
      outcomes.set(one, outcome);
      // Each case's own test tells what went wrong.
      await outcome.catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
});
afterAll(async () => {
  await gateway.stop();
  await new Promise((resolve) => server.close(resolve));
});

function settingsAt(origin: string): string {
  const limits = 'context_tokens: 100000, output_tokens_max: 1000, price: { input: "0.01", output: "0.1" }';
  return [
    "upstreams:",
    ...CASES.map(({ id, row }) => {
      const base = `${origin}/${id}${row.family === "openai" ? "/v1" : ""}`;
      // OpenAI itself tells a client of its responses no events of chat completions.
      const family = row.family === "openai" && row.isStream === true ? "openai-compatible" : row.family;
      return `  up-${id}: { family: ${family}, base_url: "${base}", api_key: "${SECRET}" }`;
    }),
    "models:",
    ...CASES.map(({ id }) => `  model-${id}: { targets: [{ upstream: up-${id} }], ${limits} }`),
    "",
  ].join("\n");
}

async function run(one: Case): Promise<Outcome> {
  const { id, row, format } = one;
  // An error in a stream comes only where one is asked for.
  const forms = row.isStream === true ? [true] : [false, true];
  const received: Received[] = [];
  for (const isStream of forms) {
    await management.call("POST", `/upstreams/up-${id}:reset`, {});
    const { path, body, headers } = format.ask(`model-${id}`, isStream);
    const response = await fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers(secret) },
      body: JSON.stringify(body),
    });
    received.push({ status: response.status, headers: response.headers, text: await response.text() });
  }
  await management.call("POST", `/upstreams/up-${id}:reset`, {});
  const thrown: unknown = await format.call(gateway.url, secret, `model-${id}`, row.isStream === true).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { received, thrown };
}

test.each(CASES)("$title", async (one) => {
  const { row, format } = one;
  const { received, thrown } = await outcomes.get(one)!;
  const wanted = format.envelope(row.means, row);
  for (const { status, headers, text } of received) {
    const told = JSON.parse(text) as object;
    expect(status, text).toBe(wanted.status);
    expect(told).toMatchObject(wanted.envelope);
    expect(format.keys(told), text).toEqual(format.keys(wanted.envelope));
    expect(status, "an upstream's refusal of our credential is never the client's").not.toBe(401);
    if (row.says !== undefined) expect(text).toContain(row.says);
    expect(waitMs(headers), "the wait").toBe(row.waitMs);
    expect(headers.get("x-should-retry"), "whether to try again").toBe(String(AGAIN.has(row.means)));
    for (const leak of [SECRET, "10.0.0.7", "<html", "127.0.0.1", "req_of_the_upstream", "undefined"])
      expect(text).not.toContain(leak);
  }
  expect(thrown).toMatchObject(format.thrown(row.means));
});

test("no error cost anything, and nothing stays held", async () => {
  await expect.poll(async () => (await management.balance("acme")).heldNanos).toBe(0n);
  expect((await management.balance("acme")).spentNanos).toBe(0n);
  await management.verify();
});

/** How long the client is told to wait; undefined where it is not told. The seconds beside it never wait less. */
function waitMs(headers: Headers): number | undefined {
  const told = headers.get("retry-after-ms");
  if (told === null) return undefined;
  expect(Number(headers.get("retry-after"))).toBe(Math.ceil(Number(told) / 1000));
  return Number(told);
}
