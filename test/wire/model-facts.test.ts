/**
 * What settings say that a model does not do, on every family and for every client: each fact has its effect on the
 * body, also where the body came in the upstream's own wire.
 */
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../src/config/config-error.js";
import { endpointFor, type Family } from "../../src/families/family.js";
import { families } from "../../src/families/index.js";
import type { ModelFacts, WireRequest } from "../../src/wire/wire.js";
import { bodyFor } from "../../src/routing/upstream-request.js";
import { CLIENT_WIRES } from "../gateway/wires.js";
import { UNPRICED } from "../routing/asked.js";
import { parseSettings } from "../support/parse-settings.js";

const SCHEMA = { type: "object", properties: { shade: { type: "string" } }, required: ["shade"] };
const CLIENTS = ["openai-chat", "openai-responses", "anthropic", "gemini"] as const;
type Client = (typeof CLIENTS)[number];

/** What each client asks, with each thing that a fact may deny. */
const ASKED: Readonly<Record<Client, object>> = {
  "openai-chat": {
    model: "m",
    messages: [
      { role: "system", content: "S0" },
      { role: "user", content: "u1" },
      { role: "system", content: "amid" },
      { role: "assistant", content: "a1" },
      { role: "user", content: "u2" },
    ],
    tools: [{ type: "function", function: { name: "get", parameters: { type: "object", properties: {} } } }],
    tool_choice: "required",
    response_format: { type: "json_schema", json_schema: { name: "x", schema: SCHEMA } },
    temperature: 0.3,
    top_p: 0.5,
  },
  "openai-responses": {
    model: "m",
    input: [
      { role: "system", content: "S0" },
      { role: "user", content: "u1" },
      { role: "system", content: "amid" },
      { role: "assistant", content: "a1" },
      { role: "user", content: "u2" },
    ],
    tools: [{ type: "function", name: "get", parameters: { type: "object", properties: {} }, strict: false }],
    tool_choice: "required",
    text: { format: { type: "json_schema", name: "x", schema: SCHEMA } },
    temperature: 0.3,
    top_p: 0.5,
  },
  anthropic: {
    model: "m",
    max_tokens: 500,
    system: "S0",
    messages: [
      { role: "user", content: "u1" },
      { role: "system", content: "amid" },
      { role: "assistant", content: "a1" },
      { role: "user", content: "u2" },
    ],
    tools: [{ name: "get", input_schema: { type: "object", properties: {} } }],
    tool_choice: { type: "any" },
    output_config: { format: { type: "json_schema", schema: SCHEMA } },
    temperature: 0.3,
    top_p: 0.5,
  },
  gemini: {
    systemInstruction: { parts: [{ text: "S0" }] },
    contents: [
      { role: "user", parts: [{ text: "u1" }] },
      { role: "model", parts: [{ text: "a1" }] },
      { role: "user", parts: [{ text: "u2" }] },
    ],
    tools: [{ functionDeclarations: [{ name: "get", parametersJsonSchema: { type: "object" } }] }],
    toolConfig: { functionCallingConfig: { mode: "ANY" } },
    generationConfig: {
      responseMimeType: "application/json",
      responseJsonSchema: SCHEMA,
      temperature: 0.3,
      topP: 0.5,
    },
  },
};

/** Facts under which nothing is denied. */
const ALL: ModelFacts = { sampling: "both", forcedTools: true, schemas: true, systemTurns: true, thinking: "none" };

interface Sent {
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly dropped: readonly string[];
}

function send(family: Family, client: Client, told: ModelFacts, more: object = {}): Sent {
  const body = Buffer.from(JSON.stringify({ ...ASKED[client], ...more }));
  const headers: Readonly<Record<string, string>> = client === "gemini" ? { "x-tollgate-path-model": "m" } : {};
  const asked: WireRequest = CLIENT_WIRES[client].readRequest({ wire: client, body, headers });
  const { wire, dialect } = endpointFor(family, asked, "chat");
  const owned = { model: "m", outputTokensMax: 5_000, stream: false, candidateCount: 1 };
  const dropped: string[] = [];
  const facts = { facts: { ...ALL, ...told }, toldFacts: told };
  const text = wire.encodeRequest(asked, { ...owned, ...facts }, dialect, dropped).toString();
  return { body: JSON.parse(text) as Sent["body"], text, dropped };
}

