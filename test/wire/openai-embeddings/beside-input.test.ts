/** Whatever of a request for vectors reaches its upstream is held for. */
import { describe, expect, test } from "vitest";
import { embeddingWires } from "../../../src/reading/readers.js";
import { readableInput } from "../../../src/pricing/request-text.js";
import type { WireRequest } from "../../../src/wire/wire.js";
import { ENDPOINTS, leaving, read } from "../../routing/asked.js";

const LONG = "long ".repeat(20_000);
const HEADERS = { "x-tollgate-path-model": "m" };

function ask(more: object): WireRequest {
  return read("openai-embeddings", JSON.stringify({ model: "m", input: "x", ...more }));
}

function leavingFor(family: string, request: WireRequest): string {
  const found = ENDPOINTS.find((one) => one.family.name === family && one.endpoint === one.family.endpoints?.embedding);
  if (found === undefined) throw new Error(`${family} makes no vectors`);
  return leaving(request, found.family, found.endpoint).toString();
}

describe("members that stand beside the input", () => {
  test.each([
    { name: "a chat, which vLLM takes in the input's place", more: { messages: [{ role: "user", content: LONG }] } },
    { name: "how the texts are to be read", more: { instruction: LONG } },
    { name: "what nobody knows", more: { of_tomorrow: [LONG] } },
    { name: "a word of a list, which is none here", more: { task: LONG } },
  ])("$name: it is held for and counted", ({ more }) => {
    const request = ask(more);
    expect(leavingFor("vllm", request)).toContain(LONG);
    expect(request.facts.textBytes).toBeGreaterThan(LONG.length);
    expect(readableInput(request)?.text).toContain(LONG);
  });

  test.each([
    { name: "a list", more: { messages: [{ role: "user", content: "x" }] }, files: 1 },
    { name: "an object", more: { of_tomorrow: { image: "x" } }, files: 1 },
    { name: "two of them", more: { images: ["x"], films: ["x"] }, files: 2 },
    { name: "an address", more: { image: "https://example.com/a.png" }, files: 1 },
    { name: "a picture as data", more: { image: " DATA:image/png;base64,AAAA" }, files: 1 },
    { name: "a text", more: { instruction: "Represent this: x" }, files: 0 },
    { name: "a number", more: { of_tomorrow: 1 }, files: 0 },
    { name: "nothing", more: {}, files: 0 },
  ])("$name may hold $files that cost more than their bytes", ({ more, files }) => {
    expect(ask(more).facts.fileCount).toBe(files);
  });

  test("a text beside several inputs is held for with each of them", () => {
    const bytesOf = (more: object): number => ask({ input: ["x", "y", "z"], ...more }).facts.textBytes;
    expect(bytesOf({ instruction: LONG }) - bytesOf({})).toBeGreaterThan(3 * LONG.length);
    expect(bytesOf({ user: LONG }) - bytesOf({})).toBeLessThan(2 * LONG.length);
  });

  test("OpenAI's own are no text", () => {
    const request = ask({ encoding_format: "base64", dimensions: 8, user: LONG });
    expect(readableInput(request)?.text).toBe("x");
  });
});

describe("what Google's models are told of a text", () => {
  const readGoogles = (more: object): WireRequest => {
    const wire = embeddingWires.get("gemini-embeddings");
    if (wire === undefined) throw new Error([...embeddingWires.keys()].join());
    const body = Buffer.from(JSON.stringify({ content: { parts: [{ text: "x" }] }, ...more }));
    return wire.readRequest({ wire: wire.name, body, headers: HEADERS });
  };

  test.each(["title", "taskType"])("its %s is held for", (name) => {
    const request = readGoogles({ [name]: LONG });
    expect(leavingFor("gemini", request)).toContain(LONG);
    expect(request.facts.textBytes).toBeGreaterThan(LONG.length);
  });

  test("its title is counted, and its task is a word of a list", () => {
    expect(readableInput(readGoogles({ title: "t", taskType: "RETRIEVAL_DOCUMENT" }))?.text).toBe("x\nt");
  });
});
