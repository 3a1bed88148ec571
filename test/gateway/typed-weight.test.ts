/** What of the typed form is read beside the event loop: whatever is long, or made of many small things. */
import { expect, test } from "vitest";
import {
  type EmbedRequest,
  type EstimateCostRequest,
  type Generation,
  InferenceServiceService,
  type Prompt,
  Role,
  type StreamGenerateRequest,
} from "../../src/api/index.js";
import { TYPED_FORM, TYPED_TEXTS } from "../../src/api/typed-form.js";
import { readEmbedding } from "../../src/gateway/embed.js";
import { typedRequest } from "../../src/gateway/typed-request.js";
import { clientWires, embeddingWires } from "../../src/reading/readers.js";
import { decodeRequest } from "../../src/rpc/transport/long-message.js";
import { promptOf } from "../../src/wire/request/prompt.js";

const { embed, estimateCost, streamGenerate } = InferenceServiceService;
type Part = Prompt["messages"][number]["parts"][number];

const SAID: Part = { kind: { $case: "text", value: { text: "", citationsJson: undefined } }, cacheMark: undefined };
const call = (id: string): Part => ({
  kind: { $case: "toolCall", value: { id, name: "f", arguments: "{}", custom: false, signature: undefined } },
  cacheMark: undefined,
});
const message = (parts: Part[], role = Role.ROLE_USER): Prompt["messages"][number] => ({
  role,
  parts,
  name: undefined,
  extraJson: undefined,
});
const many = <Item>(count: number, item: (place: number) => Item): Item[] =>
  Array.from({ length: count }, (_, place) => item(place));

function generation(more: Partial<Prompt>): Generation {
  const value = { ...promptOf({ messages: [message([SAID])] }, "openai-chat", undefined), ...more };
  return { model: "m", input: { $case: "prompt", value }, outputTokensMax: undefined, clamp: undefined };
}

const names = (count: number): Partial<Prompt> => ({
  toolChoice: { mode: 1, names: many(count, () => "n"), custom: false },
});
const labels = (count: number): Record<string, string> => Object.fromEntries(many(count, (place) => [place, "v"]));
const biases = (count: number): Record<string, number> => Object.fromEntries(many(count, (place) => [place, 1]));

test.each([
  { name: "a short text", more: {}, beside: false },
  { name: "some hundred messages", more: { messages: many(300, () => message([SAID])) }, beside: false },
  { name: "parts of a message", more: { messages: [message(many(8_000, () => SAID))] }, beside: true },
  {
    name: "calls of a tool",
    more: {
      messages: [
        message(
          many(3_500, (place) => call(String(place))),
          Role.ROLE_ASSISTANT,
        ),
      ],
    },
    beside: true,
  },
  { name: "names of a choice", more: names(20_000), beside: true },
  { name: "labels", more: { metadata: labels(3_000) }, beside: true },
  { name: "biases", more: { logitBias: biases(3_000) }, beside: true },
])("a prompt of less than 64 KiB of $name", ({ more, beside }) => {
  const asked = generation(more);
  const bytes = streamGenerate.requestSerialize({ generation: asked, acceptWire: "" });
  expect(bytes.length).toBeLessThan(64 * 1024);
  const read = decodeRequest(streamGenerate, bytes) as StreamGenerateRequest;
  const input = read.generation?.input;
  expect(input?.$case).toBe(beside ? "source" : "prompt");
  if (input?.$case === "source") expect(input.value.wire).toBe(TYPED_FORM);
  else expect(read.generation).toEqual(asked);
});

test.each([
  { name: "one short text", texts: ["a"], beside: false },
  { name: "some hundred texts", texts: many(500, () => "a"), beside: false },
  { name: "one long text", texts: ['"\\'.repeat(1_000_000)], beside: true },
  { name: "many long texts", texts: many(2_000, () => "\u0001".repeat(1_000)), beside: true },
  { name: "as many short texts as are allowed", texts: many(2_048, () => "a"), beside: true },
])("vectors of $name", async ({ texts, beside }) => {
  const asked: EmbedRequest = { model: "m", texts, dimensions: 3, source: undefined, acceptWire: "" };
  const read = decodeRequest(embed, embed.requestSerialize(asked)) as EmbedRequest;
  let wire: string | undefined;
  const longBodies = {
    read: (source: { readonly wire: string }): Promise<object> => {
      wire = source.wire;
      return Promise.resolve({ long: {} });
    },
  };
  const steps = { embeddingWires, longBodies } as never;
  const { request } = await readEmbedding(read, "", { caller: { accountId: "a" } } as never, steps);
  expect(wire).toBe(beside ? TYPED_TEXTS : undefined);
  expect(request.long === undefined).toBe(!beside);
  const estimated: EstimateCostRequest = { generation: undefined, embedding: asked };
  const again = decodeRequest(estimateCost, estimateCost.requestSerialize(estimated)) as EstimateCostRequest;
  expect(again.embedding?.source?.wire).toBe(wire);
});

test.each([
  { param: "tool_choice.names", most: 2_000, of: names },
  { param: "metadata", most: 16, of: (count: number) => ({ metadata: labels(count) }) },
  { param: "logit_bias", most: 2_000, of: (count: number) => ({ logitBias: biases(count) }) },
])("a prompt has at most $most of $param", ({ param, most, of }) => {
  const read = (count: number): unknown => {
    const asked = generation(of(count));
    if (asked.input?.$case !== "prompt") throw new Error("it is a prompt");
    return typedRequest(asked, asked.input.value, true, clientWires);
  };
  expect(() => read(most)).not.toThrow();
  const problem = `must be at most ${most}`;
  expect(() => read(most + 1)).toThrow(
    expect.objectContaining({
      reason: "ERROR_REASON_PARAMETER_INVALID",
      metadata: { param: `generation.prompt.${param}`, problem },
    }),
  );
});
