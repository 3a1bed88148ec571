/** A client that leaves at any event, in any format, is charged once: what was reported, or counted. */
import { readdirSync, readFileSync } from "node:fs";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";
import {
  PROMPT_TOKENS,
  startSteppedUpstream,
  type SteppedUpstream,
  stepsOf,
  stopAfter,
  TEXT_TOKENS,
  type WireName,
} from "../../support/stepped-upstream.js";
import { readSoFar } from "../../support/read-so-far.js";
import { bySweep } from "../../support/sweep.js";
import { PRICE } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;

/** A client format: how a call looks. */
interface FormatRow {
  /** Its file in src/formats. */
  readonly file: string;
  readonly path: (model: string, stream: boolean) => string;
  readonly body: (model: string, content: string, stream: boolean) => object;
  readonly headers?: Readonly<Record<string, string>>;
  /** True where its answers are never streams. */
  readonly isWhole?: true;
}

const messages = (content: string): object[] => [{ role: "user", content }];
const FORMATS: readonly FormatRow[] = [
  {
    file: "openai",
    path: () => "/v1/chat/completions",
    body: (model, content, stream) => ({ model, messages: messages(content), stream }),
  },
  {
    file: "openai-responses",
    path: () => "/v1/responses",
    body: (model, content, stream) => ({ model, input: content, stream }),
  },
  {
    file: "openai-compaction",
    path: () => "/v1/responses/compact",
    body: (model, content) => ({ model, input: content }),
    isWhole: true,
  },
  {
    file: "openai-completions",
    path: () => "/v1/completions",
    body: (model, content, stream) => ({ model, prompt: content, stream }),
  },
  {
    file: "anthropic",
    path: () => "/v1/messages",
    body: (model, content, stream) => ({ model, messages: messages(content), stream, max_tokens: 100 }),
    headers: { "anthropic-version": "2023-06-01" },
  },
  {
    file: "gemini",
    path: (model, stream) => `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: (_model, content) => ({ contents: [{ role: "user", parts: [{ text: content }] }] }),
  },
];

/** What an upstream bills when its answer is aborted. */
interface UpstreamRow {
  readonly wire: WireName;
  readonly family: string;
  readonly path: string;
  /** Streams that are aborted are billed to their end, and so are whole answers: they are read on. */
  readonly streamsBillOn: boolean;
  readonly wholeBillsOn: boolean;
}

const UPSTREAMS: readonly UpstreamRow[] = [
  { wire: "openai-chat", family: "openai-compatible", path: "/v1", streamsBillOn: false, wholeBillsOn: false },
  { wire: "anthropic", family: "anthropic", path: "", streamsBillOn: false, wholeBillsOn: true },
  { wire: "gemini", family: "gemini", path: "", streamsBillOn: true, wholeBillsOn: true },
];

const SOON = { timeout: 60_000, interval: 30 };
/** Of what is read from all metrics. */
const RARELY = { timeout: 60_000, interval: 100 };

/** The files of formats that generate, as they are in the tree. */
const FOUND = readdirSync("src/formats")
  .filter((file) => /: Format = \{/.test(readFileSync(`src/formats/${file}`, "utf8")))
  .map((file) => file.replace(/\.ts$/, ""));
const SERVED = FORMATS.filter(({ file }) => FOUND.includes(file));
const PAIRS = SERVED.flatMap((format) => UPSTREAMS.map((upstream) => ({ format, upstream })));
const EVENTS_MAX = Math.max(...UPSTREAMS.map(({ wire }) => stepsOf(wire).length));
/** Behind none, at the first ones, in the middle, and at the last. */
const SOME_PLACES = [0, 1, 2, Math.floor(EVENTS_MAX / 2), EVENTS_MAX - 1, EVENTS_MAX];
const ALL_PLACES = Array.from({ length: EVENTS_MAX + 1 }, (_, events) => events);
const PLACES = bySweep({ short: SOME_PLACES, long: ALL_PLACES, all: ALL_PLACES });
const CUTS = SERVED.filter(({ isWhole }) => isWhole !== true).flatMap((format) =>
  PLACES.map((events) => ({ name: format.file, format, events })),
);

let stepped: SteppedUpstream;
let gateway: GatewayProcess;
let management: Management;

beforeAll(async () => {
  stepped = await startSteppedUpstream();
  const key = `api_key: "sk-secret-of-this-test-0123456789"`;
  const model = (upstream: string): string =>
    `{ targets: [{ upstream: ${upstream} }], context_tokens: 100000, output_tokens_max: 1000, price: { input: "0.01", output: "0.1" } }`;
  const settings = [
    "upstreams:",
    ...UPSTREAMS.map(
      ({ wire, family, path }) => `  ${wire}: { family: ${family}, base_url: "${stepped.url}${path}", ${key} }`,
    ),
    "models:",
    ...UPSTREAMS.map(({ wire }) => `  step-${wire}: ${model(wire)}`),
    "",
  ].join("\n");
  gateway = await startGateway({ settings });
  gateway.expectOddAnswers();
  management = new Management(gateway);
});
afterAll(async () => {
  await stepped.close();
  await gateway.stop();
});

test("every client format that is found is cut", () => {
  expect(FOUND.length).toBeGreaterThan(2);
  expect(SERVED.map(({ file }) => file).sort()).toEqual([...FOUND].sort());
});

/** Calls under a name and leaves at a moment; resolves once the gateway knows that. */
async function callAndLeave(
  name: string,
  { format, upstream }: { format: FormatRow; upstream: UpstreamRow },
  stream: boolean,
  events: number,
): Promise<void> {
  await management.account(name, 10_000_000n);
  const { secret } = await management.makeKey(name);
  const model = `step-${upstream.wire}`;
  const leaving = new AbortController();
  const content = stopAfter(name, events);
  const answered = fetch(gateway.url + format.path(model, stream), {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", ...format.headers },
    body: JSON.stringify(format.body(model, content, stream)),
    signal: leaving.signal,
  }).catch(() => undefined);
  // One that the gateway refuses never comes there: what it was told is what is wrong.
  let refusal = "";
  void answered.then(async (answer) => {
    if (answer !== undefined && !answer.ok) refusal = await answer.text();
  });
  await expect.poll(() => stepped.stops.get(name)?.stopped ?? refusal, SOON).toBe(true);
  const pieces = stream ? piecesOf(upstream.wire, events) : [];
  if (pieces.length > 0) await readUntil(await answered, pieces.at(-1) ?? "");
  // What has no text may be held back from the client.
  else if (events > 0) await Promise.race([answered, readSoFar(gateway, secret)]);
  leaving.abort();
  await answered;
}

/** The pieces of text among the first events. */
function piecesOf(wire: WireName, events: number): string[] {
  const steps = stepsOf(wire).slice(0, events);
  return steps.map(({ piece }) => piece).filter((piece) => piece !== "");
}

async function readUntil(response: Response | undefined, piece: string): Promise<void> {
  const reader = response?.body?.getReader();
  const decoder = new TextDecoder();
  for (let text = ""; !text.includes(piece);) {
    const read = await reader?.read();
    expect(read?.done, text).toBe(false);
    text += decoder.decode(read?.value, { stream: true });
  }
}

/** The account's one request once it is over, with the proof that it was charged once. */
async function endedRequest(name: string): Promise<Json> {
  const list = async (): Promise<Json[]> =>
    (await management.call("GET", `/requests?account_id=${name}`)).body["requests"] as Json[];
  await expect.poll(async () => (await list())[0]?.["state"], SOON).toMatch(/settled|voided/);
  const requests = await list();
  expect(requests).toHaveLength(1);
  const record = requests[0] ?? {};
  const { body } = await management.call("GET", `/accounts/${name}/entries`);
  const kinds = (body["entries"] as Json[]).map(({ kind }) => String(kind)).sort();
  expect(kinds).toEqual(["credit", "hold", record["state"] === "settled" ? "settle" : "void"].sort());
  const balance = await management.balance(name);
  expect(balance.heldNanos).toBe(0n);
  expect(balance.spentNanos).toBe(BigInt(String(record["cost_nanos"])));
  return record;
}

const REPORTED = {
  state: "settled",
  usage_source: "reported",
  usage: { input_tokens: String(PROMPT_TOKENS), output_tokens: String(TEXT_TOKENS) },
  cost_nanos: String(BigInt(PROMPT_TOKENS) * PRICE.inputNanos + BigInt(TEXT_TOKENS) * PRICE.outputNanos),
};
const FREE = { state: "voided", usage_source: "none", cost_nanos: "0" };

/** Each upstream at the same time: what is told of one tells nothing of another. */
describe.each(CUTS)("$name, left after $events events", ({ format, events }) => {
  test("is charged once, to the token, whatever the upstream", async () => {
    const reached = UPSTREAMS.filter(
      (upstream) => events <= stepsOf(upstream.wire).length - (staysOpen(upstream) ? 1 : 0),
    );
    await Promise.all(reached.map((upstream) => expectChargedOnce(format, upstream, events)));
  });
});

/** Machines of one's own stop at once; elsewhere what was sent is billed, whoever hangs up. */
function billsInput({ family }: UpstreamRow): boolean {
  return family !== "openai-compatible";
}

/** True where the last word is said on a connection that stays open, which is left only after a while. */
function staysOpen({ streamsBillOn }: UpstreamRow): boolean {
  return !streamsBillOn;
}

test("a stream that has said its last word is charged once, though its connection stays open", async () => {
  const open = PAIRS.filter(({ format, upstream }) => format.isWhole !== true && staysOpen(upstream));
  expect(open.length).toBeGreaterThan(SERVED.length);
  await Promise.all(
    open.map(({ format, upstream }) => expectChargedOnce(format, upstream, stepsOf(upstream.wire).length)),
  );
});

async function expectChargedOnce(format: FormatRow, upstream: UpstreamRow, events: number): Promise<void> {
  const name = `case-${format.file}-${upstream.wire}-${events}`;
  const drained = await drains(upstream.wire);
  await callAndLeave(name, { format, upstream }, true, events);
  const stop = stepped.stops.get(name);
  if (upstream.streamsBillOn) {
    await expect.poll(() => drains(upstream.wire), RARELY).toBe(drained + 1);
    expect(stop?.left).toBe(false);
    stop?.release();
    expect(await endedRequest(name), name).toMatchObject(REPORTED);
    return;
  }
  // It is aborted at once: nobody released it.
  await expect.poll(() => stop?.left, SOON).toBe(true);
  const record = await endedRequest(name);
  expect(await drains(upstream.wire)).toBe(drained);
  const text = piecesOf(upstream.wire, events).join("");
  // From the first event on the upstream generates, so the input is charged although no text came.
  if (events === 0 && !billsInput(upstream)) expect(record, name).toMatchObject(FREE);
  else if (record["usage_source"] === "reported") expectReported(record, text);
  else expectCounted(record, text);
}

/** A report that came before the client left is the whole answer's, or as near as a first one can be. */
function expectReported(record: Json, text: string): void {
  const usage = record["usage"] as Record<string, string>;
  expect(usage["input_tokens"]).toBe(String(PROMPT_TOKENS));
  expect(Math.abs(Number(usage["output_tokens"]) - encode(text).length)).toBeLessThanOrEqual(1);
}

function expectCounted(record: Json, text: string): void {
  const usage = record["usage"] as Record<string, string>;
  expect(record).toMatchObject({ state: "settled", usage_source: "counted" });
  expect(Math.abs(Number(usage["output_tokens"]) - encode(text).length)).toBeLessThanOrEqual(1);
  const input = BigInt(usage["input_tokens"] ?? 0) * PRICE.inputNanos;
  expect(record["cost_nanos"]).toBe(String(input + BigInt(usage["output_tokens"] ?? 0) * PRICE.outputNanos));
}

describe.each(PAIRS)("a whole answer of $upstream.family, left by a client of $format.file", (pair) => {
  test("is read on where it is billed, and else costs nothing", async () => {
    const { format, upstream } = pair;
    const name = `case-whole-${format.file}-${upstream.wire}`;
    const drained = await drains(upstream.wire);
    await callAndLeave(name, pair, false, 0);
    const stop = stepped.stops.get(name);
    if (!upstream.wholeBillsOn) {
      await expect.poll(() => stop?.left, SOON).toBe(true);
      return expect(await endedRequest(name)).toMatchObject(FREE);
    }
    await expect.poll(() => drains(upstream.wire), RARELY).toBe(drained + 1);
    stop?.release();
    return expect(await endedRequest(name)).toMatchObject(REPORTED);
  });
});

/** How many of the account's requests are over. */
async function endedCount(name: string): Promise<number> {
  const { body } = await management.call("GET", `/requests?account_id=${name}`);
  return (body["requests"] as Json[]).filter(({ state }) => /settled|voided|uncharged/.test(String(state))).length;
}

/** A thousand tokens, in 5 KB. */
const WORDS = " word".repeat(1_000);

// What is read on tells its usage in the end.
describe.each(UPSTREAMS.filter(({ streamsBillOn }) => !streamsBillOn))(
  "prompts whose client hangs up before $family answers",
  (upstream) => {
    test("count in the limit of tokens, and are charged as input where it bills them", async () => {
      const [format] = SERVED;
      if (format === undefined) throw new Error("no format is served");
      const name = `case-hung-up-${upstream.wire}`;
      await management.account(name, 10_000_000n);
      const { secret } = await management.makeKey(name, { tokens_per_minute: "10000" });
      /** Resolves with what it was told in place of an answer; empty where it hung up. */
      const hangUp = async (place: number): Promise<string> => {
        const [leaving, stop] = [new AbortController(), `${name}-${place}`];
        const asked = fetch(gateway.url + format.path(`step-${upstream.wire}`, true), {
          method: "POST",
          headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", ...format.headers },
          body: JSON.stringify(format.body(`step-${upstream.wire}`, `${stopAfter(stop, 0)}${WORDS}`, true)),
          signal: leaving.signal,
        }).catch(() => undefined);
        let refusal = "";
        void asked.then(async (answer) => (refusal = answer?.ok === false ? await answer.text() : ""));
        await expect.poll(() => stepped.stops.get(stop)?.stopped ?? refusal, SOON).toBeTruthy();
        leaving.abort();
        await asked;
        // The upstream goes on only once it was left.
        if (refusal === "") await expect.poll(() => stepped.stops.get(stop)?.left, SOON).toBe(true);
        // A hold may be written behind its request, so what tells that this one is over is its own state.
        await expect.poll(() => endedCount(name), SOON).toBe(place);
        return refusal;
      };
      let hungUp = 0;
      let refusal = "";
      while (refusal === "" && hungUp < 12) refusal = await hangUp((hungUp += 1));
      const { spentNanos } = await management.balance(name);
      const unbilled = await metric(`tollgate_unbilled_tokens_total{upstream="${upstream.wire}"}`);
      expect(refusal, `${hungUp} prompts, ${unbilled} tokens, ${spentNanos} nano-USD`).toContain("tokens_per_minute");
      // By count, which tokenizers differ in.
      const sentAtLeast = (hungUp - 1) * 500;
      expect(spentNanos > BigInt(sentAtLeast) * PRICE.inputNanos).toBe(billsInput(upstream));
      expect(unbilled > sentAtLeast).toBe(!billsInput(upstream));
    });
  },
);

test(
  "at most 64 are read on at once; the others are cut, and charged for what came",
  { timeout: 300_000 },
  async () => {
    const pair = PAIRS.find(({ upstream }) => upstream.streamsBillOn);
    if (pair === undefined) throw new Error("no upstream bills on");
    const names = Array.from({ length: 67 }, (_, place) => `case-many-${place}`);
    const refused = await drains(pair.upstream.wire, "refused");
    await Promise.all(names.map((name) => callAndLeave(name, pair, true, 2)));
    await expect.poll(() => drains(pair.upstream.wire, "refused"), SOON).toBe(refused + 3);
    expect(await metric("tollgate_read_on_running")).toBe(64);
    for (const name of names) stepped.stops.get(name)?.release();
    const records = await Promise.all(names.map(endedRequest));
    const counts = new Map<string, number>();
    for (const { usage_source: source } of records) counts.set(String(source), (counts.get(String(source)) ?? 0) + 1);
    // Each chunk of this wire reports what was generated until then, so a cut is charged by a report as well.
    expect(counts.get("reported")).toBe(67);
    const whole = records.filter(({ cost_nanos: cost }) => cost === REPORTED.cost_nanos);
    expect(whole).toHaveLength(64);
    const cut = encode(piecesOf(pair.upstream.wire, 2).join("")).length;
    const others = records
      .filter((record) => !whole.includes(record))
      .map(({ usage }) => (usage as Json)["output_tokens"]);
    expect(others).toEqual([String(cut), String(cut), String(cut)]);
    expect(await metric("tollgate_read_on_running")).toBe(0);
    expect(await management.verify()).toMatchObject({ open_hold_count: "0" });
  },
);

function drains(upstream: string, result = "begun"): Promise<number> {
  return metric(`tollgate_read_on_total{upstream="${upstream}",result="${result}"}`);
}

/** A metric's value; 0 before it was ever counted. */
async function metric(name: string): Promise<number> {
  return (await readMetrics(gateway)).value(name) ?? 0;
}
