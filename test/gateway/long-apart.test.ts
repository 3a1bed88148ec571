/** A long body is read beside the event loop at every door, and a short one upon it. */
import { expect, test } from "vitest";
import type { Generation } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import { createGateway } from "../../src/gateway/inference.js";
import { LONG_BODY_BYTES } from "../../src/wire/json/weight.js";
import { wire } from "../../src/wire/openai-chat/index.js";
import { wire as embeddings } from "../../src/wire/openai-embeddings/index.js";
import type { Step } from "../routing/scripted-upstream.js";
import { openPipeline, type Pipeline, Told } from "./pipeline.js";

const REFUSED: readonly Step[] = [
  { atMs: 0, head: "application/json", status: 400 },
  { atMs: 0, end: true },
];
const LONG = "x ".repeat(LONG_BODY_BYTES / 2);
const MANY = Array.from({ length: 4_000 }, () => ({ type: "text", text: "x" }));

function said(content: unknown): Generation {
  const body = Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content }], max_tokens: 9 }));
  const source = { wire: wire.name, body, headers: {} };
  return { model: "", input: { $case: "source", value: source }, outputTokensMax: undefined, clamp: undefined };
}

interface Door {
  readonly door: string;
  readonly ask: (pipeline: Pipeline, content: unknown) => Promise<unknown>;
}

const DOORS: readonly Door[] = [
  {
    door: "a stream",
    ask: ({ steps, call }, content) =>
      createGateway(steps).streamGenerate({ generation: said(content), acceptWire: wire.name }, call(), new Told()),
  },
  {
    door: "an answer in one piece",
    ask: ({ steps, call }, content) =>
      createGateway(steps).generate({ generation: said(content), acceptWire: wire.name }, call(), () => undefined),
  },
  {
    door: "a count",
    ask: ({ steps, call }, content) => createGateway(steps).countTokens({ generation: said(content) }, call()),
  },
  {
    door: "an estimate",
    ask: ({ steps, call }, content) =>
      createGateway(steps).estimateCost({ generation: said(content), embedding: undefined }, call()),
  },
  {
    door: "vectors",
    ask: ({ steps, call }, content) => {
      const body = Buffer.from(JSON.stringify({ model: "m", input: content }));
      const source = { wire: embeddings.name, body, headers: {} };
      return createGateway({ ...steps, embeddingWires: new Map([[embeddings.name, embeddings]]) }).embed(
        { model: "", texts: [], source, acceptWire: "" },
        call(),
        () => undefined,
      );
    },
  },
];

const BODIES: readonly { readonly what: string; readonly content: unknown; readonly read: number }[] = [
  { what: "a short body", content: "Hi", read: 0 },
  { what: "a long one", content: LONG, read: 1 },
  { what: "one of many parts", content: MANY, read: 1 },
];
// Vectors have at most 2,048 texts, which are no many values.
const CASES = DOORS.flatMap(({ door, ask }) =>
  BODIES.filter(({ content }) => content !== MANY || door !== "vectors").map((body) =>
    Object.assign({ door, ask }, body),
  ),
);

test.each(CASES)("$door of $what", async ({ ask, content, read }) => {
  const pipeline = await openPipeline({ scripts: [REFUSED] });
  let count = 0;
  const { longBodies } = pipeline.steps;
  const watched = {
    close: () => longBodies.close(),
    read: () => {
      count += 1;
      // It finds no room there, which ends the request: that it was asked is what counts.
      return Promise.reject(new GatewayError("ERROR_REASON_OVERLOADED", { problem: "full", retry_after_ms: "1" }));
    },
  };
  const asking = ask({ ...pipeline, steps: { ...pipeline.steps, longBodies: watched } }, content);
  await asking.catch(GatewayError.from);
  expect(count).toBe(read);
});