/** The body as the whole of the gateway's rules lets it leave. */
function whole(family: Family, client: Client, facts: ModelFacts): Buffer {
  const body = Buffer.from(JSON.stringify(ASKED[client]));
  const headers: Readonly<Record<string, string>> = client === "gemini" ? { "x-tollgate-path-model": "m" } : {};
  const request: WireRequest = CLIENT_WIRES[client].readRequest({ wire: client, body, headers });
  const owned = { model: "m", outputTokensMax: 500, stream: false, candidateCount: 1, facts, toldFacts: facts };
  const target = { model: "m", facts };
  const endpoint = endpointFor(family, request, "chat");
  return bodyFor({ request, target, endpoint, owned, strict: false, permits: UNPRICED }, []);
}

/** The schema in the place where an answer is bound to it, whatever the wire. */
const BOUND = /"(json_schema|responseJsonSchema|responseSchema|textFormat)"/;
const PICKS = /"(temperature|top_p|topP|top_k|topK)":/;
const FORCES = /"(tool_choice|toolConfig|toolChoice)":("(required|any)"|\{[^}]*"(any|tool|ANY|function)")/;
const TURNS = /^(user|assistant|model)$/;

/** The roles behind the first turn that is somebody's in the conversation. */
function laterRoles({ body }: Sent): readonly unknown[] {
  const turns = (body["messages"] ?? body["input"] ?? body["contents"]) as readonly { readonly role?: string }[];
  const roles = turns.map(({ role }) => role ?? "");
  return roles.slice(roles.findIndex((role) => TURNS.test(role)));
}

/** How each client asks for thoughts of a middle effort; chats in every way that some upstream's clients know. */
const THOUGHTS: Readonly<Record<Client, readonly object[]>> = {
  "openai-chat": [
    { reasoning_effort: "medium" },
    { reasoning_effort: "medium", thinking: { type: "enabled" } },
    { reasoning_effort: "medium", enable_thinking: true, thinking_budget: 2_000 },
    { reasoning_effort: "medium", reasoning: { effort: "medium" }, include_reasoning: true },
  ],
  "openai-responses": [{ reasoning: { effort: "medium", summary: "auto" } }],
  anthropic: [
    { thinking: { type: "adaptive" }, output_config: { effort: "medium" }, max_tokens: 5_000 },
    { thinking: { type: "enabled", budget_tokens: 2_000 }, output_config: { effort: "medium" }, max_tokens: 5_000 },
  ],
  gemini: [{ generationConfig: { thinkingConfig: { thinkingLevel: "MEDIUM", includeThoughts: true } } }],
};
const THINKS =
  /"(reasoning_effort|reasoning|include_reasoning|thinking|enable_thinking|thinking_budget|thinkingConfig|effort)":/;
