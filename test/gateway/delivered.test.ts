/** Whatever an upstream streams costs what it brings: by its report where that can be true, else by what came. */
import { describe, expect, test } from "vitest";
import { type Price, type Usage, UsageSource } from "../../src/api/index.js";
import { billOf } from "../../src/gateway/bill.js";
import { type Charge, chargeOf, type ChargeTerms, type Ending } from "../../src/gateway/charge.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import { wire as openAiCompletions } from "../../src/wire/openai-completions/index.js";
import { wire as openAiResponses } from "../../src/wire/openai-responses/index.js";
import type { AnswerForm, AnswerReport, WireRequest } from "../../src/wire/wire.js";
import { TOOLS as ANTHROPIC_TOOLS } from "../../src/wire/anthropic/request/members.js";
import { TOOLS as GEMINI_TOOLS } from "../../src/wire/gemini/request/members.js";
import { TOOLS as CHAT_TOOLS } from "../../src/wire/openai-chat/request/members.js";
import { TOOLS as RESPONSES_TOOLS } from "../../src/wire/openai-responses/request/members.js";
import { BLOCK_KINDS } from "../../src/wire/anthropic/events/kinds.js";
import {
  beginsAsContent,
  EVENT_KINDS as RESPONSE_KINDS,
  ITEM_KINDS,
} from "../../src/wire/openai-responses/events/kinds.js";
import type { ToolRule } from "../../src/wire/request/hosted-tools.js";
import type { MemberRule } from "../../src/wire/request/members.js";
import { FREE } from "../pricing/prices.js";
import { pick, type Random, randomOf } from "../support/random.js";
import { bySweep } from "../support/sweep.js";
import { type Bringing, STREAMS, type StreamShape } from "./stream-events.js";
import { WIRES } from "./wires.js";
import { TOOL_SHAPES, type ToolShape } from "./tool-events.js";

type WireName = keyof typeof WIRES;

const NAMES = Object.keys(STREAMS) as WireName[];
const FORMS: readonly AnswerForm[] = ["source", "events", "fitted"];

const request = openAiChat.readRequest({
  wire: "openai-chat",
  body: Buffer.from('{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'),
  headers: {},
});
const INPUT_TOKENS_MAX = 1_000;

const CALLS_MAX = 10n;
const CALL_NANOS = 1_000_000n;
/** The same request with a tool that its upstream runs. */
function asking(tool: string | undefined): WireRequest {
  if (tool === undefined) return request;
  const { facts, source } = request;
  const toolCallsMax = [{ name: tool, calls: CALLS_MAX }];
  return { facts: { ...facts, toolCallsMax }, source, prompt: () => request.prompt() };
}

/** How many calls of the tool an answer is charged, and what is said of it. */
function callsCharged(tool: string, report: AnswerReport, usage: Usage): { calls: number; doubt: unknown } {
  const price: Price = { ...FREE, tools: [{ name: tool, callPicos: CALL_NANOS * 1_000n }] };
  const plan = { serviceTier: "", toolCallsMax: [{ name: tool, calls: CALLS_MAX }] };
  const terms = { price, cost: undefined, plan, heldNanos: CALL_NANOS * CALLS_MAX, answered: undefined };
  const { costNanos, doubt } = billOf(usage, report, terms);
  return { calls: Number(costNanos / CALL_NANOS), doubt };
}

function charged(report: AnswerReport, ending: Ending, outputTokensMax?: number): Promise<Charge> {
  const terms: ChargeTerms = {
    request,
    modelId: "gpt-4o",
    contextTokens: 1_000_000,
    price: FREE,
    accountId: "acme",
    inputTokensMax: INPUT_TOKENS_MAX,
    outputTokensMax,
  };
  return Promise.resolve(chargeOf(report, ending, terms));
}

/** Of each event: a sound of so many tokens is as long as a line may be. */
const SIZE = 300;

/** What of a sum of tokens must be charged: words that touch may be a token less, and a sound ends in half of one. */
const nearly = (tokens: number): number => Math.floor(tokens * 0.95) - 2;

