/**
 * A real HTTP server that answers as Amazon Bedrock's Converse, and that the request itself steers: the last text of
 * the conversation that is JSON with the member `fake` is the script of the answer. It signs what it received once
 * more, and refuses a request whose signature is another. What it received stands in `requests`.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Sha256 } from "@aws-crypto/sha256-js";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { SignatureV4 } from "@smithy/signature-v4";
import { converseProblem } from "./converse-rules.js";

/** The pair of keys that it knows. */
export const AWS_ID = "AKIDOFTHISTEST";
export const AWS_SECRET = "secret/of+this/test0123456789abcdef";
export const AWS_TOKEN = "session/token+of=this/test";
export const AWS_REGION = "eu-test-7";
/** A key of Bedrock's own. */
export const BEARER = "ABSKofthistest0123456789";

/** What one request asks the server to do. All members are optional. */
export interface BedrockScript {
  /** The blocks to say, in the wire's own form; default two texts. */
  readonly content?: readonly Json[];
  readonly stopReason?: string;
  /** Which stop string it was; told where it is asked for. */
  readonly stopString?: string;
  /** The usage; null: none is told. */
  readonly usage?: Json | null;
  /** Refuse with this status, this name and this body. */
  readonly status?: number;
  readonly errorType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Tell this exception after so many messages, then end. */
  readonly exceptionAfter?: { readonly messages: number; readonly type: string; readonly message: string };
  /** Send so many bytes of the stream, then close it as if all were well. */
  readonly bytes?: number;
  /** Destroy the socket after so many messages. */
  readonly cutAfter?: number;
  /** Send the stream byte by byte. */
  readonly byByte?: boolean;
  /** Wait before each message but the first. */
  readonly delayMs?: number;
}

type Json = Readonly<Record<string, unknown>>;

export interface BedrockRequest {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Json;
}

export interface FakeBedrock {
  readonly url: string;
  readonly requests: readonly BedrockRequest[];
  /** How many messages were sent to whoever left. */
  sent: number;
  close(): Promise<void>;
}

export const USAGE = {
  inputTokens: 10,
  outputTokens: 4,
  totalTokens: 61,
  cacheReadInputTokens: 40,
  cacheWriteInputTokens: 7,
  cacheDetails: [
    { ttl: "1h", inputTokens: 5 },
    { ttl: "5m", inputTokens: 2 },
  ],
};

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString(),
  (text) => Buffer.from(text),
);
const FRAGMENT_CHARACTERS = 7;

/** The text of a user's message that steers the server. */
export function steer(fake: BedrockScript): string {
  return JSON.stringify({ fake });
}

