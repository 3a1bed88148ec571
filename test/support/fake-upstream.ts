/**
 * A real HTTP server that answers as OpenAI does, chat completions and responses, and that the request itself steers.
 *
 * A request carries its script as JSON, in the first of these places that holds one:
 *   - the header `x-fake`;
 *   - `metadata.fake` of the body (an object, or a string of JSON);
 *   - the text of the last user message, where it is an object with the member `fake`.
 * So `{"role": "user", "content": "{\"fake\": {\"status\": 503}}"}` makes a chat completion fail. `script(...)`
 * writes it. Without a script it answers `Hello from <model>.` with a usage of 10 and 4 tokens. GET /v1/models
 * lists `fake-1`.
 *
 * What it received stands in `requests`, oldest first: assert there what the gateway sent.
 */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { answerJson, streamEvents, type AnswerScript } from "./fake-answer.js";
import { compactionJson, responseEvents, responseJson } from "./fake-response.js";
import { PATIENCE_MS } from "./patience.js";

/** What one request asks the server to do. All members are optional. */
export interface FakeScript extends AnswerScript {
  /** Refuse with this status; the body is `body`, else an error envelope. */
  readonly status?: number;
  /** The raw body of a refusal or of a whole answer, such as HTML. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** With `id`: only the first so many requests of that id follow the script, later ones are answered plainly. */
  readonly times?: number;
  readonly id?: string;
  /** With `id`: what the requests of that id follow, one after the other; later ones are answered plainly. */
  readonly turns?: readonly FakeScript[];
  /** Wait before the head; before each event. */
  readonly headDelayMs?: number;
  readonly eventDelayMs?: number;
  /** Wait until the test calls `release` with this name: before the head, or after so many events of a stream. */
  readonly held?: string;
  readonly heldAfter?: number;
  /** Never answer: hold the connection until the other side leaves. */
  readonly hang?: boolean;
  /** Destroy the socket: 0 before the head, else after so many events (of a whole answer: after half its bytes). */
  readonly cutAfter?: number;
  /** Stop sending after so many events, and keep the connection open. */
  readonly stallAfter?: number;
  /** End the body well, but without what should follow, after so many events. */
  readonly endAfter?: number;
  /** Send an error event after so many events, then end. */
  readonly errorAfter?: number;
  /** Write the stream's bytes in pieces of this size, so that events and characters are cut anywhere. */
  readonly pieceBytes?: number;
  /** Answer with a recorded file of chunks (one JSON a line) as a stream, or with a recorded whole answer. */
  readonly chunksFile?: string;
  readonly answerFile?: string;
  /** Answer with these events as they are, line ends and all, as a stream. */
  readonly streamText?: string;
  /** Answer with the request itself, as JSON in the text: method, url, headers, body. */
  readonly echo?: boolean;
}

/** A request as it arrived. */
export interface FakeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw: Buffer;
  /** The body read as JSON; undefined where it is none. */
  readonly body: unknown;
  /** True once the other side left before the answer was whole. */
  left: boolean;
  /** True once the answer was sent whole. */
  done: boolean;
}

export interface FakeUpstream {
  /** The base address, with /v1. */
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  /** Where set, every request follows this script, whatever it carries. */
  override: FakeScript | undefined;
  /** Where set, it tells the script of every request, which then carries none. */
  decide: ((body: unknown) => FakeScript) | undefined;
  /** Connections that were opened so far: kept ones count once. */
  readonly connections: () => number;
  /** Resolves when a request that fits has come, or changed so that it fits; rejects before a test is over. */
  waitFor(fits: (request: FakeRequest) => boolean): Promise<FakeRequest>;
  /** Lets go on what is held by this name, and what will be. */
  release(name: string): void;
  close(): Promise<void>;
}

const REQUESTS_KEPT = 1_000;

/** The text of a user message that steers the server. */
export function script(fake: FakeScript): string {
  return JSON.stringify({ fake });
}

