/** The tables of members know whatever the official SDKs can send: names from outside, held against our own. */
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { checkHeaders } from "../../src/wire/request/member-gate.js";
import { MEMBERS } from "../../src/wire/anthropic/request/members.js";
import { ENDPOINTS, LEAST, leaving, read, UNPRICED } from "../routing/asked.js";
import { sdkRequests } from "../support/sdk-requests.js";

const SDKS = sdkRequests();

/** The names that the gate did not know on the way of a body to a family's upstream. */
function unknownIn(wire: string, name: string, value: unknown, place: (typeof ENDPOINTS)[number]): string[] {
  const unknown: string[] = [];
  const permits = { ...UNPRICED, passes: (param: string) => unknown.push(param) > 0 };
  const body = JSON.stringify({ ...LEAST[wire], [name]: value });
  try {
    leaving(read(wire, body), place.family, place.endpoint, permits);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.http !== 400) throw error;
    const param = error.metadata["param"] ?? "";
    // Refused by its own name it is known; refused as the fold of another one it is not.
    if (!param.startsWith(name) || error.message.includes("some upstreams would read it as")) unknown.push(param);
  }
  return unknown;
}

const spoken = (wire: string): typeof ENDPOINTS => ENDPOINTS.filter(({ endpoint }) => endpoint.wire.name === wire);

describe("the SDKs are read", () => {
  test.each([
    { wire: "openai-chat", some: ["model", "messages", "max_completion_tokens", "service_tier", "web_search_options"] },
    { wire: "openai-completions", some: ["model", "prompt", "best_of", "suffix"] },
    { wire: "openai-embeddings", some: ["model", "input", "dimensions"] },
    { wire: "openai-responses", some: ["model", "input", "background", "previous_response_id", "conversation"] },
    { wire: "anthropic", some: ["model", "max_tokens", "container", "mcp_servers", "inference_geo", "speed"] },
    { wire: "gemini", some: ["contents", "cachedContent", "systemInstruction", "tools", "serviceTier"] },
  ])("$wire", ({ wire, some }) => {
    expect(SDKS.members.get(wire)).toEqual(expect.arrayContaining(some));
  });

  test("tools, betas and Google's generationConfig", () => {
    expect(SDKS.tools.get("anthropic")).toEqual(expect.arrayContaining(["web_search_20250305", "bash_20250124"]));
    expect(SDKS.tools.get("openai-responses")).toEqual(expect.arrayContaining(["file_search", "mcp", "function"]));
    expect(SDKS.tools.get("gemini")).toEqual(expect.arrayContaining(["googleSearch", "codeExecution"]));
    expect(SDKS.generationConfig).toEqual(expect.arrayContaining(["maxOutputTokens", "candidateCount"]));
    expect(SDKS.betas).toEqual(expect.arrayContaining(["context-1m-2025-08-07", "fast-mode-2026-02-01"]));
  });
});

describe.each([...SDKS.members].map(([wire, names]) => ({ wire, names })))("on $wire", ({ wire, names }) => {
  test("every member that an SDK sends is owned, plain, priced or refused", () => {
    expect(spoken(wire).length).toBeGreaterThan(0);
    const asked = names.filter((name) => !(name in (LEAST[wire] ?? {})));
    for (const place of spoken(wire))
      for (const value of [null, 1, "x"]) {
        const unknown = asked.flatMap((name) => unknownIn(wire, name, value, place));
        expect(unknown, `sent to ${place.family.name}`).toEqual([]);
        expect(unknownIn(wire, "of_tomorrow", value, place)).toEqual(["of_tomorrow"]);
      }
  });
});

test("every member of Google's generationConfig is known as well", () => {
  const ask = (name: string, place: (typeof ENDPOINTS)[number]): string[] =>
    unknownIn("gemini", "generationConfig", { [name]: null }, place);
  for (const place of spoken("gemini")) {
    expect(SDKS.generationConfig.flatMap((name) => ask(name, place))).toEqual([]);
    expect(ask("ofTomorrow", place)).toEqual(["generationConfig.ofTomorrow"]);
  }
});

test.each([...SDKS.tools].map(([wire, types]) => ({ wire, types })))(
  "every tool of $wire is known",
  ({ wire, types }) => {
    const toolOf = (type: string): object => (wire === "gemini" ? { [type]: {} } : { type, name: "some_tool" });
    for (const place of spoken(wire)) {
      expect(types.flatMap((type) => unknownIn(wire, "tools", [toolOf(type)], place))).toEqual([]);
      expect(unknownIn(wire, "tools", [toolOf("tomorrow")], place)).toEqual(["tools.tomorrow"]);
    }
  },
);

/** What Anthropic's SDK can ask of endpoints that are not served here; a request for messages has no use for them. */
const ELSEWHERE = [
  "managed-agents-2026-04-01",
  "dreaming-2026-04-21",
  "agent-memory-2026-07-22",
  "mcp-tunnels-2026-06-22",
  "ce-plugins-2026-09-01",
  "spend-limit-reads-2026-09-26",
  "telemetry-destinations-2026-08-11",
  "webhooks-2026-10-07",
  "admin-user-sign-out-2026-10-08",
  "analytics-usage-cost-2026-08-24",
  "experimental-claude-tag-2026-10-21",
  "ce-user-management-2026-07-13",
  "ce-claude-code-managed-settings-2026-10-06",
  "efs-2026-10-01",
  "google-managed-data-controls-2026-09-01",
];

test("every beta of Anthropic's SDK that a request for messages can use is known", () => {
  const unknown: string[] = [];
  const permits = { ...UNPRICED, passes: (name: string) => unknown.push(name) > 0 };
  checkHeaders({ "anthropic-beta": [...SDKS.betas, "of-tomorrow"].join(", ") }, MEMBERS, permits, "m");
  expect(unknown.toSorted()).toEqual([...ELSEWHERE, "of-tomorrow"].map((name) => `anthropic-beta: ${name}`).toSorted());
});
