/** Counting over the corpus: exact where a tokenizer is ours, near where it is not, and never above the bound. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modelToEncodingMap } from "gpt-tokenizer/mapping";
import { boundInput } from "../../src/pricing/request-tokens.js";
import { modelTokens } from "../../src/pricing/model-tokens.js";
import { closeTokenCounter, countTokens } from "../../src/pricing/tokens.js";
import { wire } from "../../src/wire/openai-chat/index.js";
import { corpus } from "./corpus.js";
import { boundOf, type Measured, measure, REPORT_HEAD, reportLine } from "./report.js";
import { HERE, tokenizersIn } from "./tokenizers.js";

const DOC = new URL("../../docs/tokens.md", import.meta.url);
const TABLE = /(?<=<!-- report -->\n)[^]*(?=<!-- end of report -->)/;

const texts = corpus();
const { found, missing } = tokenizersIn(process.env["TOLLGATE_TOKENIZERS"]);
const tokenizers = [...HERE, ...found];

afterAll(closeTokenCounter);

test("the corpus has 1,000 texts in ten languages, code, and what is no language", () => {
  expect(texts).toHaveLength(1_000);
  expect(new Set(texts.map(({ kind }) => kind)).size).toBe(16);
  expect(new Set(texts.map(({ text }) => text)).size).toBeGreaterThan(900);
  expect(corpus()).toEqual(texts);
});

describe.each(tokenizers)("the texts by $name", (tokenizer) => {
  let measured: readonly Measured[] = [];
  beforeAll(async () => {
    measured = await measure(texts, tokenizer);
  });

  test("never have more tokens than the bound", () => {
    expect(measured.filter((one) => one.tokens > one.bound)).toEqual([]);
  });

  test("are counted exactly where the tokenizer is the gateway's own", () => {
    const wrong = measured.filter((one) => one.tokens !== one.counted);
    if (modelTokens(tokenizer.model).exact) expect(wrong).toEqual([]);
    else expect(wrong.length).toBeGreaterThan(0);
  });

  test("stand in the report", () => {
    const line = reportLine(tokenizer, measured);
    const doc = readFileSync(DOC, "utf8");
    if (process.env["TOLLGATE_TOKENS_REPORT"] === "write") lines.push(line);
    else expect(doc.split("\n")).toContain(line);
  });
});

const lines: string[] = [];
afterAll(() => {
  if (process.env["TOLLGATE_TOKENS_REPORT"] !== "write") return;
  const table = ["", ...REPORT_HEAD, ...lines, "", ""].join("\n");
  process.stdout.write(`${table}\n`);
  // A report that lacks a family must not take its line out of the page.
  if (missing.length > 0) process.stdout.write(`docs/tokens.md stays: not there: ${missing.join(", ")}\n`);
  else writeFileSync(DOC, readFileSync(DOC, "utf8").replace(TABLE, table));
});

test.skipIf(missing.length === 0)("the lines of the tokenizers that are not here stand in the report", () => {
  const doc = readFileSync(DOC, "utf8");
  for (const name of missing) expect(doc).toContain(`| \`${name}\` |`);
});

describe("the bound by counting", () => {
  test.each(HERE)("of a request never falls under what $name counts", async ({ model, count }) => {
    for (const { kind, text } of texts.filter((_, index) => index % 5 === 0)) {
      const body = Buffer.from(JSON.stringify({ model, messages: [{ role: "user", content: text }] }));
      const request = wire.readRequest({ wire: wire.name, body, headers: {} });
      const bound = await boundInput(request, model);
      expect(bound, kind).toBeGreaterThanOrEqual(count(text));
      expect(bound, kind).toBeLessThan(count(text) * 1.05 + 20);
    }
  });

  test.each(["claude-sonnet-4-5", "gemini-2.5-pro", "llama-3.3-70b", "my-own-model"])(
    "is not there for %s, whose tokenizer is not ours",
    async (model) => {
      const body = Buffer.from(JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }));
      expect(await boundInput(wire.readRequest({ wire: wire.name, body, headers: {} }), model)).toBeUndefined();
    },
  );
});

test("every model that the tokenizer's package knows has the encoding that it says, or none", () => {
  const told = Object.entries(modelToEncodingMap);
  expect(told.length).toBeGreaterThan(20);
  for (const [model, encoding] of told) {
    const { exact, encoding: ours } = modelTokens(model);
    if (exact) expect(ours, model).toBe(encoding === "o200k_harmony" ? "o200k_base" : encoding);
  }
  for (const model of ["gpt-4", "gpt-4-turbo", "gpt-3.5-turbo", "text-embedding-3-small", "ft:gpt-3.5-turbo:acme::1"])
    expect(modelTokens(model)).toMatchObject({ encoding: "cl100k_base", exact: true });
  for (const model of ["gpt-4o-mini", "gpt-4.1", "gpt-5.4-mini", "o1", "o3-mini", "openai/gpt-4o", "gpt-oss-20b"])
    expect(modelTokens(model)).toMatchObject({ encoding: "o200k_base", exact: true });
});

test("a count near a model's own is the public count by the measured share", async () => {
  const text = "The quick brown fox jumps over the lazy dog. ".repeat(100);
  const ours = await countTokens(text, "gpt-4o");
  for (const model of ["llama-3.3-70b", "qwen3-32b", "deepseek-chat", "claude-sonnet-4-5"])
    expect(await countTokens(text, model)).toBe(Math.floor((ours * modelTokens(model).perThousand) / 1_000));
});

describe("signs that a tokenizer may write out first", () => {
  // NFKC of each has so many bytes: ﷺ is four words, ㌀ four letters of three bytes.
  test.each([
    { text: "Hello", want: 5 },
    { text: "你好", want: 6 },
    { text: "ﷺ", want: 33 },
    { text: "㌀", want: 12 },
    { text: "½ é", want: 5 + 1 + 2 },
  ])("$text counts as $want bytes where the tokenizer is not public", ({ text, want }) => {
    expect(boundOf(text, "claude-sonnet-4-5")).toBe(want);
    expect(boundOf(text, "gpt-4o")).toBe(Buffer.byteLength(text));
  });

  test("are all looked at, of all of Unicode, escaped or not", () => {
    let growing = 0;
    for (let code = 0x80; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const sign = String.fromCodePoint(code);
      const longer = Buffer.byteLength(sign.normalize("NFKC")) - Buffer.byteLength(sign);
      if (longer <= 0) continue;
      growing += 1;
      const least = Buffer.byteLength(sign) + longer;
      if (boundOf(sign, "claude-sonnet-4-5") < least) expect(sign, "grows").toBe("");
      const escaped = [...Array(sign.length).keys()].map((at) => `\\u${hexOf(sign.charCodeAt(at))}`).join("");
      if (boundOf(escaped, "claude-sonnet-4-5") < least) expect(escaped, "grows").toBe("");
    }
    expect(growing).toBeGreaterThan(300);
  });
});

function hexOf(unit: number): string {
  return unit.toString(16).padStart(4, "0");
}
