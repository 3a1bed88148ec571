/**
 * Answers that are not in the form that was asked for, that end without their words, or whose text breaks frames: each
 * client gets the text and an end, or an error. None hangs, and none is told an empty success.
 */
import { isUtf8 } from "node:buffer";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as bodyText } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AWS_REGION } from "../../support/fake-bedrock.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { bySweep } from "../../support/sweep.js";
import { type WireAnswers, WIRE_ANSWERS } from "../../support/wire-answers.js";

type Json = Readonly<Record<string, unknown>>;

/** In the order of the wires. */
const UPSTREAMS = ["compatible", "compatible", "claude", "google", "native", "aws"];

const JSON_TYPE = "application/json";
const EVENTS = "text/event-stream";
const TEXT = "Hello there.";

/** What the upstream sends, whatever it was asked for. */
interface Sent {
  readonly type: string | undefined;
  readonly body: Buffer;
}
interface Odd {
  readonly name: string;
  readonly sends: (wire: WireAnswers, asksStream: boolean) => Sent;
  /** Absent: the text and an end, or an error. `report`: the answer, and it is charged by what it reports. */
  readonly must?: "answer" | "report" | "fail";
}

const wholeOf = (wire: WireAnswers, text = TEXT): Buffer => Buffer.from(JSON.stringify(wire.whole(text)));
const streamOf = (wire: WireAnswers, text = TEXT): Buffer => Buffer.concat([...wire.stream(text), ...wire.end]);
const typeOf = (wire: WireAnswers): string =>
  wire.name === "bedrock-converse" ? "application/vnd.amazon.eventstream" : EVENTS;

/** The types that a body is sent with where it is a whole answer; the short form has one of each way to be read. */
const SHORT_TYPES: readonly (string | undefined)[] = [JSON_TYPE, "text/json", EVENTS, "text/html", undefined];
const LONG_TYPES: readonly (string | undefined)[] = [
  ...SHORT_TYPES,
  `${JSON_TYPE}; charset=utf-8`,
  "APPLICATION/JSON",
  "application/problem+json",
  `${EVENTS}; charset=utf-8`,
  "application/vnd.amazon.eventstream",
  "application/x-ndjson",
  "text/plain",
  "application/octet-stream",
  "nonsense",
];
const BEFORE = ["\n\n", "\ufeff", "  \r\n"];

/** Of text without an answer in it: in the short form each text has one of the two, in turn. */
const TYPES = [JSON_TYPE, EVENTS];
const typesOf = (place: number): readonly string[] =>
  bySweep({ short: TYPES.slice(place % 2, (place % 2) + 1), long: TYPES, all: TYPES });

const FORMS: readonly Odd[] = [
  ...bySweep({ short: SHORT_TYPES, long: LONG_TYPES, all: LONG_TYPES }).map((type): Odd => ({
    name: `whole, as ${type ?? "nothing"}`,
    sends: (wire) => ({ type, body: wholeOf(wire) }),
    must: "report",
  })),
  ...bySweep({ short: BEFORE.slice(1, 2), long: BEFORE, all: BEFORE }).map((before): Odd => ({
    name: `whole, as a stream, behind ${JSON.stringify(before)}`,
    sends: (wire) => ({ type: typeOf(wire), body: Buffer.concat([Buffer.from(before), wholeOf(wire)]) }),
    must: "report",
  })),
  {
    name: "whole, as a stream, with indents",
    sends: (wire) => ({ type: typeOf(wire), body: Buffer.from(JSON.stringify(wire.whole(TEXT), null, 2)) }),
    must: "report",
  },
  { name: "streamed, as JSON", sends: (wire) => ({ type: JSON_TYPE, body: streamOf(wire) }) },
  { name: "streamed, without a type", sends: (wire) => ({ type: undefined, body: streamOf(wire) }) },
  { name: "streamed, as plain text", sends: (wire) => ({ type: "text/plain", body: streamOf(wire) }) },
  { name: "streamed, as lines of JSON", sends: (wire) => ({ type: "application/x-ndjson", body: streamOf(wire) }) },
  ...["", "{}", "[]", "{", "data: [DONE]\n\n", ": ping\n\n"].flatMap((text, place) =>
    typesOf(place).map((type): Odd => {
      const body = Buffer.from(text);
      return { name: `${JSON.stringify(text)} as ${type}`, sends: () => ({ type, body }), must: "fail" };
    }),
  ),
  {
    name: "without a reason for its end",
    sends: (wire, asksStream) =>
      asksStream
        ? { type: typeOf(wire), body: Buffer.concat([...wire.stream(TEXT), ...(wire.endUntold ?? wire.end)]) }
        : { type: JSON_TYPE, body: wholeOf(wire) },
    must: "answer",
  },
  {
    name: "without an end, and closed",
    sends: (wire, asksStream) => ({
      type: asksStream ? typeOf(wire) : JSON_TYPE,
      body: asksStream ? Buffer.concat([...wire.stream(TEXT)]) : wholeOf(wire).subarray(0, -2),
    }),
    must: "fail",
  },
];