const generated = ({ outputTokens, reasoningTokens, audioOutputTokens }: Usage): number =>
  Number(outputTokens + reasoningTokens + audioOutputTokens);

describe.each(NAMES)("a cut stream of %s", (name) => {
  const shape: StreamShape = STREAMS[name];
  const hasLastEvent = name === "openai-responses" || name === "anthropic";
  const cases = shape.brings.flatMap((bringing) => FORMS.map((form) => ({ bringing, form })));

  test.each(cases)("costs what $bringing.name brought, read as $form", async ({ bringing, form }) => {
    const decoder = WIRES[name].decodeStream?.(request.facts, form, request);
    const events = [...shape.head, ...bringing.write(SIZE, 0)];
    for (const event of events) expect(decoder?.push(shape.frame(event)).error).toBeUndefined();
    if (decoder === undefined) throw new Error(name);
    for (const ending of ["left", "failed"] as const) {
      const { usage, usageSource } = await charged(decoder.report, ending, 100_000);
      expect(usageSource).not.toBe(UsageSource.USAGE_SOURCE_NONE);
      expect(Number(usage.inputTokens)).toBeGreaterThan(0);
      const side = bringing.price === "audio" ? usage.audioOutputTokens : usage.outputTokens;
      expect(Number(side)).toBeGreaterThanOrEqual(nearly(bringing.tokens ?? SIZE));
      expect(Number(side)).toBeLessThanOrEqual((bringing.tokens ?? SIZE) * 4);
    }
  });

  test("that brought nothing is free where its upstream failed", async () => {
    const decoder = WIRES[name].decodeStream?.(request.facts, "source", request);
    if (decoder === undefined) throw new Error(name);
    for (const event of [...shape.head, ...shape.quiet]) decoder.push(shape.frame(event));
    expect((await charged(decoder.report, "failed")).usageSource).toBe(UsageSource.USAGE_SOURCE_NONE);
  });

  test("costs its report where one came, whatever else no table knows", async () => {
    for (const bringing of shape.brings.filter(({ isUnknown }) => isUnknown === true)) {
      const decoder = WIRES[name].decodeStream?.(request.facts, "source", request);
      if (decoder === undefined) throw new Error(name);
      const events = [...shape.head, ...bringing.write(SIZE, 0), ...shape.end({ input: 7, output: 5 })];
      for (const event of events) decoder.push(shape.frame(event));
      decoder.push(Buffer.from(shape.mark));
      decoder.end();
      const { usage, doubt } = await charged(decoder.report, "finished");
      expect([Number(usage.inputTokens), generated(usage), doubt], bringing.name).toEqual([7, 5, undefined]);
    }
  });

  test.each([
    { reported: [300, 300], counts: 300 },
    { reported: [300, 900], counts: 300 },
    // Of two wires nothing counts behind their last event.
    { reported: [900, 300, 900], counts: hasLastEvent ? 900 : 300 },
    // Some servers report zeros with the end, and the usage behind it.
    ...(hasLastEvent ? [] : [{ reported: [0, 300], counts: 300 }]),
  ])("that reports $reported tokens behind its end costs $counts", async ({ reported, counts }) => {
    const decoder = WIRES[name].decodeStream?.(request.facts, "source", request);
    if (decoder === undefined) throw new Error(name);
    for (const event of [...shape.head, ...(shape.brings[0]?.write(250, 0) ?? [])]) decoder.push(shape.frame(event));
    for (const output of reported)
      for (const event of shape.end({ input: 7, output })) decoder.push(shape.frame(event));
    decoder.push(Buffer.from(shape.mark));
    decoder.end();
    const { usage } = await charged(decoder.report, "finished");
    expect(generated(usage)).toBe(counts);
  });

  test("costs once what is told twice", async () => {
    for (const bringing of shape.brings.filter(({ name: said }) => said.startsWith("item") || said.endsWith("done"))) {
      const decoder = WIRES[name].decodeStream?.(request.facts, "source", request);
      if (decoder === undefined) throw new Error(name);
      for (const event of [...shape.head, ...bringing.write(SIZE, 0), ...bringing.write(SIZE, 0)])
        decoder.push(shape.frame(event));
      const { usage } = await charged(decoder.report, "left");
      expect(generated(usage), bringing.name).toBeLessThan(SIZE * 1.9);
    }
  });
});

