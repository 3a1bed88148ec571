/** Whether every upstream that may be asked is told the limit of the output. */
import { expect, test } from "vitest";
import { families } from "../../src/families/index.js";
import type { Target } from "../../src/routing/model.js";
import { takesLimit } from "../../src/routing/upstream-request.js";
import { LEAST, read } from "./asked.js";
import { modelOf, targetOf } from "./served.js";

const NOBODY = { send: (): never => expect.unreachable(), close: () => Promise.resolve() };

function targetAt(name: string): Target {
  const family = families.find((one) => one.name === name);
  if (family === undefined) throw new Error(`no family is called ${name}`);
  return targetOf(NOBODY, name, { family });
}

test.each([
  { wire: "openai-compaction", at: ["openai"], want: false },
  { wire: "openai-compaction", at: ["anthropic"], want: true },
  { wire: "openai-compaction", at: ["anthropic", "openai"], want: false },
  { wire: "openai-responses", at: ["openai"], want: true },
  { wire: "openai-chat", at: ["openai", "gemini"], want: true },
])("$wire at $at: $want", ({ wire, at, want }) => {
  const request = read(wire, JSON.stringify(LEAST[wire]));
  expect(takesLimit(modelOf(at.map(targetAt)), request, "chat")).toBe(want);
});
