/**
 * What settings say that a model does not do, on every family and for every client: each fact has its effect on the
 * body, also where the body came in the upstream's own wire.
 */
import { describe, expect, test } from "vitest";
import { endpointFor, type Family } from "../../src/families/family.js";
import { families } from "../../src/families/index.js";
import type { ModelFacts, WireRequest } from "../../src/wire/wire.js";
import { CLIENT_WIRES } from "../gateway/wires.js";

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

function send(family: Family, client: Client, told: ModelFacts): Sent {
  const body = Buffer.from(JSON.stringify(ASKED[client]));
  const headers: Readonly<Record<string, string>> = client === "gemini" ? { "x-tollgate-path-model": "m" } : {};
  const asked: WireRequest = CLIENT_WIRES[client].readRequest({ wire: client, body, headers });
  const { wire, dialect } = endpointFor(family, asked, "chat");
  const owned = { model: "m", outputTokensMax: 500, stream: false, candidateCount: 1 };
  const dropped: string[] = [];
  const facts = { facts: { ...ALL, ...told }, toldFacts: told };
  const text = wire.encodeRequest(asked, { ...owned, ...facts }, dialect, dropped).toString();
  return { body: JSON.parse(text) as Sent["body"], text, dropped };
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
  });
});