/** The tools that requests of a wire may ask for at a price. */
const PRICED: Readonly<Record<WireName, readonly (ToolRule | MemberRule)[]>> = {
  "openai-chat": [...CHAT_TOOLS.values(), ...openAiChat.members.rules.values()],
  "openai-completions": [...openAiCompletions.members.rules.values()],
  "openai-responses": [...RESPONSES_TOOLS.values(), ...openAiResponses.members.rules.values()],
  anthropic: [...ANTHROPIC_TOOLS.values(), ...anthropic.members.rules.values()],
  gemini: [...GEMINI_TOOLS.values(), ...gemini.members.rules.values()],
  "bedrock-converse": [],
};

test.each(NAMES)("each tool of %s that has a price has a stream that calls it", (name) => {
  const priced = PRICED[name].flatMap((rule) =>
    rule.kind === "priced" ? [rule.name] : rule.kind === "tool" ? [rule.tool] : [],
  );
  const shaped: readonly ToolShape[] = TOOL_SHAPES[name];
  expect(shaped.map(({ tool }) => tool)).toEqual(expect.arrayContaining(priced));
});

type Json = Readonly<Record<string, unknown>>;

/** An event that shows a tool at work before its call is done. */
interface AtWork {
  readonly name: WireName;
  readonly event: Json;
  readonly said: string;
  readonly tool: string | undefined;
}

const atWork = (name: WireName, event: Json, tool?: string): AtWork => {
  return { name, event, said: JSON.stringify(event), tool };
};
const CALL_EVENT = /^response\.(\w+)_call\.(in_progress|searching|interpreting|generating|partial_image)$/;

/** All that the tables of the wires know. */
const AT_WORK: readonly AtWork[] = [
  ...NAMES.flatMap((name) => {
    const shapes: readonly ToolShape[] = TOOL_SHAPES[name];
    return shapes.flatMap(({ tool, write }) =>
      (write?.(3).slice(0, 1) ?? []).map((event) => atWork(name, event, tool)),
    );
  }),
  ...[...ITEM_KINDS.keys()].filter(beginsAsContent).map((type) => {
    const event = { type: "response.output_item.added", output_index: 3, item: { id: "i", type } };
    return atWork("openai-responses", event);
  }),
  ...[...RESPONSE_KINDS.keys()].flatMap((type) => {
    const tool = CALL_EVENT.exec(type)?.[1];
    const event = { type, output_index: 3, item_id: "i", partial_image_b64: "aGk=" };
    return tool === undefined ? [] : [atWork("openai-responses", event, tool)];
  }),
  ...[...BLOCK_KINDS].flatMap(([type, kind]) => {
    const event = { type: "content_block_start", index: 3, content_block: { type } };
    return kind === "other" ? [atWork("anthropic", event)] : [];
  }),
];

test.each(AT_WORK)("a stream of $name that ends after $said costs its input, and the tool", async (row) => {
  const { name, event, tool } = row;
  const asked = asking(tool);
  const { head, frame } = STREAMS[name] as StreamShape;
  for (const form of FORMS) {
    const decoder = WIRES[name].decodeStream?.(asked.facts, form, asked);
    if (decoder === undefined) throw new Error(name);
    for (const before of head) decoder.push(frame(before));
    const { visible } = decoder.push(frame(event));
    if (form === "source") expect(visible).toBe(true);
    for (const ending of ["left", "failed"] as const) {
      const { usage, usageSource } = await charged(decoder.report, ending);
      expect(usageSource, `${form} ${ending}`).not.toBe(UsageSource.USAGE_SOURCE_NONE);
      expect(Number(usage.inputTokens)).toBeGreaterThan(0);
      if (tool !== undefined) expect(callsCharged(tool, decoder.report, usage)).toEqual({ calls: 1, doubt: undefined });
    }
  }
});

type Reported = "none" | "plausible" | "zero";