/** Text that readers of lines, of frames or of UTF-8 stumble over. */
const BREAKS = "A\u2028B\u2029C\u0085D\u000bE\u000cF\u001cG\u0000H";
const TEXTS: readonly Odd[] = [
  {
    name: "line ends of other alphabets",
    sends: (wire, asksStream) => ({
      type: asksStream ? typeOf(wire) : JSON_TYPE,
      body: asksStream ? streamOf(wire, BREAKS) : wholeOf(wire, BREAKS),
    }),
    must: "answer",
  },
  {
    name: "half a pair",
    sends: (wire, asksStream) => ({
      type: asksStream ? typeOf(wire) : JSON_TYPE,
      body: asksStream ? streamOf(wire, "A\ud800B") : wholeOf(wire, "A\udc00B"),
    }),
    must: "answer",
  },
  {
    name: "bytes that are no UTF-8",
    sends: (wire, asksStream) => {
      const isBinary = wire.name === "bedrock-converse" && asksStream;
      const body = asksStream ? streamOf(wire, "A__B") : wholeOf(wire, "A__B");
      // The checks of binary frames are over their bytes: what is no UTF-8 cannot be put in later.
      return { type: asksStream ? typeOf(wire) : JSON_TYPE, body: isBinary ? body : withBroken(body) };
    },
    must: "answer",
  },
];

/** In place of the two signs, two bytes that are none together. */
function withBroken(body: Buffer): Buffer {
  const broken = Buffer.from(body);
  for (let at = broken.indexOf("A__B"); at !== -1; at = broken.indexOf("A__B", at + 1))
    broken.fill(0xff, at + 1, at + 3);
  return broken;
}

interface Client {
  readonly name: string;
  readonly ask: (model: string, stream: boolean) => { readonly path: string; readonly body: object };
  /** The end of a stream that is whole; of a whole answer its JSON is enough. */
  readonly end: RegExp;
  /** The text of one event, or of a whole answer. */
  readonly textOf: (value: Json) => string;
}

const messages = [{ role: "user", content: "Begin." }];
const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((found, key) => (found as Json | undefined)?.[key], value);
const said = (value: unknown): string => (typeof value === "string" ? value : "");