export async function startFakeBedrock(): Promise<FakeBedrock> {
  const requests: BedrockRequest[] = [];
  const server: Server = createServer((request, response) => {
    serve(request, response, fake, requests).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeBedrock = {
    url: `http://127.0.0.1:${port}`,
    requests,
    sent: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  fake: FakeBedrock,
  requests: BedrockRequest[],
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  const { url = "", headers } = request;
  if (!(await isProven(request, raw)))
    return refuse(response, 403, "InvalidSignatureException", { message: "The request signature does not match." });
  const body = JSON.parse(raw.toString()) as Json;
  requests.push({ url, headers, body });
  if (requests.length > 1_000) requests.shift();
  const problem = converseProblem(body);
  if (problem !== undefined) return refuse(response, 400, "ValidationException", { message: problem });
  const script = scriptIn(body);
  if (script.status !== undefined)
    return refuse(response, script.status, script.errorType, script.body, script.headers);
  if (url.endsWith("/converse")) return send(response, 200, whole(script));
  const frames = messagesOf(script);
  response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
  if (script.bytes !== undefined) return void response.end(Buffer.concat(frames).subarray(0, script.bytes));
  for (const [place, frame] of frames.entries()) {
    if (place === script.cutAfter) return void response.destroy();
    if (place > 0 && script.delayMs !== undefined) await sleep(script.delayMs);
    const pieces = script.byByte === true ? [...frame].map((byte) => Buffer.of(byte)) : [frame];
    for (const piece of pieces) await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    fake.sent++;
  }
  response.end();
}

/** Signs what came, by the time and the headers that it names, and compares. */
export async function isProven(
  { method = "", url = "", headers }: Pick<IncomingMessage, "method" | "url" | "headers">,
  body: Buffer,
): Promise<boolean> {
  const told = headers.authorization ?? "";
  if (told === `Bearer ${BEARER}`) return true;
  const names = /SignedHeaders=([^,]+)/.exec(told)?.[1]?.split(";") ?? [];
  if (!names.includes("host") || !names.includes("x-amz-date")) return false;
  const digest = createHash("sha256").update(body).digest("hex");
  if ((headers["x-amz-content-sha256"] ?? digest) !== digest) return false;
  const token = told.includes(`Credential=${AWS_ID}/`) && headers["x-amz-security-token"] !== undefined;
  const signer = new SignatureV4({
    credentials: { accessKeyId: AWS_ID, secretAccessKey: AWS_SECRET, ...(token ? { sessionToken: AWS_TOKEN } : {}) },
    region: AWS_REGION,
    service: "bedrock",
    sha256: Sha256,
    applyChecksum: false,
  });
  const date = String(headers["x-amz-date"]).replace(/(....)(..)(..)T(..)(..)(..)Z/, "$1-$2-$3T$4:$5:$6Z");
  const signed = await signer.sign(
    {
      method,
      protocol: "http:",
      hostname: "127.0.0.1",
      path: url,
      headers: Object.fromEntries(
        names
          .filter((name) => name !== "x-amz-date" && name !== "x-amz-security-token")
          .map((name) => [name, String(headers[name])]),
      ),
      body,
    },
    { signingDate: new Date(date) },
  );
  return signed.headers["authorization"] === told;
}

export function whole(script: BedrockScript): object {
  return {
    metrics: { latencyMs: 5 },
    output: { message: { role: "assistant", content: contentOf(script) } },
    ...endOf(script),
    ...(script.usage === null ? {} : { usage: script.usage ?? USAGE }),
  };
}

function endOf({ stopReason = "end_turn", stopString }: BedrockScript): object {
  return {
    stopReason,
    ...(stopString === undefined ? {} : { additionalModelResponseFields: { stop_sequence: stopString } }),
  };
}

function contentOf({ content }: BedrockScript): readonly Json[] {
  return content ?? [{ text: "Hello from " }, { text: "Bedrock." }];
}

/** The stream of a script, each message framed. */
export function messagesOf(script: BedrockScript): Buffer[] {
  const events = [...eventsOf(script)].map(([type, body]) => message("event", type, { ...body, p: "abcdef" }));
  const { exceptionAfter } = script;
  if (exceptionAfter === undefined) return events;
  const { messages, type, message: said } = exceptionAfter;
  return [...events.slice(0, messages), message("exception", type, { message: said })];
}

function* eventsOf(script: BedrockScript): Generator<[string, Json], void> {
  yield ["messageStart", { role: "assistant" }];
  for (const [contentBlockIndex, block] of contentOf(script).entries()) {
    const { start, deltas } = blockEvents(block);
    if (start !== undefined) yield ["contentBlockStart", { contentBlockIndex, start }];
    for (const delta of deltas) yield ["contentBlockDelta", { contentBlockIndex, delta }];
    yield ["contentBlockStop", { contentBlockIndex }];
  }
  yield ["messageStop", { ...endOf(script) }];
  if (script.usage !== null) yield ["metadata", { usage: script.usage ?? USAGE, metrics: { latencyMs: 5 } }];
}

function blockEvents(block: Json): { readonly start?: Json; readonly deltas: readonly Json[] } {
  const call = block["toolUse"] as { toolUseId: string; name: string; input: object } | undefined;
  if (call !== undefined) {
    const { toolUseId, name, input } = call;
    const json = JSON.stringify(input);
    const told = json === "{}" ? [] : fragments(json);
    return { start: { toolUse: { toolUseId, name } }, deltas: told.map((text) => ({ toolUse: { input: text } })) };
  }
  const thought = block["reasoningContent"] as
    | { reasoningText?: { text: string; signature?: string }; redactedContent?: string }
    | undefined;
  if (thought === undefined) return { deltas: fragments(String(block["text"])).map((text) => ({ text })) };
  const { reasoningText, redactedContent } = thought;
  const deltas: Json[] = fragments(reasoningText?.text ?? "").map((text) => ({ reasoningContent: { text } }));
  if (reasoningText?.signature !== undefined) deltas.push({ reasoningContent: { signature: reasoningText.signature } });
  if (redactedContent !== undefined) deltas.push({ reasoningContent: { redactedContent } });
  return { deltas };
}

function fragments(text: string): string[] {
  return text.match(new RegExp(`[^]{1,${FRAGMENT_CHARACTERS}}`, "g")) ?? [];
}

/** One event of a stream, framed. */
export function frameOf(type: string, body: object): Buffer {
  return message("event", type, body);
}

function message(kind: "event" | "exception", type: string, body: object): Buffer {
  const text = (value: string): { type: "string"; value: string } => ({ type: "string", value });
  const headers = {
    [`:${kind}-type`]: text(type),
    ":content-type": text("application/json"),
    ":message-type": text(kind),
  };
  return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify(body)) }));
}

/** The script in the last text of a user that is one. */
function scriptIn(body: Json): BedrockScript {
  const messages = (body["messages"] ?? []) as { content: { text?: string }[] }[];
  const texts = messages.flatMap(({ content }) => content.map(({ text }) => text ?? ""));
  const found = texts.findLast((text) => text.startsWith('{"fake"'));
  return found === undefined ? {} : (JSON.parse(found) as { fake: BedrockScript }).fake;
}

function refuse(
  response: ServerResponse,
  status: number,
  errorType: string | undefined,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const named = errorType === undefined ? {} : { "x-amzn-errortype": `${errorType}:http://internal.amazon.com/` };
  send(response, status, body, { ...named, ...headers });
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/html" : "application/json", ...headers });
  response.end(isText ? body : JSON.stringify(body));
}
