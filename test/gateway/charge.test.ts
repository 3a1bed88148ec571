/** What an answer is charged by: a plausible report whatever its shape, and free by two rules alone. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import { type Usage, UsageSource } from "../../src/api/index.js";
import { NO_USAGE } from "../../src/api/usage.js";
import { basisOf, type Charge, chargeOf, type ChargeTerms, type Ending } from "../../src/gateway/charge.js";
import { costNanos } from "../../src/pricing/price.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import { wire as openAiEmbeddings } from "../../src/wire/openai-embeddings/index.js";
import type { AnswerReport, EndpointWire, WireRequest } from "../../src/wire/wire.js";
import { frameOf } from "../support/fake-bedrock.js";
import { priceOf } from "../pricing/prices.js";
import { WIRES as GENERATING } from "./wires.js";
import { answersOf, type RandomAnswer, SHAPES } from "./random-answers.js";
import { FREE } from "../pricing/prices.js";
import { bySweep } from "../support/sweep.js";

type WireName = keyof typeof SHAPES;

const WIRES: Readonly<Record<WireName, EndpointWire>> = { ...GENERATING, "openai-embeddings": openAiEmbeddings };
const NAMES = Object.keys(SHAPES) as WireName[];
const PRICE = priceOf({ input: 3_000_000n, output: 15_000_000n });

const asked = openAiChat.readRequest({
  wire: "openai-chat",
  body: Buffer.from('{"model":"m","messages":[{"role":"user","content":"hi"}]}'),
  headers: {},
});
const askedVectors = (count: number): WireRequest =>
  openAiEmbeddings.readRequest({
    wire: "openai-embeddings",
    body: Buffer.from(JSON.stringify({ model: "m", input: Array.from({ length: count }, () => "hi") })),
    headers: {},
  });

function terms(request: WireRequest): ChargeTerms {
  return {
    request,
    modelId: "gpt-4o",
    contextTokens: 1_000_000,
    price: FREE,
    accountId: "acme",
    inputTokensMax: 1_000_000,
  };
}

type Form = "whole" | "events" | "source";

/** What a wire's reader knows of an answer that came in this form; undefined where the wire has no such form. */
function reportOf(name: WireName, answer: RandomAnswer, form: Form): AnswerReport | undefined {
  const wire = WIRES[name];
  if (form === "whole") return wire.decodeAnswer(answer.whole).report;
  const decoder = wire.decodeStream?.(asked.facts, form, asked);
  if (answer.stream === undefined || decoder === undefined) return undefined;
  for (const chunk of [answer.stream.subarray(0, 100), answer.stream.subarray(100)])
    expect(decoder.push(chunk).error).toBeUndefined();
  decoder.end();
  return decoder.report;
}

function costOf(charge: Charge): bigint {
  return charge.usageSource === UsageSource.USAGE_SOURCE_NONE ? 0n : costNanos(charge.usage, PRICE);
}

/** All are as many as of the sweep of requests. */
const RUNS = bySweep({ short: 200, long: 600, all: 10_000 });

