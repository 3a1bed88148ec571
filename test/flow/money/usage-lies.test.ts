/** Whatever an upstream says of its usage, its client is charged once, for what is true, within its hold. */
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postChat, readAll } from "../../support/chat-call.js";
import { type FakeAnthropic, startFakeAnthropic, steer as steerAnthropic } from "../../support/fake-anthropic.js";
import { type FakeGemini, startFakeGemini, steer as steerGemini } from "../../support/fake-gemini.js";
import { type FakeUpstream, script as steerOpenAi, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";
import { bySweep } from "../../support/sweep.js";
import { PRICE, says } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;

const TEXT = "The quick brown fox jumps over the lazy dog, and nobody counted its steps.";
const TEXT_TOKENS = encode(TEXT).length;
const ANSWER_TOKENS_MAX = 50;

/** The counts that an upstream tells, and when. */
interface Lie {
  readonly name: string;
  readonly input?: unknown;
  readonly output?: unknown;
  /** Default: where the wire has it. */
  readonly when?: "never" | "late" | "every";
  /** What the request is charged by: the report itself, a count, or a count of what was generated alone. */
  readonly source: "reported" | "counted" | "counted output" | "limit" | "input bound";
  readonly doubt?: string;
  readonly streamOnly?: boolean;
}

const ENDLESS = 1e300;
const LIES: readonly Lie[] = [
  { name: "the truth", input: 10, output: 17, source: "reported" },
  { name: "the truth on every chunk", input: 10, output: 17, when: "every", source: "reported", streamOnly: true },
  { name: "nothing", when: "never", source: "counted", doubt: "missing" },
  { name: "zero and zero", input: 0, output: 0, source: "counted", doubt: "zero" },
  { name: "zero generated", input: 10, output: 0, source: "counted", doubt: "zero" },
  { name: "zero read", input: 0, output: 17, source: "counted", doubt: "zero" },
  { name: "a third of what it generated", input: 10, output: 5, source: "counted output", doubt: "below_count" },
  { name: "less than nothing read", input: -10, output: 17, source: "counted", doubt: "broken" },
  { name: "less than nothing generated", input: 10, output: -17, source: "counted", doubt: "broken" },
  { name: "a fraction of a token", input: 10, output: 17.5, source: "counted", doubt: "broken" },
  { name: "no numbers", input: "NaN", output: "17", source: "counted", doubt: "broken" },
  { name: "an endless input", input: ENDLESS, output: 17, source: "counted", doubt: "broken" },
  { name: "an endless output", input: 10, output: ENDLESS, source: "counted", doubt: "broken" },
  { name: "more than any model reads", input: 1e11, output: 17, source: "counted", doubt: "absurd" },
  { name: "more than any model writes", input: 10, output: 1e11, source: "counted", doubt: "absurd" },
  { name: "more than was said to it", input: 90_000, output: 40, source: "input bound", doubt: "above_input" },
  { name: "more than was asked for", input: 10, output: 1e6, source: "limit", doubt: "above_limit" },
];

/** How a wire's upstream is made to tell a lie; undefined where the wire has no such. */
interface WireRow {
  readonly wire: string;
  readonly model: string;
  readonly steer: (lie: Lie) => string;
  /** What a usage behind the answer's end is worth on this wire. */
  readonly late: Pick<Lie, "source" | "doubt">;
}

const WIRES: readonly WireRow[] = [
  {
    wire: "openai-chat",
    model: "fake-1",
    steer: ({ input, output, when }) => {
      const usageIs = { prompt_tokens: input, completion_tokens: output, total_tokens: undefined };
      return steerOpenAi({ text: TEXT, usage: when === "never" ? "none" : (when ?? "final"), usageIs });
    },
    late: { source: "counted", doubt: "missing" },
  },
  {
    wire: "anthropic",
    model: "claude-opus-5",
    steer: ({ input, output, when }) => {
      const at = { never: "never", late: "late", every: "twice" } as const;
      const usageAt = when === undefined ? {} : { usageAt: at[when] };
      const usage = { input_tokens: input, output_tokens: output };
      return steerAnthropic({ blocks: [{ type: "text", text: TEXT }], usage, ...usageAt });
    },
    // What was read is told at the beginning.
    late: { source: "counted output", doubt: "missing" },
  },
  {
    wire: "gemini",
    model: "gemini-3-flash",
    steer: ({ input, output, when }) => {
      const usage = { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: undefined };
      const parts = [{ text: TEXT.slice(0, 20) }, { text: TEXT.slice(20) }];
      return steerGemini({ parts, usage: when === "never" ? null : usage, usageLast: when !== "every" });
    },
    // Its last chunk is the one that ends it, so nothing is late.
    late: { source: "reported" },
  },
];

interface Case extends Lie, Omit<WireRow, "steer" | "late"> {
  readonly stream: boolean;
  readonly content: string;
}

const FORMS = [false, true];
/** In the short form a lie is told in one of the two, in turn. */
const formsOf = (place: number): readonly boolean[] =>
  bySweep({ short: FORMS.slice(place % 2, (place % 2) + 1), long: FORMS, all: FORMS });

function* casesOf({ wire, model, steer, late }: WireRow, turn: number): Generator<Case, void> {
  const behind: Lie = { name: "the truth too late", input: 10, output: 17, when: "late", streamOnly: true, ...late };
  for (const [place, lie] of [...LIES, behind].entries())
    for (const stream of lie.streamOnly ? [true] : formsOf(place + turn))
      yield { ...lie, wire, model, stream, content: steer(lie) };
}
const CASES = WIRES.flatMap((row, turn) => [...casesOf(row, turn)]);

let openai: FakeUpstream;
let anthropic: FakeAnthropic;
let gemini: FakeGemini;
let gateway: GatewayProcess;
let management: Management;

beforeAll(async () => {
  [openai, anthropic, gemini] = await Promise.all([startFakeUpstream(), startFakeAnthropic(), startFakeGemini()]);
  const model = (upstream: string): string =>
    `{ targets: [{ upstream: ${upstream} }], context_tokens: 100000, output_tokens_max: 1000, price: { input: "0.01", output: "0.1" } }`;
  const settings = [
    "upstreams:",
    `  openai-chat: { family: openai-compatible, base_url: "${openai.url}" }`,
    `  anthropic: { family: anthropic, base_url: "${anthropic.url}", api_key: "sk-ant-secret-of-this-test-012345" }`,
    `  gemini: { family: gemini, base_url: "${gemini.url}", api_key: "AIza-secret-of-this-test-0123456789" }`,
    "models:",
    ...WIRES.map(({ wire, model: id }) => `  ${id}: ${model(wire)}`),
    "",
  ].join("\n");
  gateway = await startGateway({ settings });
  management = new Management(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([openai.close(), anthropic.close(), gemini.close()]);
});

describe.each(CASES)("an upstream of $wire that tells $name, streamed: $stream", (lie) => {
  test("is believed where it can be, else counted, and named", async () => {
    const id = `case-${CASES.indexOf(lie)}`;
    const creditNanos = 10_000_000n;
    await management.account(id, creditNanos);
    const { secret } = await management.makeKey(id);
    const body = { model: lie.model, messages: says(lie.content), max_tokens: ANSWER_TOKENS_MAX, stream: lie.stream };
    const response = await postChat(gateway, secret, body);
    const answer = await readAll(response);
    expect(response.status, answer).toBe(200);
    expect(answer).toContain(lie.stream ? "data: [DONE]" : TEXT);

    const { body: shown } = await management.call("GET", `/requests/${String(response.headers.get("x-request-id"))}`);
    const record = shown["request"] as Json;
    // What is held for the input is its bound, and the limit of output.
    const heldForInput = BigInt(String(record["hold_nanos"])) - BigInt(ANSWER_TOKENS_MAX) * PRICE.outputNanos;
    const usage = usageOf(lie, Number(heldForInput / PRICE.inputNanos));
    const costNanos = BigInt(usage.input) * PRICE.inputNanos + BigInt(usage.output) * PRICE.outputNanos;
    expect(record).toMatchObject({
      state: "settled",
      usage_source: lie.source === "reported" ? "reported" : "counted",
      usage: { input_tokens: String(usage.input), output_tokens: String(usage.output) },
      cost_nanos: String(costNanos),
    });
    expect(costNanos).toBeLessThanOrEqual(BigInt(String(record["hold_nanos"])));
    const balance = await management.balance(id);
    expect(balance).toEqual({
      grantedNanos: creditNanos,
      spentNanos: costNanos,
      heldNanos: 0n,
      availableNanos: creditNanos - costNanos,
    });
    const { body: listed } = await management.call("GET", `/accounts/${id}/entries`);
    const entries = listed["entries"] as Json[];
    expect(entries.filter(({ kind }) => kind === "settle")).toHaveLength(1);
    expect(entries.filter(({ kind }) => kind === "overage")).toEqual([]);
    await expect.poll(() => doubtLogged(String(record["id"]))).toBe(lie.doubt ?? null);
  });
});

/** What the request must be charged by. */
function usageOf(lie: Case, inputMax: number): { readonly input: number; readonly output: number } {
  if (lie.source === "reported") return { input: Number(lie.input), output: Number(lie.output) };
  if (lie.source === "input bound") return { input: inputMax, output: Number(lie.output) };
  if (lie.source === "limit") return { input: Number(lie.input), output: ANSWER_TOKENS_MAX };
  if (lie.source === "counted output") return { input: Number(lie.input), output: TEXT_TOKENS };
  // Four tokens stand around the one message, and two before the answer.
  return { input: encode(lie.content).length + 4 + 2, output: TEXT_TOKENS };
}

/** The doubt in the request's log line; null where there is none, undefined before the line is there. */
function doubtLogged(requestId: string): unknown {
  const line = gateway.log.find((text) => text.includes(requestId) && text.includes('"generation"'));
  return line === undefined ? undefined : ((JSON.parse(line) as Json)["usage_doubt"] ?? null);
}

test("each doubt is counted by its upstream, and no lie costs the operator anything", async () => {
  const { text } = await readMetrics(gateway);
  for (const { wire } of WIRES) {
    for (const doubt of ["missing", "zero", "broken", "absurd", "below_count", "above_limit", "above_input"]) {
      const count = CASES.filter((lie) => lie.wire === wire && lie.doubt === doubt).length;
      expect(count).toBeGreaterThan(0);
      expect(text).toContain(`tollgate_usage_doubts_total{upstream="${wire}",doubt="${doubt}"} ${count}`);
    }
  }
  expect(Number(/^tollgate_overage_usd_total ([\d.e-]+)$/m.exec(text)?.[1] ?? 0)).toBe(0);
  expect(await management.verify()).toMatchObject({ open_hold_count: "0" });
});
