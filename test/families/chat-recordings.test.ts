/** Recordings of real upstreams, read by the family that they belong to. */
import { expect, test } from "vitest";
import { families } from "../../src/families/index.js";
import { FACTS } from "../wire/openai-chat/bodies.js";
import { answers, recordingsNote, streams } from "../wire/openai-chat/recordings.js";

/** What the upstream counted: all input, what of it was cached, all output, what of it was thinking. */
type Counts = readonly [input: bigint, cached: bigint, output: bigint, thinking: bigint];

/** Read by hand from the `usage` of each file; of a stream's, from its last. */
const COUNTS: readonly { readonly name: string; readonly counts: Counts }[] = [
  { name: "deepseek/deepseek-json.json", counts: [495n, 320n, 144n, 118n] },
  { name: "deepseek/deepseek-reasoning.json", counts: [18n, 0n, 345n, 315n] },
  { name: "deepseek/deepseek-text.json", counts: [13n, 0n, 300n, 0n] },
  { name: "deepseek/deepseek-tool-call.json", counts: [339n, 320n, 92n, 48n] },
  { name: "deepseek/deepseek-reasoning.chunks.txt", counts: [18n, 0n, 219n, 205n] },
  { name: "deepseek/deepseek-text.chunks.txt", counts: [13n, 0n, 400n, 0n] },
  { name: "deepseek/deepseek-tool-call.chunks.txt", counts: [339n, 320n, 83n, 39n] },
  { name: "groq/groq-reasoning.json", counts: [17n, 0n, 649n, 570n] },
  { name: "groq/groq-text.json", counts: [45n, 0n, 607n, 0n] },
  { name: "groq/groq-tool-call.json", counts: [218n, 0n, 15n, 0n] },
  { name: "groq/groq-reasoning.chunks.txt", counts: [17n, 0n, 1107n, 963n] },
  { name: "groq/groq-text.chunks.txt", counts: [45n, 0n, 662n, 0n] },
  { name: "groq/groq-tool-call.chunks.txt", counts: [210n, 0n, 15n, 0n] },
  { name: "mistral/mistral-reasoning.json", counts: [10n, 0n, 46n, 0n] },
  { name: "mistral/mistral-text.json", counts: [13n, 0n, 434n, 0n] },
  { name: "mistral/mistral-tool-call.json", counts: [124n, 0n, 22n, 0n] },
  { name: "mistral/mistral-reasoning.chunks.txt", counts: [10n, 0n, 46n, 0n] },
  { name: "mistral/mistral-text.chunks.txt", counts: [13n, 0n, 8n, 0n] },
  { name: "mistral/mistral-tool-call.chunks.txt", counts: [124n, 0n, 22n, 0n] },
];

const recorded = [...answers, ...streams].filter(({ name }) => /^(deepseek|groq|mistral)\//.test(name));

test(`${recordingsNote}: each of the table is there, and none beside`, () => {
  const want = recorded.length === 0 ? [] : COUNTS.map(({ name }) => name);
  expect(recorded.map(({ name }) => name).toSorted()).toEqual(want.toSorted());
});

test.runIf(recorded.length > 0).each(COUNTS)("$name is counted as the upstream counted", ({ name, counts }) => {
  const { wire } = families.find((family) => family.name === name.split("/")[0]) ?? {};
  const body = Buffer.from(recorded.find((recording) => recording.name === name)?.body ?? "");
  const usage = name.endsWith(".json") ? wire?.decodeAnswer(body).report.usage : streamed();
  const [input, cached, output, thinking] = counts;
  expect(usage).toMatchObject({
    inputTokens: input - cached,
    cacheReadTokens: cached,
    outputTokens: output - thinking,
    reasoningTokens: thinking,
  });

  function streamed() {
    const decoder = wire?.decodeStream({ ...FACTS, stream: true }, "events");
    decoder?.push(body);
    decoder?.end();
    return decoder?.report.usage;
  }
});