export async function startFakeUpstream(): Promise<FakeUpstream> {
  const requests: FakeRequest[] = [];
  const uses = new Map<string, number>();
  const gates = new Gates();
  let connections = 0;
  const server: Server = createServer((request, response) => {
    serve(request, response, { requests, uses, gates, upstream }).catch((error: unknown) =>
      response.destroy(asError(error)),
    );
  });
  server.keepAliveTimeout = 30_000;
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const upstream: FakeUpstream = {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    override: undefined,
    decide: undefined,
    connections: () => connections,
    waitFor: (fits) => waitFor(requests, fits),
    release: (name) => gates.open(name),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return upstream;
}

async function waitFor(
  requests: readonly FakeRequest[],
  fits: (request: FakeRequest) => boolean,
): Promise<FakeRequest> {
  const endMs = performance.now() + PATIENCE_MS;
  while (performance.now() < endMs) {
    const found = requests.find(fits);
    if (found !== undefined) return found;
    await sleep(5);
  }
  throw new Error(`none of ${requests.length} requests fits`);
}

/** What scripts wait for by name until a test opens it. */
class Gates {
  readonly #gates = new Map<string, { readonly opened: Promise<void>; readonly open: () => void }>();

  opened(name: string): Promise<void> {
    return this.#gateOf(name).opened;
  }

  open(name: string): void {
    this.#gateOf(name).open();
  }

  #gateOf(name: string): { readonly opened: Promise<void>; readonly open: () => void } {
    let open = (): void => undefined;
    const gate = this.#gates.get(name) ?? { opened: new Promise<void>((resolve) => (open = resolve)), open };
    this.#gates.set(name, gate);
    return gate;
  }
}

/** What all requests share. */
interface Shared {
  readonly requests: FakeRequest[];
  readonly uses: Map<string, number>;
  readonly gates: Gates;
  readonly upstream: Pick<FakeUpstream, "override" | "decide">;
}

async function serve(request: IncomingMessage, response: ServerResponse, shared: Shared): Promise<void> {
  const { requests, uses, gates, upstream } = shared;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  const { method = "", url = "", headers } = request;
  const seen: FakeRequest = { method, url, headers, raw, body: parse(raw.toString()), left: false, done: false };
  requests.push(seen);
  if (requests.length > REQUESTS_KEPT) requests.shift();
  response.on("close", () => {
    seen.left = !response.writableFinished;
    seen.done = response.writableFinished;
  });
  if (url.split("?")[0] === "/v1/models") return sendJson(response, 200, MODELS);
  const told = limitUses(upstream.override ?? upstream.decide?.(seen.body) ?? readScript(seen), uses);
  if (told.hang) return;
  if (told.headDelayMs !== undefined) await sleep(told.headDelayMs);
  if (told.held !== undefined && told.heldAfter === undefined) await gates.opened(told.held);
  if (told.cutAfter === 0) return void response.destroy();
  const fake: FakeScript = told.echo ? { ...told, text: JSON.stringify({ ...seen, raw: undefined }) } : told;
  if (fake.status !== undefined) return refuse(response, fake.status, fake);
  const endpoint = ENDPOINTS.find(({ path }) => url.split("?")[0]?.endsWith(path));
  if (endpoint === undefined) return refuse(response, 404, {});
  const { body } = seen;
  if (!isStream(body)) return sendAnswer(response, fake, body, endpoint);
  return sendStream(response, fake, eventsOf(fake, body, endpoint.events), gates);
}

/** What the server answers at one address. */
interface FakeEndpoint {
  readonly path: string;
  readonly whole: (fake: FakeScript, body: unknown) => string;
  readonly events: (fake: FakeScript, body: unknown) => Iterable<string>;
}

const ENDPOINTS: readonly FakeEndpoint[] = [
  { path: "/chat/completions", whole: answerJson, events: streamEvents },
  // Completions of a text have no answers of their own here: a script brings them.
  { path: "/completions", whole: answerJson, events: streamEvents },
  { path: "/responses/compact", whole: compactionJson, events: responseEvents },
  { path: "/responses", whole: responseJson, events: responseEvents },
];

const MODELS = JSON.stringify({
  object: "list",
  data: [{ id: "fake-1", object: "model", created: 1_700_000_000, owned_by: "fake" }],
});

