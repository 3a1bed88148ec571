/** Recordings of real upstreams pass through the real gateway byte for byte, and are metered as they report. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { postChat } from "../../support/chat-call.js";
import { type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { type RecordedTokens, recordedChatTokens } from "../../support/recorded-tokens.js";
import { answers, hasRecordings, type Recording, recordingsNote, streams } from "../../wire/openai-chat/recordings.js";

// USD per million tokens is a thousand nano-USD a token. Each component costs otherwise, so that none hides in another.
const PRICE_YAML = '{ input: "1", cache_read: "0.5", output: "3", reasoning: "7" }';

function costNanos(tokens: RecordedTokens): number {
  const { input, cacheRead = 0, output, reasoning = 0 } = tokens;
  return 1_000 * input + 500 * cacheRead + 3_000 * output + 7_000 * reasoning;
}

const BYTES_OF_SINGLE_PIECES_MAX = 20_000;
const MODEL = "gpt-5-nano";
/** As long as any request that was recorded: an answer may tell no more input than its request can have been. */
const HI = "Hi ".repeat(20_000);
const DONE = "data: [DONE]\n\n";

let upstream: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;
let secret: string;

describe.runIf(hasRecordings)(recordingsNote, () => {
  beforeAll(async () => {
    upstream = await startFakeUpstream();
    const settings = `
upstreams:
  # A family whose answers pass as they came; those of others are fitted, which fit-answer.test.ts is about.
  fake: { family: openai, base_url: "${upstream.url}", api_key: "sk-of-the-upstream" }
models:
  ${MODEL}:
    { targets: [{ upstream: fake }], context_tokens: 100000, output_tokens_max: 20000, price: ${PRICE_YAML} }
`;
    gateway = await startGateway({ settings });
    gateway.expectOddAnswers();
    management = new Management(gateway);
    await management.account("acme", 100_000_000_000n);
    secret = (await management.makeKey("acme")).secret;
  });
  beforeEach(async () => {
    await management.call("POST", "/upstreams/fake:reset", {});
  });
  afterAll(async () => {
    await management.verify();
    await gateway.stop();
    await upstream.close();
    rmSync(gateway.dataDirectory, { recursive: true });
  });

  test("every recording that reports a usage has one worked out by hand", () => {
    const reporting = [...answers, ...streams].filter(
      ({ body }) => body.includes('"usage": {') || /"usage":\{/.test(body),
    );
    expect(reporting.map(({ name }) => name).sort()).toEqual(Object.keys(recordedChatTokens).sort());
  });

  describe.each(answers.filter(({ status }) => status === 200))("the answer $name", (recording) => {
    test("reaches the client byte for byte, and is metered as it reports", async () => {
      upstream.override = { body: recording.body };
      const response = await postChat(gateway, secret, requestOf(recording, {}));
      expect(response.status).toBe(200);
      expect(await response.text()).toBe(recording.body);
      await expectMetered(response, recordedChatTokens[recording.name]);
      expectArrived(recording);
    });
  });

  describe.each(answers.filter(({ status }) => status !== 200))("the refusal $name", (recording) => {
    test("reaches the client as what it is about, and is free", async () => {
      upstream.override = { status: recording.status, body: recording.body };
      const response = await postChat(gateway, secret, { model: MODEL, messages: [{ role: "user", content: HI }] });
      const told = JSON.parse(await response.text()) as { error: Record<string, unknown> };
      // The gateway lists the model: one that its upstream lacks is the operator's to mend.
      const [status, type, code] =
        recording.status === 404
          ? [502, "server_error", "upstream_error"]
          : [recording.status, "invalid_request_error", "unsupported_parameter"];
      expect({ status: response.status, ...told.error }).toMatchObject({ status, type, code });
      const { body } = await management.call("GET", `/requests/${response.headers.get("x-request-id")}`);
      expect(body["request"]).toMatchObject({ state: "voided", cost_nanos: "0" });
    });
  });

  describe.each(streams)("the stream $name", (recording) => {
    const { body } = recording;
    const short = body.length <= BYTES_OF_SINGLE_PIECES_MAX;
    test.each([
      { end: "LF", pieceBytes: short ? 1 : 3 },
      { end: "LF", pieceBytes: 7 },
      { end: "LF", pieceBytes: 65_536 },
      { end: "CRLF", pieceBytes: short ? 1 : 5 },
      { end: "CRLF", pieceBytes: 65_536 },
    ])("in pieces of $pieceBytes, with $end, reaches the client byte for byte, and is metered", async (cut) => {
      const streamText = cut.end === "CRLF" ? body.replaceAll("\n", "\r\n") : body;
      upstream.override = { streamText, pieceBytes: cut.pieceBytes };
      const asked = requestOf(recording, { stream: true, stream_options: { include_usage: true } });
      const response = await postChat(gateway, secret, asked);
      expect(response.status).toBe(200);
      const text = await response.text();
      if (isAskedForUsage(asked) || !streamText.includes('"usage"'))
        expect(text === upToDone(streamText) + DONE).toBe(true);
      expect(text.endsWith(DONE)).toBe(true);
      await expectMetered(response, recordedChatTokens[recording.name]);
      expectArrived(recording);
    });

    test("tells a client that did not ask for usage everything else, and meters the same", async () => {
      upstream.override = { streamText: body, pieceBytes: 4_096 };
      const response = await postChat(gateway, secret, {
        model: MODEL,
        stream: true,
        messages: [{ role: "user", content: HI }],
      });
      expect(await response.text()).toBe(withoutUsage(body) + DONE);
      await expectMetered(response, recordedChatTokens[recording.name]);
    });
  });
});

/** What was recorded as asked, where it was; else a plain request. */
function requestOf(recording: Recording, more: object): string {
  return recording.request ?? JSON.stringify({ model: MODEL, messages: [{ role: "user", content: HI }], ...more });
}

function isAskedForUsage(request: string): boolean {
  return /"include_usage":\s*true/.test(request);
}

/** The recorded request arrived with every field as it was, beside the limit, stream options, and a cache key. */
function expectArrived({ request }: Recording): void {
  if (request === undefined) return;
  const sent = JSON.parse(request) as object;
  const limit = { max_tokens: 20_000, max_completion_tokens: 20_000 };
  const arrived = upstream.requests.at(-1)?.body;
  expect(arrived).toMatchObject({ ...sent });
  const owned = new Set([...Object.keys(sent), ...Object.keys(limit), "stream_options", "prompt_cache_key"]);
  for (const name of Object.keys(Object(arrived))) expect(owned).toContain(name);
}

async function expectMetered(response: Response, tokens: RecordedTokens | undefined): Promise<void> {
  const id = response.headers.get("x-request-id");
  const request = async (): Promise<unknown> => (await management.call("GET", `/requests/${id}`)).body["request"];
  await expect.poll(async () => Reflect.get(Object(await request()), "state")).toBe("settled");
  if (tokens === undefined) {
    // It reports none, so what it says was counted.
    expect(await request()).toMatchObject({ usage_source: "counted" });
    return;
  }
  expect(await request()).toMatchObject({
    usage_source: "reported",
    cost_nanos: String(costNanos(tokens)),
    usage: {
      input_tokens: String(tokens.input),
      cache_read_tokens: String(tokens.cacheRead ?? 0),
      cache_write_tokens: "0",
      output_tokens: String(tokens.output),
      reasoning_tokens: String(tokens.reasoning ?? 0),
      audio_input_tokens: "0",
      audio_output_tokens: "0",
    },
  });
}

function upToDone(text: string): string {
  return text.slice(0, text.lastIndexOf("data: [DONE]"));
}

/** What a client that did not ask for usage must receive, told by the rules alone. */
function withoutUsage(text: string): string {
  return upToDone(text)
    .split(/(?<=\n\n)/)
    .filter((event) => !/"choices":\[\],"usage":\{/.test(event))
    .map((event) => event.replace(/,"usage":null(?=[,}])/, ""))
    .join("");
}