interface Drawn {
  readonly bytes: Buffer;
  /** Where in it each call of a tool begins to show, as far as calls show before the end, and how many there are. */
  readonly shown: readonly number[];
  readonly calls: number;
  readonly chosen: readonly { readonly bringing: Bringing; readonly tokens: number; readonly end: number }[];
  /** What was told with each piece of all that came so far; empty where nothing was. */
  readonly running: readonly { readonly end: number; readonly output: number }[];
  readonly reported: Reported;
  readonly usage: { readonly input: number; readonly output: number } | undefined;
}

const RUNNING_INPUT = 29;

/** A random stream, and where in it what it brings ends. */
function draw(random: Random, shape: StreamShape, tool: ToolShape | undefined): Drawn {
  const frames: Buffer[] = [];
  let length = 0;
  const add = (bytes: Buffer): number => {
    frames.push(bytes);
    return (length += bytes.length);
  };
  for (const event of shape.head) add(shape.frame(event));
  const chosen: { bringing: Bringing; tokens: number; end: number }[] = [];
  // A call of another tool than was asked for counts as one of the dearest that was.
  const brings = tool === undefined ? shape.brings : shape.brings.filter(({ isHosted }) => isHosted !== true);
  const tellRunning = shape.running !== undefined && random() < 0.3 ? pick(random, shape.running) : undefined;
  const running: { end: number; output: number }[] = [];
  let output = 0;
  const shown: number[] = [];
  const count = Math.floor(random() * 5);
  const calls = tool === undefined ? 0 : Math.floor(random() * 13);
  const callPlaces = Array.from({ length: calls }, () => Math.floor(random() * (count + 1)));
  const addCalls = (before: number): void => {
    for (const [at, place] of callPlaces.entries())
      if (place === before && tool?.write !== undefined) {
        const [first, ...rest] = tool.write(count + at);
        if (first !== undefined) shown.push(add(shape.frame(first)));
        for (const event of rest) add(shape.frame(event));
      }
  };
  for (let place = 0; place < count; place++) {
    addCalls(place);
    if (random() < 0.3) add(shape.frame(pick(random, shape.quiet)));
    const bringing = pick(random, brings);
    const size = 1 + Math.floor(random() * 60);
    let end = 0;
    output += (bringing.tokens ?? size) * 4 + Math.floor(random() * 9);
    for (const event of bringing.write(size, place))
      end = add(shape.frame({ ...event, ...tellRunning?.({ input: RUNNING_INPUT, output }) }));
    if (tellRunning !== undefined) running.push({ end, output });
    chosen.push({ bringing, tokens: bringing.tokens ?? size, end });
  }
  addCalls(count);
  const reported = pick<Reported>(random, ["none", "plausible", "zero"]);
  const all = chosen.reduce((sum, { tokens }) => sum + tokens, 0);
  const usage =
    reported === "none"
      ? undefined
      : { input: 7, output: reported === "zero" ? 0 : all * 4 + 5 + Math.floor(random() * 100) };
  for (const event of shape.end(usage, tool?.told?.(calls))) add(shape.frame(event));
  add(Buffer.from(shape.mark));
  return { bytes: Buffer.concat(frames), running, shown, calls, chosen, reported, usage };
}

/** The least and the most calls that such a stream may be charged. */
function callBounds(tool: ToolShape, { shown, calls, usage }: Drawn, kept: number, isCut: boolean): [number, number] {
  const most = Math.min(calls, Number(CALLS_MAX));
  const came = Math.min(shown.filter((end) => end <= kept).length, Number(CALLS_MAX));
  const isTold = tool.told !== undefined && (tool.isInCandidate === true || usage !== undefined);
  if (!isCut && isTold) return tool.isOnce === true ? [Math.min(1, most), Math.min(1, most)] : [most, most];
  // What nothing shows is taken to be one call, unless the end came that tells of it.
  if (tool.write === undefined || came === 0) return [isCut || calls === 0 ? 0 : 1, Math.max(1, most)];
  return [came, isCut ? most : came];
}

/** All are a hundred thousand. */
const RUNS = bySweep({ short: 300, long: 2_000, all: 100_000 / 6 });

