/** Speech end to end: OpenAI's official client and typed services, against upstreams that send bytes or events. */
import { Metadata } from "@grpc/grpc-js";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { clientOf, type DynamicStream, type Json } from "../../support/dynamic-client.js";
import { type FakeSpeech, INPUT_TOKENS, startFakeSpeech } from "../../support/fake-speech.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { fc } from "../../support/seeds.js";

/** Nano-USD for a token of text, a token of sound, and a character. */
const [TEXT_NANOS, SOUND_NANOS, CHARACTER_NANOS] = [600n, 12_000n, 15_000n];
const INPUT = "Good morning, 🌍!";
const CHARACTERS = 16n;
const BYTES = Buffer.from(INPUT);

function settings(url: string): string {
  const sold = 'output_tokens_max: 16000, price: { input: "0.60", output: "12.00" }';
  const chat = 'output_tokens_max: 10, price: { input: "1", output: "1" }';
  return [
    "upstreams:",
    `  fake: { family: openai, base_url: "${url}/v1", api_key: "sk-upstream-secret-0123456789" }`,
    `  own: { family: openai-compatible, base_url: "${url}/v1" }`,
    "  sim: { family: sim }",
    "models:",
    "  sim-speech-1: { targets: [{ upstream: sim }], price: free }",
    `  gpt-4o-mini-tts: { targets: [{ upstream: fake }], ${sold} }`,
    `  tts-1: { targets: [{ upstream: fake }], price: { units: { character: "15.00" } } }`,
    `  renamed: { targets: [{ upstream: own, model: kokoro }], kind: speech, ${sold} }`,
    `  unpriced: { targets: [{ upstream: own }], kind: speech, price: { units: { search_unit: "1" } } }`,
    `  chat-1: { targets: [{ upstream: fake }], kind: chat, ${chat} }`,
    "",
  ].join("\n");
}

let fake: FakeSpeech;
let core: GatewayProcess;
let management: Management;
let secret: string;
let client: OpenAI;

beforeAll(async () => {
  fake = await startFakeSpeech();
  core = await startGateway({ settings: settings(fake.url) });
  management = new Management(core);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
  client = new OpenAI({ baseURL: `${core.url}/v1`, apiKey: secret, maxRetries: 0 });
});
afterEach(() => {
  fake.override = {};
  fake.bodies.length = 0;
  fake.left = 0;
});
afterAll(async () => {
  await core.stop();
  await fake.close();
});

type Asked = Partial<OpenAI.Audio.SpeechCreateParams>;

function speak(asked: Asked = {}): ReturnType<OpenAI["audio"]["speech"]["create"]> {
  return client.audio.speech.create({ model: "gpt-4o-mini-tts", voice: "alloy", input: INPUT, ...asked });
}

/** The sound, and what it cost once nothing is held any more. */
async function charged(ask: () => Promise<unknown>): Promise<bigint> {
  const before = (await management.balance("acme")).spentNanos;
  await ask();
  await expect.poll(async () => (await management.balance("acme")).heldNanos, { timeout: 60_000 }).toBe(0n);
  return (await management.balance("acme")).spentNanos - before;
}

async function soundOf(asked: Asked = {}): Promise<Buffer> {
  return Buffer.from(await (await speak(asked)).arrayBuffer());
}

const REPORTED = BigInt(INPUT_TOKENS) * TEXT_NANOS + BigInt(BYTES.length) * SOUND_NANOS;

describe("OpenAI's client reads the bytes of the sound", () => {
  test("from an upstream that reports its usage by events", async () => {
    let sound: Buffer = Buffer.alloc(0);
    const cost = await charged(async () => (sound = await soundOf({ response_format: "wav" })));
    expect(sound).toEqual(BYTES);
    expect(fake.bodies).toEqual([
      { model: "gpt-4o-mini-tts", voice: "alloy", input: INPUT, response_format: "wav", stream_format: "sse" },
    ]);
    expect(cost).toBe(REPORTED);
  });

  test("under the content type of the format", async () => {
    const types = { mp3: "audio/mpeg", opus: "audio/ogg", pcm: "audio/pcm" } as const;
    for (const [format, type] of Object.entries(types)) {
      const response = await speak({ response_format: format as keyof typeof types });
      expect(response.headers.get("content-type")).toBe(type);
      await response.arrayBuffer();
    }
  });

  test("from one that sends bytes alone, by the characters of the text", async () => {
    let sound: Buffer = Buffer.alloc(0);
    const cost = await charged(async () => (sound = await soundOf({ model: "tts-1" })));
    expect(sound).toEqual(BYTES);
    expect(fake.bodies).toEqual([{ model: "tts-1", voice: "alloy", input: INPUT }]);
    expect(cost).toBe(CHARACTERS * CHARACTER_NANOS);
  });

  test("under another name than the upstream's, by an estimate where no tokens are reported", async () => {
    let sound: Buffer = Buffer.alloc(0);
    const cost = await charged(async () => (sound = await soundOf({ model: "renamed" })));
    expect(sound).toEqual(BYTES);
    expect(fake.bodies[0]?.["model"]).toBe("kokoro");
    const soundTokens = 23n;
    expect(cost).toBeGreaterThan(soundTokens * SOUND_NANOS);
    expect(cost).toBeLessThan(soundTokens * SOUND_NANOS + 20n * TEXT_NANOS);
  });
});

