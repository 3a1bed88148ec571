/** The settings file where the families are known: each upstream has what its family needs, where it can be reached. */
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../src/config/config-error.js";
import { parseSettings } from "../support/parse-settings.js";
import type { KnownFamily } from "../../src/config/references.js";
import { anthropic } from "../../src/families/anthropic.js";
import { azure } from "../../src/families/azure/index.js";
import { gemini } from "../../src/families/gemini.js";
import { openaiCompatible } from "../../src/families/openai-compatible.js";
import { vllm } from "../../src/families/vllm.js";

describe("with the families known", () => {
  const families: KnownFamily[] = [
    {
      name: "openai",
      needsKey: true,
      keyVariable: "OPENAI_API_KEY",
      baseUrl: "https://x/v1",
      connect: undefined,
      generatePath: () => "/chat/completions",
    },
    {
      name: "sim",
      needsKey: false,
      keyVariable: undefined,
      baseUrl: undefined,
      connect: () => undefined,
      generatePath: () => "/",
    },
  ];
  families.push(anthropic, gemini, azure, vllm, openaiCompatible);
  test.each([
    { said: "family: openai, api_key: k, base_url: http://h/v1", want: [] },
    {
      said: "family: openai, api_key: k, base_url: https://x",
      want: ["1:57 upstreams.u.base_url: must be https://x/v1 at this host"],
    },
    {
      said: "family: openai-compatible, base_url: http://h/v1/chat/completions",
      want: ["1:56 upstreams.u.base_url: must end before /chat/completions, which the gateway adds itself"],
    },
    {
      said: "family: anthropic, api_key: k, base_url: http://h/v1",
      want: [
        "1:60 upstreams.u.base_url: must end before /v1, which the gateway adds itself, such as https://api.anthropic.com",
      ],
    },
    { said: "family: anthropic, api_key: k, base_url: http://h", want: [] },
    {
      said: "family: gemini, api_key: k, base_url: http://h/v1beta/",
      want: [
        "1:57 upstreams.u.base_url: must end before /v1beta, which the gateway adds itself, such as " +
          "https://generativelanguage.googleapis.com",
      ],
    },
    { said: "family: azure, api_key: k, base_url: https://h.openai.azure.com/openai/v1", want: [] },
    { said: "family: sim", want: [] },
    { said: "family: openai, api_key: k", want: [] },
    {
      said: "family: openai",
      want: ['1:14 upstreams.u.api_key: is missing: the family openai needs a key, such as "${OPENAI_API_KEY}"'],
    },
    { said: "family: openai-compatible, base_url: http://h/v1", want: [] },
    { said: "family: openai-compatible, base_url: http://h/v1, prompt_cache: off", want: [] },
    { said: "family: vllm, prompt_cache: shared", want: [] },
    {
      said: "family: vllm, prompt_cache: off",
      want: ["1:47 upstreams.u.prompt_cache: must be shared or cache_salt with the family vllm"],
    },
    {
      said: "family: anthropic, api_key: k, prompt_cache: prompt_cache_key",
      want: ["1:64 upstreams.u.prompt_cache: must be shared with the family anthropic"],
    },
    {
      said: "family: sim, prompt_cache: salted",
      want: [
        "1:46 upstreams.u.prompt_cache: must be one of shared, off, cache_salt, prompt_cache_key, " +
          "prompt_cache_isolation_key, user_id",
      ],
    },
    {
      said: "family: openai-compatible",
      want: ["1:14 upstreams.u.base_url: is missing: the family openai-compatible has no address of its own"],
    },
    {
      said: "family: openal",
      want: [
        '1:27 upstreams.u.family: must be one of anthropic, azure, gemini, openai, openai-compatible, sim, vllm; did you mean "openai"?',
      ],
    },
  ])("$said", ({ said, want }) => {
    const problems = problemsOf(`upstreams: { u: { ${said} } }`, families);
    expect(problems).toEqual(want.map((line) => `tollgate.yaml:${line}`));
  });

  const UPSTREAMS = `upstreams:
  chats: { family: vllm }
  claudes: { family: anthropic, api_key: k }
  geminis: { family: gemini, api_key: k }
`;
  test.each([
    { fact: "prefill: true", heeds: ["claudes"] },
    { fact: "without_thinking: disabled", heeds: ["claudes"] },
    { fact: "budgets: { low: 1 }", heeds: ["geminis"] },
    { fact: "signed_calls: true", heeds: ["geminis"] },
    { fact: "result_images: true", heeds: ["geminis"] },
    { fact: "cache_marks: true", heeds: [] },
    { fact: "sampling: none", heeds: ["chats", "claudes", "geminis"] },
    { fact: "forced_tools: false", heeds: ["chats", "claudes", "geminis"] },
    { fact: "schemas: false", heeds: ["chats", "claudes", "geminis"] },
    { fact: "system_turns: false", heeds: ["chats", "claudes", "geminis"] },
  ])("the fact '$fact' is taken for a model of which a target has a use for it", ({ fact, heeds }) => {
    const check = (...names: readonly string[]): readonly string[] => {
      const targets = names.map((upstream) => `{ upstream: ${upstream} }`).join(", ");
      return problemsOf(`${UPSTREAMS}models: { m: { targets: [${targets}], facts: { ${fact} } } }`, families);
    };
    for (const name of ["chats", "claudes", "geminis"]) {
      const want = heeds.includes(name) ? [] : [expect.stringContaining("has no effect on the targets of this model")];
      expect(check(name)).toEqual(want);
    }
    // One target is enough: the others have no use for it.
    if (heeds.length > 0) expect(check("chats", "claudes", "geminis")).toEqual([]);
  });
});

function problemsOf(text: string, families: readonly KnownFamily[]): readonly string[] {
  try {
    parseSettings(text, {}, { families });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