describe.each(NAMES)("random streams of %s", (name) => {
  const shape: StreamShape = STREAMS[name];

  test.each(["source", "events"] as const)("whole and cut, read as %s", async (form) => {
    const random = randomOf(40);
    for (let run = 0; run < RUNS / 2; run++) {
      const tools: readonly ToolShape[] = TOOL_SHAPES[name];
      const tool = random() < 0.5 ? tools[Math.floor(random() * tools.length)] : undefined;
      const drawn = draw(random, shape, tool);
      const asked = asking(tool?.tool);
      const isCut = random() < 0.7;
      const kept = isCut ? Math.floor(random() * drawn.bytes.length) : drawn.bytes.length;
      const limit = pick(random, [40, 100_000]);
      const bytes = drawn.bytes.subarray(0, kept);
      const decoder = WIRES[name].decodeStream?.(asked.facts, form, asked);
      if (decoder === undefined) throw new Error(name);
      const middle = Math.floor(random() * kept);
      for (const chunk of [bytes.subarray(0, middle), bytes.subarray(middle)]) decoder.push(chunk);
      if (!isCut) decoder.end();
      const { report } = decoder;
      const ending = !isCut ? "finished" : pick(random, ["left", "failed"] as const);
      const { usage, usageSource } = await charged(report, ending, limit);
      const brought = drawn.chosen.map(({ bringing }) => bringing.name).join(", ");
      const said = `run ${run}: ${brought}; ${drawn.reported}; ${drawn.calls} of ${tool?.tool}`;
      const isCharged = usageSource !== UsageSource.USAGE_SOURCE_NONE;
      if (tool !== undefined && isCharged) {
        const { calls, doubt } = callsCharged(tool.tool, report, usage);
        const [least, most] = callBounds(tool, drawn, kept, isCut);
        expect(calls, said).toBeGreaterThanOrEqual(least);
        expect(calls, said).toBeLessThanOrEqual(most);
        expect(doubt, said).toBe(drawn.calls > CALLS_MAX && doubt !== undefined ? "other_tool" : undefined);
      }
      if (isCut && drawn.shown.some((end) => end <= kept)) expect(isCharged, said).toBe(true);
      expect(generated(usage), said).toBeLessThanOrEqual(limit);
      expect(Number(usage.inputTokens), said).toBeLessThanOrEqual(INPUT_TOKENS_MAX);
      if (!isCut && drawn.reported === "plausible") {
        expect(Number(usage.inputTokens), said).toBe(7);
        expect(generated(usage), said).toBe(Math.min(limit, drawn.usage?.output ?? 0));
        continue;
      }
      // A report of no output stands where what came is no text: a search has none.
      if (drawn.reported === "zero" && (report.complete || !isCut)) continue;
      const lastRunning = drawn.running.findLast(({ end }) => end <= kept);
      if (isCut && lastRunning !== undefined && drawn.shown.length === 0 && !report.complete) {
        expect(generated(usage), said).toBe(Math.min(limit, lastRunning.output));
        expect(Number(usage.inputTokens + usage.cacheReadTokens), said).toBe(RUNNING_INPUT);
        continue;
      }
      const came = drawn.chosen.filter(({ end }) => end <= kept);
      if (came.length === 0) continue;
      expect(usageSource, said).not.toBe(UsageSource.USAGE_SOURCE_NONE);
      expect(Number(usage.inputTokens), said).toBeGreaterThan(0);
      // One that its upstream ended all the same had told its report.
      if (report.usage !== undefined && report.complete) continue;
      const sum = (price: Bringing["price"]): number =>
        came.filter(({ bringing }) => bringing.price === price).reduce((all, { tokens }) => all + tokens, 0);
      const [output, audio] = [sum("output"), sum("audio")];
      expect(generated(usage), said).toBeGreaterThanOrEqual(Math.min(limit, nearly(output + audio) - 2 * came.length));
      if (output + audio < limit / 5)
        expect(Number(usage.audioOutputTokens), said).toBeGreaterThanOrEqual(nearly(audio) - came.length);
    }
  });
});
