/** A member that is switched off asks for nothing: it is neither refused nor named as left out. */
import { describe, expect, test } from "vitest";
import { ENDPOINTS, goesTo, LEAST, leaving, read, UNPRICED } from "./asked.js";

type Values = Readonly<Record<string, readonly unknown[]>>;

/** What clients write where they want none of something. */
const OF_OPENAI: Values = {
  web_search_options: [null],
  enable_search: [null, false],
  enable_code_interpreter: [null, false],
  search_parameters: [
    null,
    false,
    { mode: "off" },
    { mode: "off", return_citations: true, sources: [{ type: "web" }] },
  ],
  mcp_servers: [null, []],
  plugins: [null, [], [{ id: "web", enabled: false }]],
  background: [null, false],
  deferred: [null, false],
  metadata: [null, {}],
  service_tier: [null, "auto", "default"],
  parallel_tool_calls: [null, true],
  tools: [null, []],
  tool_choice: [null, "auto", "none"],
  user: [null, ""],
  best_of: [null, 1],
  n_cmpl: [null, 1],
  num_beams: [null, 1],
  use_beam_search: [null, false],
  id_slot: [null, -1],
  priority: [null, 0],
  fallbacks: [null, []],
  transforms: [null, []],
  provider: [null, {}],
};

const OFF: Readonly<Record<string, Values>> = {
  "openai-chat": {
    ...OF_OPENAI,
    n: [null, 1],
    reasoning_effort: [null, "none"],
    reasoning: [null, { enabled: false }, { effort: "none" }],
    thinking: [null, { type: "disabled" }],
    enable_thinking: [null, false],
    thinking_budget: [null, 0],
    chat_template_kwargs: [null, {}, { enable_thinking: false }],
    logprobs: [null, false],
    top_logprobs: [null, 0],
    modalities: [null, ["text"]],
    response_format: [null, { type: "text" }],
    prediction: [null],
    store: [null, false],
    stop: [null, []],
    logit_bias: [null, {}],
    presence_penalty: [null, 0],
    frequency_penalty: [null, 0],
    repetition_penalty: [null, 1],
    top_p: [null, 1],
    top_k: [null, 0],
    min_p: [null, 0],
    safe_prompt: [null, false],
    prompt_mode: [null],
    functions: [null, []],
    function_call: [null, "auto", "none"],
  },
  "openai-responses": {
    ...OF_OPENAI,
    n: [null, 1],
    reasoning: [null, {}, { effort: "none" }, { summary: null }],
    truncation: [null, "disabled"],
    context_management: [null, []],
    include: [null, []],
    moderation: [null],
    top_logprobs: [null, 0],
    top_p: [null, 1],
    text: [null, {}, { format: { type: "text" } }],
    prompt: [null],
    previous_response_id: [null],
    conversation: [null],
    store: [null, false],
  },
  "openai-completions": { ...OF_OPENAI, n: [null, 1], echo: [null, false], logprobs: [null], suffix: [null] },
  anthropic: {
    thinking: [null, { type: "disabled" }],
    mcp_servers: [null, []],
    container: [null],
    context_management: [null, {}, { edits: [] }],
    speed: [null, "standard"],
    inference_geo: [null, "global"],
    service_tier: [null, "auto", "standard_only"],
    fallbacks: [null, []],
    metadata: [null, {}],
    stop_sequences: [null, []],
    cache_control: [null],
    tools: [null, []],
    tool_choice: [null, { type: "auto" }, { type: "none" }],
    output_config: [null, {}],
    output_format: [null],
    top_p: [null, 1],
  },
  gemini: {
    tools: [null, []],
    toolConfig: [null, {}, { functionCallingConfig: { mode: "NONE" } }, { functionCallingConfig: { mode: "AUTO" } }],
    safetySettings: [null, []],
    labels: [null, {}],
    store: [null, false],
    automaticContinuation: [null, false],
    cachedContent: [null],
    generationConfig: [
      null,
      {},
      { thinkingConfig: { thinkingBudget: 0 } },
      { thinkingConfig: { includeThoughts: false } },
      { responseModalities: ["TEXT"] },
      { candidateCount: 1 },
      { presencePenalty: 0, frequencyPenalty: 0 },
      { responseLogprobs: false },
      { enableAffectiveDialog: false, audioTimestamp: false },
      { responseMimeType: "text/plain" },
      { topP: 1 },
    ],
  },
};

