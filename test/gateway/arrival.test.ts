/** What the gateway refuses of a request before it asks anything of anybody. */
import { expect, test } from "vitest";
import { BODY_BYTES_MAX } from "../../src/base/bytes/body-limit.js";
import type { GatewayCall } from "../../src/gateway/gateway.js";
import { createGateway } from "../../src/gateway/inference.js";

const source = { wire: "openai-chat", body: Buffer.alloc(BODY_BYTES_MAX + 1), headers: {} };
const input = { $case: "source" as const, value: source };
const generation = { model: "m", input, outputTokensMax: undefined, clamp: undefined };
const embedding = { model: "m", texts: [], dimensions: undefined, source, acceptWire: "" };
const sink = { head: (): void => undefined, data: (): boolean => true, onDrain: (): void => undefined };
// Whatever it asked for beside would be missing.
const gateway = createGateway({} as never);

test.each([
  { name: "a stream", ask: (call: GatewayCall) => gateway.streamGenerate({ generation, acceptWire: "" }, call, sink) },
  { name: "an answer", ask: (call: GatewayCall) => gateway.generate({ generation, acceptWire: "" }, call, sink.head) },
  { name: "a count", ask: (call: GatewayCall) => gateway.countTokens({ generation }, call) },
  { name: "vectors", ask: (call: GatewayCall) => gateway.embed(embedding, call, sink.head) },
  {
    name: "an estimate",
    ask: (call: GatewayCall) => gateway.estimateCost({ generation, embedding: undefined }, call),
  },
  {
    name: "an estimate of vectors",
    ask: (call: GatewayCall) => gateway.estimateCost({ generation: undefined, embedding }, call),
  },
])("a body that is too large is refused: $name", async ({ ask }) => {
  const asked = (async () => ask({} as GatewayCall))();
  await expect(asked).rejects.toMatchObject({ reason: "ERROR_REASON_BODY_TOO_LARGE" });
});