function refuse(response: ServerResponse, status: number, fake: FakeScript): void {
  const error = { message: `The fake upstream says ${status}.`, type: "fake_error", param: null, code: "fake" };
  sendJson(response, status, fake.body ?? JSON.stringify({ error }), fake.headers);
}

function sendAnswer(response: ServerResponse, fake: FakeScript, body: unknown, { whole }: FakeEndpoint): void {
  const recorded = fake.answerFile === undefined ? undefined : readFileSync(fake.answerFile, "utf8");
  const text = fake.body ?? recorded ?? whole(fake, body);
  if (fake.cutAfter === undefined) return sendJson(response, 200, text, fake.headers);
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.write(text.slice(0, text.length / 2), () => response.destroy());
}

async function sendStream(
  response: ServerResponse,
  fake: FakeScript,
  events: Iterable<string>,
  gates: Gates,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", ...fake.headers });
  response.flushHeaders();
  let sent = 0;
  for (const event of events) {
    if (sent === fake.stallAfter) return;
    if (sent === fake.heldAfter) await gates.opened(fake.held ?? "");
    if (sent === fake.endAfter) break;
    if (sent === fake.cutAfter) return void response.destroy();
    if (sent === fake.errorAfter) {
      const error = { message: "The fake upstream failed midway.", type: "server_error", param: null, code: null };
      await write(response, `data: ${JSON.stringify({ error })}\n\n`, fake.pieceBytes);
      break;
    }
    if (fake.eventDelayMs !== undefined) await sleep(fake.eventDelayMs);
    if (response.destroyed) return;
    await write(response, event, fake.pieceBytes);
    sent++;
  }
  response.end();
}

function eventsOf(fake: FakeScript, body: unknown, events: FakeEndpoint["events"]): Iterable<string> {
  if (fake.streamText !== undefined) return [fake.streamText];
  if (fake.chunksFile === undefined) return events(fake, body);
  const lines = readFileSync(fake.chunksFile, "utf8").split("\n");
  return [...lines.filter((line) => line.trim() !== "").map((line) => `data: ${line}\n\n`), "data: [DONE]\n\n"];
}

/** Writes and waits until the bytes left, so that a cut comes after them and a slow reader is felt. */
async function write(response: ServerResponse, text: string, pieceBytes: number | undefined): Promise<void> {
  const bytes = Buffer.from(text);
  const step = pieceBytes ?? bytes.length;
  for (let at = 0; at < bytes.length; at += step) {
    const piece = bytes.subarray(at, at + step);
    await new Promise<void>((resolve) => {
      response.once("close", resolve);
      response.write(piece, () => {
        response.off("close", resolve);
        resolve();
      });
    });
  }
}

function sendJson(response: ServerResponse, status: number, text: string, headers: FakeScript["headers"] = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(text);
}

/** A script whose turns are used up is an empty one. */
function limitUses(fake: FakeScript, uses: Map<string, number>): FakeScript {
  if (fake.times === undefined && fake.turns === undefined) return fake;
  const id = fake.id ?? "";
  const used = (uses.get(id) ?? 0) + 1;
  uses.set(id, used);
  if (fake.turns !== undefined) return fake.turns[used - 1] ?? {};
  return fake.times === undefined || used > fake.times ? {} : fake;
}

function readScript(request: FakeRequest): FakeScript {
  const header = request.headers["x-fake"];
  if (typeof header === "string") return asScript(parse(header));
  const metadata = member(member(request.body, "metadata"), "fake");
  if (metadata !== undefined) return asScript(typeof metadata === "string" ? parse(metadata) : metadata);
  const messages = member(request.body, "messages") ?? member(request.body, "input");
  if (typeof messages === "string") return asScript(member(parse(messages), "fake"));
  if (!Array.isArray(messages)) return {};
  const last: unknown = messages.findLast((message) => member(message, "role") === "user");
  return asScript(member(parse(textOf(member(last, "content"))), "fake"));
}

/** Content as a string, or as parts whose texts belong together. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part) => String(member(part, "text") ?? "")).join("") : "";
}

// The scripts are the tests' own, so their shape is taken at its word.
function asScript(value: unknown): FakeScript {
  return typeof value === "object" && value !== null ? value : {};
}

function isStream(body: unknown): boolean {
  return member(body, "stream") === true;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
