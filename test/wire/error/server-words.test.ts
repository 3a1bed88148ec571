/** What each server's words mean, on whichever wire it speaks, and how each client is told. */
import { expect, test } from "vitest";
import { families } from "../../../src/families/index.js";
import { UpstreamRefusal } from "../../../src/wire/error/upstream-refusal.js";
import { wordsIn } from "../../../src/wire/error/server-words.js";
import { wire as anthropic } from "../../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../../src/wire/gemini/index.js";
import { wire as chat } from "../../../src/wire/openai-chat/index.js";
import { wire as responses } from "../../../src/wire/openai-responses/index.js";
import type { GatewayError } from "../../../src/base/errors.js";
import { Bench } from "../../routing/refusing-model.js";
import { inWords } from "../../support/refusals.js";
import { SERVER_REFUSALS, type ServerRefusal } from "./server-refusals.js";

interface Encoder {
  encodeError(error: GatewayError): { readonly body: Buffer };
}

const TITLED = SERVER_REFUSALS.map((row) =>
  Object.assign({ title: `${row.server} ${row.status}: ${wordsOf(row)}` }, row),
);

function wordsOf({ body }: ServerRefusal): string {
  return (body as { error: { message: string } }).error.message;
}

/** On OpenAI's wire as the server sends it; on the others, which servers offer too, with the same words. */
const readings: readonly { readonly name: string; read(row: ServerRefusal): GatewayError }[] = [
  {
    name: "as it is sent",
    read: ({ status, body }) => chat.decodeError(status, {}, Buffer.from(JSON.stringify(body))),
  },
  ...families.map((family) => ({
    name: family.name,
    read: (row: ServerRefusal): GatewayError => {
      const { status, headers, body } = inWords(family, row.status, wordsOf(row));
      return family.wire.decodeError(status, headers, body, family.refusals);
    },
  })),
];

/** What a client of each wire knows an input by that is too long, and the wire's own words with both counts. */
const CLIENTS: readonly (readonly [wire: Encoder, says: RegExp, counted: RegExp])[] = [
  [chat, /"code":"context_length_exceeded"/, /maximum context length is 4096 tokens.*resulted in 5021 tokens/],
  [responses, /"code":"context_length_exceeded"/, /maximum context length is 4096 tokens.*resulted in 5021 tokens/],
  [anthropic, /"message":"[^"]*prompt is too long/i, /prompt is too long: 5021 tokens > 4096 maximum/],
  [gemini, /"message":"[^"]*input token count/i, /input token count \(5021\) exceeds the maximum .* \(4096\)/],
];
const OWN_SERVERS = families.find(({ name }) => name === "llamacpp") ?? expect.unreachable("it is a family");

test.each(TITLED)("on every wire, and to every client: $title", (row) => {
  // What stands in fields of its own stands there on one wire.
  const isInFields = "n_ctx" in (row.body as { error: object }).error;
  for (const { name, read } of isInFields ? readings.slice(0, 1) : readings) {
    const error = read(row);
    const { cause } = error;
    expect(cause instanceof UpstreamRefusal ? cause.kind : undefined, name).toBe(row.kind);
    if (row.kind !== "context") continue;
    expect([error.metadata["actual"], error.metadata["limit"]], name).toEqual([row.actual, row.limit]);
    for (const [wire, says, counted] of CLIENTS) {
      const told = wire.encodeError(error).body.toString("utf8");
      expect(told, name).toMatch(says);
      if (row.actual === undefined) continue;
      expect(told, name).toContain(row.actual);
      expect(told, name).toContain(row.limit);
      // A sentence that is the wire's own already stays as it is.
      if (row.server === "llama.cpp") expect(told, name).toMatch(counted);
    }
  }
});

test.each(TITLED)("ejects nothing for others: $title", async (row) => {
  const bench = new Bench(OWN_SERVERS);
  bench.says = { status: row.status, headers: {}, body: Buffer.from(JSON.stringify(row.body)) };
  for (let round = 0; round < 8; round += 1) await bench.ask("mallory");
  bench.says = undefined;
  expect(await bench.ask("alice")).toBeUndefined();
});

test.each(TITLED.filter(({ kind }) => kind !== "unavailable"))(
  "another target is asked that may take it: $title",
  async (row) => {
    const bench = new Bench(OWN_SERVERS, 2);
    const refusal = { status: row.status, headers: {}, body: Buffer.from(JSON.stringify(row.body)) };
    bench.says = (_, place) => (place === 0 ? refusal : undefined);
    expect(await bench.ask("alice")).toBeUndefined();
    expect(bench.asked).toBe(2);
  },
);

test.each([
  "x".repeat(100_000),
  "request (".repeat(10_000),
  "input length (1) exceeds ".repeat(5_000),
  "failed to grammar ".repeat(5_000),
  "1".repeat(100_000),
])("a long sentence is read in no time that its length decides", (text) => {
  const startMs = performance.now();
  wordsIn(text);
  expect(performance.now() - startMs).toBeLessThan(500);
});