describe.each(NAMES)("10,000 random answers of every wire: %s", (name) => {
  test.each(["whole", "events", "source"] as const)("a plausible report is charged, read as %s", async (form) => {
    let read = 0;
    await fc.assert(
      fc.asyncProperty(answersOf(SHAPES[name]), async (answer) => {
        const report = reportOf(name, answer, form);
        if (report === undefined) return;
        read += 1;
        const request = name === "openai-embeddings" ? askedVectors(1) : asked;
        const charge = await chargeOf(report, "finished", terms(request));
        const { input, output } = answer.counts;
        const isFree = output === 0 && !answer.delivers;
        const usage = { ...NO_USAGE, inputTokens: BigInt(input), outputTokens: BigInt(output) };
        expect(costOf(charge)).toBe(isFree ? 0n : costNanos(usage, PRICE));
        expect(charge.usageSource).toBe(isFree ? UsageSource.USAGE_SOURCE_NONE : UsageSource.USAGE_SOURCE_REPORTED);
        expect(charge.doubt).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
    expect(read).toBe(name === "openai-embeddings" && form !== "whole" ? 0 : RUNS);
  });

  test("one that failed is free unless something was delivered", async () => {
    await fc.assert(
      fc.asyncProperty(answersOf(SHAPES[name]), async (answer) => {
        const report = reportOf(name, answer, "whole");
        const charge = await chargeOf(report, "failed", terms(asked));
        expect(charge.usageSource === UsageSource.USAGE_SOURCE_NONE).toBe(!answer.delivers);
      }),
      { numRuns: 100 },
    );
  });
});

/** Where a stream is left, by the first event of generation: what of it was seen by then is nothing. */
const BEGINNINGS: readonly { readonly wire: WireName; readonly before: readonly object[]; readonly first: object }[] = [
  { wire: "bedrock-converse", before: [], first: { messageStart: { role: "assistant" } } },
  {
    wire: "openai-chat",
    before: [{ id: "x", choices: [], prompt_filter_results: [] }],
    first: { id: "x", choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] },
  },
  {
    wire: "openai-completions",
    before: [],
    first: { id: "x", choices: [{ index: 0, text: "", finish_reason: null }] },
  },
  {
    wire: "openai-responses",
    before: [
      { type: "response.created", response: { id: "x", output: [] } },
      { type: "response.in_progress", response: { id: "x", output: [] } },
    ],
    first: { type: "response.output_item.added", output_index: 0, item: { type: "reasoning", summary: [] } },
  },
  {
    wire: "anthropic",
    before: [{ type: "ping" }],
    first: { type: "message_start", message: { id: "m", usage: { input_tokens: 9, output_tokens: 0 } } },
  },
  {
    wire: "gemini",
    before: [],
    first: { candidates: [{ index: 0, content: { parts: [{ text: "", thoughtSignature: "c2ln" }] } }] },
  },
];

function sentAs(wire: WireName, event: object): Buffer {
  if (wire !== "bedrock-converse") return Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
  return Buffer.concat(Object.entries(event).map(([type, body]) => frameOf(type, body)));
}

describe.each(BEGINNINGS)("a caller that leaves a stream of $wire while nothing is to be seen", (row) => {
  const read = async (events: readonly object[], ending: Ending): Promise<Charge> => {
    const decoder = WIRES[row.wire].decodeStream?.(asked.facts, "source", asked);
    decoder?.push(Buffer.concat(events.map((event) => sentAs(row.wire, event))));
    return chargeOf(decoder?.report, ending, terms(asked));
  };

  test("pays its input once generation began, and nothing before", async () => {
    expect((await read(row.before, "left")).usageSource).toBe(UsageSource.USAGE_SOURCE_NONE);
    const { usage, usageSource } = await read([...row.before, row.first], "left");
    expect(usageSource).not.toBe(UsageSource.USAGE_SOURCE_NONE);
    expect(usage.inputTokens).toBeGreaterThan(0n);
    expect(usage.outputTokens).toBe(0n);
  });

  test("pays nothing where the upstream failed", async () => {
    expect((await read([...row.before, row.first], "failed")).usageSource).toBe(UsageSource.USAGE_SOURCE_NONE);
  });
});

describe("the table", () => {
  test.each([
    { report: "none", made: "nothing", ending: "finished", want: "free" },
    { report: "none", made: "content", ending: "finished", want: "count" },
    { report: "zero", made: "begun", ending: "finished", want: "free" },
    { report: "zero", made: "content", ending: "finished", want: "report" },
    { report: "final", made: "nothing", ending: "finished", want: "report" },
    { report: "doubtful", made: "content", ending: "finished", want: "count" },
    { report: "none", made: "nothing", ending: "left", want: "free" },
    { report: "none", made: "begun", ending: "left", want: "count" },
    { report: "early", made: "begun", ending: "left", want: "compare" },
    { report: "final", made: "begun", ending: "failed", want: "free" },
    { report: "early", made: "content", ending: "failed", want: "compare" },
  ] as const)("$report, $made, $ending: $want", ({ report, made, ending, want }) => {
    expect(basisOf(report, made, ending)).toBe(want);
  });

  test("frees a finished answer only where no output was reported and nothing delivered", () => {
    for (const report of ["none", "doubtful", "zero", "early", "final"] as const)
      for (const made of ["nothing", "begun", "content"] as const) {
        const isFree = basisOf(report, made, "finished") === "free";
        expect(isFree, `${report} ${made}`).toBe(!["early", "final"].includes(report) && made !== "content");
      }
  });
});

test("a request for no output has what it asked for: warming a cache is charged", async () => {
  const warming: WireRequest = { ...asked, facts: { ...asked.facts, outputTokensMax: 0 } };
  const usage: Usage = { ...NO_USAGE, cacheWriteTokens: 500n };
  const report: AnswerReport = { usage, made: "begun", complete: true, text: "" };
  expect(await chargeOf(report, "finished", terms(warming))).toMatchObject({ usage });
  expect(await chargeOf(report, "finished", terms(asked))).toMatchObject({ usage: NO_USAGE });
});