describe("events", () => {
  async function eventsOf(asked: Asked): Promise<Json[]> {
    const response = await speak({ ...asked, stream_format: "sse" });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
    return lines.map((line) => JSON.parse(line.slice("data: ".length)) as Json);
  }

  function soundIn(events: readonly Json[]): Buffer {
    return Buffer.concat(events.map(({ audio = "" }) => Buffer.from(String(audio), "base64")));
  }

  test("pass as they came, at the same charge as bytes", async () => {
    let events: Json[] = [];
    const cost = await charged(async () => (events = await eventsOf({})));
    expect(soundIn(events)).toEqual(BYTES);
    expect(events.at(-1)).toMatchObject({ type: "speech.audio.done", usage: { output_tokens: BYTES.length } });
    expect(cost).toBe(REPORTED);
  });

  test("are written for an upstream that sends bytes, without a usage that it did not report", async () => {
    let events: Json[] = [];
    const cost = await charged(async () => (events = await eventsOf({ model: "tts-1" })));
    expect(soundIn(events)).toEqual(BYTES);
    expect(events.at(-1)).toEqual({ type: "speech.audio.done" });
    expect(cost).toBe(CHARACTERS * CHARACTER_NANOS);
  });

  test("are recognised where bytes were expected, and bytes where events were", async () => {
    fake.override = { reversed: true };
    expect(await soundOf()).toEqual(BYTES);
    expect(await soundOf({ model: "tts-1" })).toEqual(BYTES);
  });
});

describe("an answer that does not end well", () => {
  test("cuts the sound, and is charged", async () => {
    fake.override = { lastEvent: { error: { message: "broken" } } };
    const cost = await charged(() => expect(soundOf()).rejects.toThrow());
    expect(cost).toBeGreaterThan(0n);
    await management.verify();
  });

  test("is an upstream error with a status where no sound came", async () => {
    fake.override = { status: 503 };
    expect(await charged(() => expect(speak()).rejects.toBeInstanceOf(OpenAI.InternalServerError))).toBe(0n);
  });

  test("of a client that leaves halfway ends the upstream's, and is charged by the text", async () => {
    fake.override = { halts: true };
    const cost = await charged(async () => {
      const response = await speak({ model: "tts-1" });
      const reader = response.body?.getReader() as ReadableStreamDefaultReader;
      await reader.read();
      await reader.cancel();
      await expect.poll(() => fake.left, { timeout: 60_000 }).toBe(1);
    });
    expect(cost).toBe(CHARACTERS * CHARACTER_NANOS);
    await management.verify();
  });
});

test.each([
  { name: "no text", asked: { input: "" }, param: "input" },
  { name: "an unknown format", asked: { response_format: "midi" }, param: "response_format" },
  { name: "a speed out of range", asked: { speed: 9 }, param: "speed" },
  { name: "too long a text", asked: { input: "a".repeat(100_001) }, param: "input" },
  { name: "a model for chats", asked: { model: "chat-1" }, param: "model" },
  { name: "a model without a price for what its upstream bills", asked: { model: "unpriced" }, param: "model" },
])("$name is refused with its place, and the upstream is not asked", async ({ asked, param }) => {
  await expect(speak(asked as Asked)).rejects.toMatchObject({ status: 400, param });
  expect(fake.bodies).toEqual([]);
});

test("a key without the scope audio is refused", async () => {
  const { secret: other } = await management.makeKey("acme", { scopes: ["chat"] });
  const without = new OpenAI({ baseURL: `${core.url}/v1`, apiKey: other, maxRetries: 0 });
  const asked = without.audio.speech.create({ model: "tts-1", voice: "alloy", input: INPUT });
  await expect(asked).rejects.toMatchObject({ status: 403 });
});

test("whatever is reported, the charge is the reported sum within the bound", async () => {
  const soundMax = 4 * Number(CHARACTERS) + 500;
  const count = fc.oneof(fc.integer({ min: 1, max: soundMax }), fc.integer({ min: soundMax + 1, max: 100_000 }));
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 60 }), count, async (input, output) => {
      fake.override = { usage: { input_tokens: input, output_tokens: output, total_tokens: input + output } };
      const cost = await charged(() => soundOf());
      expect(cost).toBe(BigInt(input) * TEXT_NANOS + BigInt(Math.min(output, soundMax)) * SOUND_NANOS);
    }),
    { numRuns: 25 },
  );
  await management.verify();
});

test("a service streams the sound and reads the finish", async () => {
  const service = clientOf("tollgate.v1.InferenceService", core.grpc);
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${secret}`);
  const method: (request: Json, metadata: Metadata) => DynamicStream = Reflect.get(service, "streamSpeech");
  const pieces: Buffer[] = [];
  let finish: unknown;
  const stream = method.call(
    service,
    { model: "gpt-4o-mini-tts", text: INPUT, voice: "alloy", format: "pcm" },
    metadata,
  );
  try {
    for await (const message of stream as unknown as AsyncIterable<Json>) {
      if (message["audio"] instanceof Buffer) pieces.push(message["audio"]);
      finish = message["finish"] ?? finish;
    }
  } finally {
    service.close();
  }
  expect(Buffer.concat(pieces)).toEqual(BYTES);
  expect(finish).toMatchObject({ usage: { audio_output_tokens: String(BYTES.length) }, cost_nanos: String(REPORTED) });
});

test("the stand-in speaks a wav without a network", async () => {
  const sound = await soundOf({ model: "sim-speech-1", response_format: "wav" });
  expect(sound.toString("latin1", 0, 4)).toBe("RIFF");
  expect(sound.readUInt32LE(40)).toBe(sound.length - 44);
  const mp3 = speak({ model: "sim-speech-1" });
  await expect(mp3).rejects.toMatchObject({ status: 400, message: expect.stringContaining("wav and pcm") });
});
