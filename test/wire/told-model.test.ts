/** The name of the model is written over the upstream's in whatever an upstream answers, and nothing else changes. */
import { expect, test } from "vitest";
import { ToldModel } from "../../src/wire/answer/told-model.js";

const named = (body: string | Buffer): string => new ToldModel("mine").body(Buffer.from(body)).toString("latin1");

test("an answer of more numbers than a request may have is named as any other", () => {
  const numbers = `[${"0.5,".repeat(1_100_000)}0.5]`;
  const answer = `{"object":"list","data":[{"embedding":${numbers}}],"model":"theirs","usage":{}}`;
  expect(named(answer)).toBe(answer.replace("theirs", "mine"));
});

test.each([
  { name: "a member that no request may have", body: '{"model":"theirs","args":{"__proto__":1}}' },
  { name: "nesting without end", body: `{"model":"theirs","x":${"[".repeat(100)}${"]".repeat(100)}}` },
  { name: "bytes that are no text", body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) },
])("$name is told as it came", ({ body }) => {
  expect(named(body)).toBe(Buffer.from(body).toString("latin1"));
});