const UNKNOWN_TO_OTHERS = new Set(["search_parameters", "enable_search", "enable_code_interpreter"]);
const CASES = Object.entries(OFF).flatMap(([wire, members]) =>
  Object.entries(members).map(([name, values]) => ({ wire, name, values })),
);

describe("what is switched off", () => {
  test.each(CASES)("is neither refused nor named: $name of $wire", ({ wire, name, values }) => {
    const found: string[] = [];
    for (const value of values) {
      const asked = read(wire, JSON.stringify({ ...LEAST[wire], [name]: value })).facts;
      if (asked.toolCallsMax !== undefined) found.push(`${JSON.stringify(value)} is held for`);
      for (const { family, endpoint } of ENDPOINTS) {
        if (!goesTo(wire, endpoint.wire.name)) continue;
        const dropped: string[] = [];
        let sent = "";
        const at = `${JSON.stringify(value)} to ${family.name} ${endpoint.wire.name}`;
        try {
          const body = JSON.stringify({ ...LEAST[wire], [name]: value });
          sent = leaving(read(wire, body), family, endpoint, UNPRICED, undefined, dropped).toString();
        } catch (error) {
          found.push(`${at}: ${String(error)}`);
        }
        // Upstreams that have no such tool refuse the member, whatever it says.
        if (UNKNOWN_TO_OTHERS.has(name) && sent.includes(`"${name}"`)) found.push(`${at}: is sent`);
        if (dropped.length > 0) found.push(`${at}: drops ${dropped.join()}`);
      }
    }
    expect(found).toEqual([]);
  });
});

test("what is switched on is refused where it has no price", () => {
  for (const { family, endpoint } of ENDPOINTS) {
    if (endpoint.wire.name !== "openai-chat") continue;
    for (const [name, value] of [
      ["search_parameters", { mode: "auto" }],
      ["search_parameters", {}],
      ["web_search_options", {}],
      ["enable_search", true],
    ] as const) {
      const asked = read("openai-chat", JSON.stringify({ ...LEAST["openai-chat"], [name]: value }));
      expect(asked.facts.toolCallsMax).toHaveLength(1);
      expect(() => leaving(asked, family, endpoint), `${name} to ${family.name}`).toThrow(/is not supported/);
    }
  }
});

const SMUGGLED: readonly (readonly [name: string, json: string])[] = [
  ["provider", '{"mode":"off","order":["dear"]}'],
  ["provider", '{"enabled":false,"order":["dear"]}'],
  ["extra_body", '{"type":"none","n":9}'],
  ["lora_request", '{"enabled":false,"lora_path":"x"}'],
  ["kv_transfer_params", '{"enabled":false,"id":"x"}'],
  ["mcp_servers", '[{"type":"none","url":"https://example.com"}]'],
  ["mcp_servers", '[{"enabled":false,"type":"url","url":"https://example.com"}]'],
  ["web_search_options", '{"enabled":false}'],
  ["plugins", '[{"id":"web","enabled":false},{"id":"web"}]'],
  ["plugins", '[{"id":"web","mode":"off"}]'],
  ["search_parameters", '{"enabled":false}'],
  // Of two members of one name some readers take the first, and some heed no capitals.
  ["search_parameters", '{"mode":"on","mode":"off"}'],
  ["search_parameters", '{"mode":"off","Mode":"on"}'],
  ["plugins", '[{"id":"web","enabled":true,"enabled":false}]'],
  ["plugins", '[{"id":"web","enabled":false,"Enabled":true}]'],
  ["plugins", '[{"id":"web","\\u0065nabled":true,"enabled":false}]'],
];

test.each(SMUGGLED)("a switch that its upstream may pass over lets nothing by: %s %s", (name, json) => {
  for (const { family, endpoint } of ENDPOINTS) {
    if (endpoint.wire.name !== "openai-chat") continue;
    const body = JSON.stringify(LEAST["openai-chat"]).replace("{", `{"${name}":${json},`);
    const leave = (): unknown => leaving(read("openai-chat", body), family, endpoint);
    expect(leave, family.name).toThrow(/is not supported|Invalid value/);
  }
});
