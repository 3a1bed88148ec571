/** The stand-in's vectors: the same for the same text, and near where texts are. */
import { describe, expect, test } from "vitest";
import { createSimUpstream } from "../../src/families/sim/upstream.js";
import { wire as embeddings } from "../../src/wire/openai-embeddings/index.js";
import { Listener } from "../upstream/listener.js";

const upstream = createSimUpstream({ nowMs: () => 1_700_000_000_000 });

describe("its vectors", () => {
  async function embed(body: Record<string, unknown>): Promise<{ status: number; text: string }> {
    const heard = new Listener();
    const bytes = Buffer.from(JSON.stringify(body));
    upstream.send({ method: "POST", path: "/embeddings", headers: {}, body: bytes }, heard);
    await heard.ended;
    return { status: heard.status, text: heard.text };
  }

  async function vectorsOf(input: unknown, more: Record<string, unknown> = {}): Promise<number[][]> {
    const { text } = await embed({ model: "sim-embed-1", input, ...more });
    const read = embeddings.decodeAnswer(Buffer.from(text)).embeddings?.() ?? [];
    return read.map(({ values }) => values);
  }

  const near = (a: readonly number[] = [], b: readonly number[] = []): number =>
    a.reduce((sum, value, place) => sum + value * (b[place] ?? 0), 0);

  test("are the same for the same text, one long, and nearer where texts share words", async () => {
    const [tea, coffee, tax] = await vectorsOf(["a cup of tea", "a cup of coffee", "income tax return"]);
    expect(await vectorsOf("a cup of tea")).toEqual([tea]);
    expect(near(tea, tea)).toBeCloseTo(1, 5);
    expect(near(tea, coffee)).toBeGreaterThan(near(tea, tax));
  });

  test("have the length and the encoding that was asked", async () => {
    const [plain] = await vectorsOf("hello", { dimensions: 7 });
    expect(plain).toHaveLength(7);
    const [packed] = await vectorsOf("hello", { dimensions: 7, encoding_format: "base64" });
    expect(packed).toEqual(plain?.map(Math.fround));
    expect(await vectorsOf([[1, 2], [3]])).toHaveLength(2);
    expect(await vectorsOf([1, 2])).toHaveLength(1);
  });

  test.each([
    { body: { model: "sim-1", input: "x" }, status: 404 },
    { body: { model: "sim-embed-1", input: [] }, status: 400 },
    { body: { model: "sim-embed-1", input: "x", dimensions: 5_000 }, status: 400 },
  ])("refuse $body", async ({ body, status }) => {
    expect((await embed(body)).status).toBe(status);
  });
});