const MIDDLE = /"(reasoning_effort|effort|thinkingLevel)":"(medium|MEDIUM)"/;
/** A budget that the client names is more exact than its effort. */
const NEXT = /"(reasoning_effort|effort|thinkingLevel)":"(high|HIGH)"|"reasoning":\{"max_tokens"/;

/** What `config check` says of facts of a model that this family serves alone. */
function problems(family: Family, facts: string): string {
  const address = family.baseUrl === undefined ? ", base_url: http://h" : "";
  const upstream = `{ family: ${family.name}, api_key: k${address} }`;
  const model = `{ price: free, targets: [{ upstream: u }], facts: { ${facts} } }`;
  try {
    parseSettings(`upstreams: { u: ${upstream} }\nmodels: { m: ${model} }`, {}, { families });
    return "";
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join("\n");
    throw error;
  }
}
const NO_EFFECT = "has no effect on the targets of this model";

const real = families.filter(({ connect }) => connect === undefined);

describe.each(real)("$name", (family) => {
  describe.each(CLIENTS)("from %s", (client) => {
    test("gets what the model does", () => {
      const { text } = send(family, client, {});
      expect(text).toMatch(PICKS);
      expect(text).toMatch(FORCES);
    });

    test("gets no sampling that the model does not take", () => {
      const { text, dropped } = send(family, client, { sampling: "none" });
      expect(text).not.toMatch(PICKS);
      expect(dropped).toEqual(expect.arrayContaining(["temperature", "top_p"]));
      const one = send(family, client, { sampling: "one" }).text;
      expect(one).toMatch(/"temperature":0\.3/);
      expect(one).not.toMatch(/"(top_p|topP)":/);
    });

    test("gets no forced call where the model cannot be made to", () => {
      const { text, dropped } = send(family, client, { forcedTools: false });
      expect(text).not.toMatch(FORCES);
      expect(text).toContain("You must answer by calling");
      expect(dropped).toContain("tool_choice");
    });

    test("gets no schema for the answer where the model keeps to none", () => {
      const { text } = send(family, client, { schemas: false });
      expect(text).not.toMatch(BOUND);
      // Told in words, or as the arguments of a tool.
      expect(text).toMatch(/JSON|"name":"json"/);
      expect(text).toContain("shade");
    });

    test("gets instructions first alone where they may not stand amid the conversation", () => {
      const sent = send(family, client, { systemTurns: false });
      expect(laterRoles(sent).filter((role) => !TURNS.test(String(role)))).toEqual([]);
      if (client !== "gemini") expect(sent.text).toContain("<system>\\namid\\n</system>");
      expect(sent.text).toContain("S0");
    });

    test("gets nothing of thoughts where the model cannot be told of them", () => {
      for (const more of THOUGHTS[client])
        for (const thinking of ["none", "always"] as const)
          expect(send(family, client, { thinking }, more).text).not.toMatch(THINKS);
    });

    test("gets an effort that the model knows", () => {
      const facts = { thinking: "effort", efforts: ["low", "high"] } as const;
      const isRefused = problems(family, "efforts: [low, high]").includes(NO_EFFECT);
      for (const more of THOUGHTS[client]) {
        if ("reasoning" in more && client === "openai-chat") continue;
        const { text } = send(family, client, facts, more);
        expect(text).not.toMatch(MIDDLE);
        if (!isRefused && !("thinking" in more && client === "openai-chat")) expect(text).toMatch(NEXT);
      }
    });

    test.each(["adaptive", "effort", "budget", "switch"] as const)("is told to think by: %s", (thinking) => {
      if (problems(family, `thinking: ${thinking}`).includes(NO_EFFECT)) return;
      for (const more of THOUGHTS[client]) expect(send(family, client, { thinking }, more).text).toMatch(THINKS);
    });

    test("gets no tools where the model calls none", () => {
      const ask = (tools: boolean): Buffer => whole(family, client, { tools });
      expect(() => ask(false)).toThrow(expect.objectContaining({ param: "tools", http: 400 }));
      expect(ask(true).length).toBeGreaterThan(0);
    });
  });
});

test.each([
  { thinking: "adaptive", budgets: undefined, client: "anthropic", want: ['"type":"adaptive"'] },
  { thinking: "budget", budgets: undefined, client: "anthropic", want: ['"type":"enabled"'] },
  { thinking: "effort", budgets: { medium: 700 }, client: "gemini", want: ['"thinkingLevel":"MEDIUM"'] },
  { thinking: "budget", budgets: { medium: 700 }, client: "gemini", want: ['"thinkingBudget":700'] },
] as const)("a client's own body is told in the model's way: $client $thinking", ({ client, want, ...facts }) => {
  const family = families.find(({ name }) => name === client);
  if (family === undefined) throw new Error(`no family is called ${client}`);
  for (const more of THOUGHTS[client]) {
    const { text } = send(family, client, facts, more);
    for (const said of want) expect(text).toContain(said);
    expect(text.match(/"thinking(Level|Budget)?":/g)?.length).toBe(1);
  }
});