const CLIENTS: readonly Client[] = [
  {
    name: "chat completions",
    ask: (model, stream) => ({ path: "/v1/chat/completions", body: { model, messages, max_tokens: 50, stream } }),
    end: /"finish_reason":"stop"[^]*data: \[DONE\]\s*$/,
    textOf: (value) =>
      said(at(value, "choices", 0, "delta", "content") ?? at(value, "choices", 0, "message", "content")),
  },
  {
    name: "completions",
    ask: (model, stream) => ({ path: "/v1/completions", body: { model, prompt: "Begin.", max_tokens: 50, stream } }),
    end: /"finish_reason":"stop"[^]*data: \[DONE\]\s*$/,
    textOf: (value) => said(at(value, "choices", 0, "text")),
  },
  {
    name: "messages",
    ask: (model, stream) => ({ path: "/v1/messages", body: { model, messages, max_tokens: 50, stream } }),
    end: /"stop_reason":"end_turn"[^]*"type":"message_stop"\}\s*$/,
    textOf: (value) => said(at(value, "delta", "text") ?? at(value, "content", 0, "text")),
  },
  {
    name: "generateContent",
    ask: (model, stream) => ({
      path: `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
      body: { contents: [{ role: "user", parts: [{ text: "Begin." }] }], generationConfig: { maxOutputTokens: 50 } },
    }),
    end: /"finishReason":\s*"STOP"/,
    textOf: (value) =>
      listOf(at(value, "candidates", 0, "content", "parts"))
        .map((part) => said(part["text"]))
        .join(""),
  },
  {
    name: "responses",
    ask: (model, stream) => ({
      path: "/v1/responses",
      body: { model, input: "Begin.", max_output_tokens: 50, stream },
    }),
    end: /event: response\.completed\n[^\n]*\n\n$/,
    textOf: (value) =>
      value["type"] === "response.output_text.delta"
        ? said(value["delta"])
        : value["object"] === "response"
          ? listOf(value["output"])
              .flatMap((item) => listOf(item["content"]))
              .map((part) => said(part["text"]))
              .join("")
          : "",
  },
];

let server: Server;
let gateway: GatewayProcess;
let management: Management;
let secret: string;
let odd: Odd | undefined;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = JSON.parse(await bodyText(request)) as Json;
  const url = request.url ?? "";
  const wire = WIRE_ANSWERS.find(({ path }) => path.test(url.split("?")[0] ?? ""));
  if (wire === undefined || odd === undefined) return void response.writeHead(404).end();
  const { type, body } = odd.sends(wire, asked["stream"] === true || /stream/i.test(url));
  response.writeHead(200, type === undefined ? {} : { "content-type": type });
  response.end(body);
}

beforeAll(async () => {
  server = createServer((request, response) => {
    void answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const limits = 'context_tokens: 100000, output_tokens_max: 1000, price: { input: "0.01", output: "0.1" }';
  gateway = await startGateway({
    settings: [
      "upstreams:",
      `  compatible: { family: openai-compatible, base_url: "${url}" }`,
      `  native: { family: openai, base_url: "${url}/v1", api_key: "sk-upstream-secret-0123456789" }`,
      `  claude: { family: anthropic, base_url: "${url}", api_key: "sk-ant-upstream-secret" }`,
      `  google: { family: gemini, base_url: "${url}", api_key: "AIza-upstream-secret" }`,
      `  aws: { family: bedrock, base_url: "${url}", api_key: "AKIDOFTHISTEST:secret/of+this/test0123456789abcdef" }`,
      "models:",
      ...WIRE_ANSWERS.map(({ model, name }, place) => {
        const kind = name === "openai-completions" ? "kind: completion, " : "";
        return `  ${model}: { targets: [{ upstream: ${UPSTREAMS[place]} }], ${kind}${limits} }`;
      }),
      "",
    ].join("\n"),
    env: { AWS_REGION },
  });
  gateway.expectOddAnswers();
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await gateway.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

interface Got {
  readonly status: number;
  readonly requestId: string;
  readonly bytes: Buffer;
  readonly text: string;
  /** True where the client must take it for a whole answer. */
  readonly isWhole: boolean;
}

/** Lines as the widest of readers finds them, which some clients are. */
const WIDE_LINES = /\r\n|[\n\r\u0085\u2028\u2029]/;

async function ask(client: Client, model: string, stream: boolean): Promise<Got> {
  const { path, body } = client.ask(model, stream);
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${secret}`,
      "anthropic-version": "2023-06-01",
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const answered = bytes.toString();
  const requestId = String(response.headers.get("x-request-id"));
  if (response.status !== 200) return { status: response.status, requestId, bytes, text: "", isWhole: false };
  if (!stream)
    return { status: 200, requestId, bytes, text: client.textOf(JSON.parse(answered) as Json), isWhole: true };
  const values = answered
    .split(WIDE_LINES)
    .filter((line) => line.startsWith("data:") && line.includes("{"))
    .map((line) => JSON.parse(line.slice(5)) as Json);
  const isWhole = client.end.test(answered) && !values.some((value) => value["error"] !== undefined);
  return { status: 200, requestId, bytes, text: values.map(client.textOf).join(""), isWhole };
}

/** What all answers here report. */
const REPORTED = { input_tokens: "5", output_tokens: "4" };

/** What is wrong with the charge of an answer that reports its usage. */
async function miscounted({ requestId }: Got): Promise<string | undefined> {
  const { body } = await management.call("GET", `/requests/${requestId}`);
  const { usage, usage_source: source } = body["request"] as Json;
  const isCharged = source === "reported" && isDeepStrictEqual({ ...(usage as Json), ...REPORTED }, usage);
  return isCharged ? undefined : `charged ${JSON.stringify(usage)}, ${String(source)}`;
}

/** What went wrong for which clients, by name: one line each. */
async function problemsOf(wire: WireAnswers, one: Odd, isRight: (got: Got) => string | undefined): Promise<string[]> {
  odd = one;
  // What an upstream of odd answers is ejected for is not what is asked here.
  await management.call("POST", `/upstreams/${UPSTREAMS[WIRE_ANSWERS.indexOf(wire)]}:reset`, {});
  const isOfCompletions = wire.name === "openai-completions";
  const clients = CLIENTS.filter(({ name }) => (name === "completions") === isOfCompletions);
  const asked = clients.flatMap((client) => [true, false].map((stream) => ({ client, stream })));
  const problems = await Promise.all(
    asked.map(async ({ client, stream }) => {
      const got = await ask(client, wire.model, stream);
      const problem = isRight(got) ?? (one.must === "report" ? await miscounted(got) : undefined);
      const shown = got.bytes.toString().slice(-300);
      return problem && `${client.name}, streamed ${stream}: ${problem}; status ${got.status}: ${shown}`;
    }),
  );
  return problems.filter((problem) => problem !== undefined);
}

describe.each(WIRE_ANSWERS)("an upstream of $name", (wire) => {
  test.each(FORMS)("that answers $name", async (one) => {
    const problems = await problemsOf(wire, one, ({ status, text, isWhole }) => {
      if (isWhole && text !== TEXT) return `told as whole: ${JSON.stringify(text)}`;
      if ((one.must === "answer" || one.must === "report") && !isWhole) return "not told";
      if (one.must === "fail" && isWhole) return "told as an answer";
      return !isWhole && status === 200 && text === "" ? "an error behind nothing" : undefined;
    });
    expect(problems).toEqual([]);
  });

  test.each(TEXTS)("that tells $name", async (one) => {
    const problems = await problemsOf(wire, one, ({ bytes, text, isWhole }) => {
      if (!isWhole) return "not told";
      if (!isUtf8(bytes)) return "no UTF-8";
      if (!text.startsWith("A") || !/[BH]$/.test(text)) return `another text: ${JSON.stringify(text)}`;
      return undefined;
    });
    expect(problems).toEqual([]);
  });
});
