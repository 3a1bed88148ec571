/** What the gateway itself asks behind a conversation, so that it is summed up, is held for. */
import { expect, test } from "vitest";
import { families } from "../../src/families/index.js";
import { leaving, read } from "../routing/asked.js";

test.each(["anthropic", "gemini", "openai-compatible"])("a summary by %s", (name) => {
  const family = families.find((one) => one.name === name);
  if (family === undefined) throw new Error(`no family is called ${name}`);
  const request = read("openai-compaction", '{"model":"m","input":"x"}');
  const body = leaving(request, family, family).toString();
  const asked = /Write a summary[^"]*/.exec(body)?.[0] ?? "";
  expect(asked).not.toBe("");
  expect(request.facts.textBytes).toBeGreaterThan(asked.length);
});
