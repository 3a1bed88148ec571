/** Tools that an upstream runs, asked of one that has them not: refused in one way whatever the client's wire. */
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { ENDPOINTS, goesTo, LEAST, leaving, read, UNPRICED } from "./asked.js";
import { CASES, type Json } from "./hosted-cases.js";

function refusal(wire: string, body: Json, to: (typeof ENDPOINTS)[number], dropped: string[] = []): unknown {
  const asked = read(wire, JSON.stringify({ ...LEAST[wire], ...body }));
  try {
    leaving(asked, to.family, to.endpoint, UNPRICED, undefined, dropped);
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { reason: error.reason, http: error.http, param: error.param };
  }
}

describe("a tool that the upstream runs", () => {
  test.each(CASES)("is refused by name where it is not to be had: $body of $wire", ({ wire, body, param }) => {
    for (const to of ENDPOINTS) {
      if (!goesTo(wire, to.endpoint.wire.name)) continue;
      const want = { reason: "ERROR_REASON_PARAMETER_UNSUPPORTED", http: 400, param };
      expect(refusal(wire, body, to), `${to.family.name} ${to.endpoint.wire.name}`).toEqual(want);
    }
  });

  test.each([
    { wire: "openai-responses", tool: { type: "web_search" }, named: "tools.web_search" },
    { wire: "openai-responses", tool: { type: "local_shell" }, named: "tools.local_shell" },
    {
      wire: "anthropic",
      tool: { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
      named: "tools.tool_search_tool_regex",
    },
    { wire: "anthropic", tool: { type: "bash_20250124", name: "bash" }, named: "tools.bash" },
    { wire: "anthropic", tool: { type: "x_new_20990101", name: "x" }, named: "tools.x_new" },
  ])("is left out and named where it is offered unasked, or the client runs it: $named", ({ wire, tool, named }) => {
    for (const to of ENDPOINTS) {
      if (!goesTo(wire, to.endpoint.wire.name) || to.endpoint.wire.name === wire) continue;
      const dropped: string[] = [];
      expect(refusal(wire, { tools: [tool] }, to, dropped), to.family.name).toBeUndefined();
      expect([...new Set(dropped)], to.family.name).toEqual([named]);
    }
  });
});

const SCHEMA = { type: "object", properties: {} };
const DEFERRED: Readonly<Record<string, Json>> = {
  anthropic: {
    tools: [
      { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" },
      { name: "find", input_schema: SCHEMA },
      { name: "get_weather", input_schema: SCHEMA, defer_loading: true },
    ],
    messages: [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: [
          { type: "server_tool_use", id: "srvtoolu_1", name: "tool_search_tool_bm25", input: { query: "weather" } },
          {
            type: "tool_search_tool_result",
            tool_use_id: "srvtoolu_1",
            content: {
              type: "tool_search_tool_search_result",
              tool_references: [{ type: "tool_reference", tool_name: "get_weather" }],
            },
          },
          { type: "tool_use", id: "toolu_1", name: "find", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: [{ type: "tool_reference", tool_name: "get_weather" }],
          },
        ],
      },
    ],
  },
  "openai-responses": {
    tools: [
      { type: "tool_search" },
      { type: "function", name: "get_weather", parameters: SCHEMA, defer_loading: true },
    ],
    input: [
      { role: "user", content: "Hi" },
      { type: "tool_search_call", call_id: "c", arguments: { query: "weather" }, execution: "client" },
      {
        type: "tool_search_output",
        call_id: "c",
        tools: [{ type: "function", name: "get_weather", parameters: SCHEMA, defer_loading: true }],
      },
    ],
  },
};

test.each(Object.keys(DEFERRED))("deferred tools of %s are offered at once where no search is", (wire) => {
  for (const { family, endpoint } of ENDPOINTS) {
    if (!goesTo(wire, endpoint.wire.name)) continue;
    const dropped: string[] = [];
    const text = JSON.stringify({ ...LEAST[wire], ...DEFERRED[wire] });
    const asked = read(wire, text);
    const body = leaving(asked, family, endpoint, UNPRICED, undefined, dropped).toString();
    const isOwn = endpoint.wire.name === wire;
    if (isOwn) {
      expect(JSON.parse(body)).toMatchObject(DEFERRED[wire]!);
      expect(dropped).toEqual([]);
      continue;
    }
    expect(body, family.name).not.toMatch(/defer_loading|tool_reference|tool_search_tool_result/);
    expect(body.match(/"name":"get_weather"/g)?.length, family.name).toBe(1);
    expect(dropped, family.name).toContain("tools.defer_loading");
    if (wire === "anthropic") expect(body.match(/can be called now: get_weather/g)?.length, family.name).toBe(2);
  }
});
