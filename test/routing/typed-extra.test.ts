/** Fields and tools of one wire in a typed prompt are priced, bounded and refused as in a body of that wire. */
import { describe, expect, test } from "vitest";
import { type Prompt, Role } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import { typedRequest } from "../../src/gateway/typed-request.js";
import { clientWires } from "../../src/reading/readers.js";
import { promptOf } from "../../src/wire/request/prompt.js";
import type { MemberTable } from "../../src/wire/request/members.js";
import type { WireRequest } from "../../src/wire/wire.js";
import { ENDPOINTS, goesTo, LEAST, leaving, read } from "./asked.js";

function typed(more: Partial<Prompt>): WireRequest {
  const part = {
    kind: { $case: "text" as const, value: { text: "Hi", citationsJson: undefined } },
    cacheMark: undefined,
  };
  const message = { role: Role.ROLE_USER, parts: [part], name: undefined, extraJson: undefined };
  const prompt = { ...promptOf({ messages: [message] }, "openai-chat", undefined), ...more };
  const generation = { model: "m", input: { $case: "prompt" as const, value: prompt } };
  return typedRequest({ ...generation, outputTokensMax: undefined, clamp: undefined }, prompt, false, clientWires);
}

/** What leaves, where no tool has a price; nothing where it is refused. */
function sent(family: string, more: Partial<Prompt>): string {
  const found = ENDPOINTS.find((one) => one.family.name === family);
  if (found === undefined) throw new Error(`no family is called ${family}`);
  try {
    return leaving(typed(more), found.family, found.endpoint).toString();
  } catch (error) {
    if (error instanceof GatewayError) return "";
    throw error;
  }
}

const extra = (wire: string, fields: object): Partial<Prompt> => ({ extra: { wire, json: JSON.stringify(fields) } });
const FILE = { fileData: { fileUri: "https://generativelanguage.googleapis.com/v1beta/files/other" } };
const searchOf = (id: string): object => ({ tools: [{ type: "file_search", vector_store_ids: [id] }] });
const WEB = { type: "web_search_20250305", name: "web_search" };

describe("fields without a typed home", () => {
  test.each([
    { family: "openai", wire: "openai-chat", fields: { tools: [{ type: "web_search" }] }, never: "web_search" },
    { family: "llamacpp", wire: "openai-chat", fields: { n_predict: 90_000 }, never: "n_predict" },
    {
      family: "openai-responses",
      wire: "openai-responses",
      fields: { tools: [{ type: "web_search" }] },
      never: "web_search",
    },
    { family: "openai-responses", wire: "openai-responses", fields: searchOf("vs_of_another"), never: "vs_of_another" },
    { family: "anthropic", wire: "anthropic", fields: { tools: [WEB] }, never: "web_search" },
    { family: "gemini", wire: "gemini", fields: { tools: [{ googleSearch: {} }] }, never: "googleSearch" },
    { family: "gemini", wire: "gemini", fields: { system_instruction: { parts: [FILE] } }, never: "googleapis" },
    {
      family: "gemini",
      wire: "gemini",
      fields: { generationConfig: { candidate_count: 8 } },
      never: "candidate_count",
    },
    { family: "gemini", wire: "gemini", fields: { generation_config: { max_output_tokens: 65_536 } }, never: "65536" },
    {
      family: "bedrock",
      wire: "bedrock-converse",
      fields: { toolConfig: { tools: [{ systemTool: { name: "nova_grounding" } }] } },
      never: "nova_grounding",
    },
  ])("ask $family for nothing that is not held for: $fields", ({ family, wire, fields, never }) => {
    expect(sent(family, extra(wire, fields))).not.toContain(never);
  });

  test.each([
    { wire: "anthropic", fields: { context_management: { edits: [{ type: "compact_20260112" }] } } },
    { wire: "openai-responses", fields: { context_management: [{ type: "compaction", compact_threshold: 1_000 }] } },
  ])("allow as many rounds as in a body of $wire", ({ wire, fields }) => {
    const { roundsMax } = read(wire, JSON.stringify({ ...LEAST[wire], ...fields })).facts;
    expect(typed(extra(wire, fields)).facts.roundsMax).toBe(roundsMax);
  });
});

/** The names of a table's rules of that kind, those inside objects with them, as paths. */
function ownedIn(table: MemberTable, path: readonly string[] = []): (readonly string[])[] {
  return [...table.rules].flatMap(([name, rule]) => {
    if (rule.kind === "owned") return [[...path, name]];
    return rule.kind === "object" ? ownedIn(rule.members, [...path, name]) : [];
  });
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

describe.each(ENDPOINTS.filter(({ endpoint }) => goesTo("openai-chat", endpoint.wire.name)))(
  "$family.name over $endpoint.wire.name",
  ({ family, endpoint, table }) => {
    test.each(ownedIn(table))("is never told by such a field what the gateway writes: %s %s", (...path) => {
      for (const spelled of [path, path.map(snake)]) {
        const names = spelled.filter((name): name is string => name !== undefined);
        const fields = names.reduceRight<unknown>((value, name) => ({ [name]: value }), 90_000) as object;
        const request = typed(extra(endpoint.wire.name, fields));
        expect(() => leaving(request, family, endpoint), names.join(".")).toThrow(GatewayError);
      }
    });
  },
);

test("a tool that no reader here knows is refused, such as one that Amazon runs", () => {
  const value = { wire: "bedrock-converse", json: '{"systemTool":{"name":"nova_grounding"}}' };
  const tools = [{ kind: { $case: "opaque" as const, value }, cacheMark: undefined }];
  expect(sent("bedrock", { tools })).not.toContain("nova_grounding");
});
