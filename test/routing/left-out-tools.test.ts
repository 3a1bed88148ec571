/** Tools that an upstream would run, left out where the model's settings say so: the body is the one without them. */
import { describe, expect, test } from "vitest";
import { type Price, type Prompt, Role, type Tool, ToolChoice_Mode } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import { typedRequest } from "../../src/gateway/typed-request.js";
import { clientWires } from "../../src/reading/readers.js";
import { TargetPermits } from "../../src/routing/permits.js";
import { countedRequest } from "../../src/routing/upstream-request.js";
import { messageOf, textPart } from "../../src/wire/request/part.js";
import { promptOf } from "../../src/wire/request/prompt.js";
import type { WireRequest } from "../../src/wire/wire.js";
import { ENDPOINTS, goesTo, LEAST, leaving, MODEL, read } from "./asked.js";
import { CASES, type Json } from "./hosted-cases.js";

const PRICE: Price = {
  inputPicos: 1n,
  cacheReadPicos: 1n,
  cacheWritePicos: 1n,
  cacheWrite1hPicos: 1n,
  outputPicos: 1n,
  reasoningPicos: 1n,
  imagePicos: 1n,
  audioInputPicos: 1n,
  audioOutputPicos: 1n,
  requestPicos: 0n,
  tiers: [],
  serviceTiers: [],
  tools: [],
  rates: [],
  tokensUnpriced: false,
};
const TERMS = { price: PRICE, hostedTools: "drop", knownMembersOnly: false, containers: [] } as const;
const DROPPING = new TargetPermits(TERMS);

const SCHEMA = { type: "object", properties: {} };
/** A tool of the client's. */
const FUNCTIONS: Readonly<Record<string, Json>> = {
  "openai-chat": { type: "function", function: { name: "f", parameters: SCHEMA } },
  "openai-responses": { type: "function", name: "f", parameters: SCHEMA },
  anthropic: { name: "f", input_schema: SCHEMA },
  gemini: { functionDeclarations: [{ name: "f", parameters: SCHEMA }] },
};

/** What a client says of the calls, and what is left of it where the tool goes and a function stays. */
interface Choice {
  readonly said: Json;
  readonly left: Json;
}

const kept = (said: Json): Choice => ({ said, left: said });

function choicesOf(wire: string, tool: Json): readonly Choice[] {
  if (wire === "gemini") return [kept({ toolConfig: { functionCallingConfig: { mode: "ANY" } } })];
  if (wire === "anthropic") {
    const serial = { disable_parallel_tool_use: true };
    return [
      kept({ tool_choice: { type: "any" } }),
      { said: { tool_choice: { type: "tool", name: "t" } }, left: { tool_choice: { type: "auto" } } },
      {
        said: { tool_choice: { type: "tool", name: "t", ...serial } },
        left: { tool_choice: { type: "auto", ...serial } },
      },
    ];
  }
  const type = tool["type"];
  const isChat = wire === "openai-chat";
  const named = isChat ? { type: "function", function: { name: "f" } } : { type: "function", name: "f" };
  const allowed = (tools: readonly unknown[]): Json => {
    const list = { mode: "auto", tools };
    return { tool_choice: { type: "allowed_tools", ...(isChat ? { allowed_tools: list } : list) } };
  };
  return [
    kept({ tool_choice: "auto", parallel_tool_calls: false }),
    kept({ tool_choice: "required" }),
    { said: { tool_choice: { type } }, left: {} },
    { said: allowed([named, { type }]), left: allowed([named]) },
    { said: allowed([{ type }]), left: {} },
  ];
}

interface Asked {
  readonly body: Json;
  /** What asks for the same without the tool. */
  readonly want: Json;
}

/** A tool of a list: alone and beside a function, with each choice, and wherever else it may stand. */
function listed(wire: string, tool: Json): readonly Asked[] {
  const fn = FUNCTIONS[wire]!;
  const chosen = choicesOf(wire, tool).flatMap(({ said, left }) => [
    { body: { tools: [fn, tool], ...said }, want: { tools: [fn], ...left } },
    { body: { tools: [tool], ...said }, want: {} },
  ]);
  if (wire === "gemini") {
    const name = Object.keys(tool)[0]!;
    const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [
      ...chosen,
      { body: { tools: [{ ...fn, ...tool }] }, want: { tools: [fn] } },
      { body: { tools: tool }, want: {} },
      { body: { tools: [{ [snake]: {} }, fn] }, want: { tools: [fn] } },
      { body: { tools: [tool], tool_config: { function_calling_config: { mode: "AUTO" } } }, want: {} },
    ];
  }
  if (wire !== "openai-responses") return chosen;
  const namespace = (tools: readonly Json[]): Json => ({ type: "namespace", name: "n", description: "d", tools });
  const bringing = (...brought: readonly Json[]): Json => ({
    input: [{ role: "user", content: "Hi" }, ...brought.map((one) => ({ type: "additional_tools", tools: [one] }))],
  });
  return [
    ...chosen,
    { body: { tools: [namespace([fn, tool])] }, want: { tools: [namespace([fn])] } },
    { body: { tools: [namespace([tool]), fn] }, want: { tools: [fn] } },
    { body: bringing(fn, tool), want: bringing(fn) },
  ];
}

const ASKED = CASES.map(({ wire, body }) => {
  const tools = body["tools"] as readonly Json[] | undefined;
  const sampled = { ...body, ...(wire === "gemini" ? {} : { temperature: 0.5 }) };
  const { tools: _tools, ...others } = sampled as Json & { tools?: unknown };
  const fn = FUNCTIONS[wire]!;
  const plain = tools === undefined ? (wire === "gemini" ? {} : { temperature: 0.5 }) : others;
  const bodies: readonly Asked[] = [
    { body: sampled, want: plain },
    { body: { ...body, tools: [...(tools ?? []), fn] }, want: { tools: [fn] } },
    ...(tools?.[0] === undefined ? [] : listed(wire, tools[0])),
  ];
  return { wire, asks: JSON.stringify(body), named: tools === undefined ? Object.keys(body)[0]! : "tools.", bodies };
});

const textOf = (wire: string, body: Json): string => JSON.stringify({ ...LEAST[wire], ...body });

describe("a tool that would be refused", () => {
  test.each(ASKED)("is left out and named: $asks of $wire", ({ wire, bodies, named }) => {
    for (const [place, { body, want }] of bodies.entries()) {
      const wires = new Set<string>();
      for (const { family, endpoint } of ENDPOINTS) {
        // Each family is asked the plain way, and one of each wire in all others.
        if (!goesTo(wire, endpoint.wire.name) || (place > 0 && wires.has(endpoint.wire.name))) continue;
        wires.add(endpoint.wire.name);
        const at = `${family.name} ${endpoint.wire.name} ${JSON.stringify(body)}`;
        const wanted: string[] = [];
        const dropped: string[] = [];
        const plain = leaving(read(wire, textOf(wire, want)), family, endpoint, DROPPING, undefined, wanted);
        const asked = read(wire, textOf(wire, body));
        const left = leaving(asked, family, endpoint, DROPPING, undefined, dropped);
        expect(JSON.parse(left.toString()), at).toEqual(JSON.parse(plain.toString()));
        const names = dropped.filter((name) => !wanted.includes(name));
        expect([names.length, names[0]?.startsWith(named)], at).toEqual([1, true]);
        const strictly = (): Buffer => leaving(asked, family, endpoint, DROPPING, undefined, [], true);
        expect(strictly, at).toThrow(GatewayError);
      }
    }
  });

  test("goes by the name of its price, and what is held for it is not", () => {
    const tools = [{ type: "web_search_20250305", name: "web_search", max_uses: 3 }];
    const asked = read("anthropic", textOf("anthropic", { tools }));
    expect(asked.facts).toMatchObject({ toolCallsMax: [{ name: "web_search", calls: 3n }], roundsMax: 4 });
    const left = asked.without?.(asked.hosted ?? []);
    expect(left?.leftOut).toEqual(["tools.web_search"]);
    expect(left?.facts).toMatchObject({ toolCallsMax: undefined, roundsMax: undefined, definedToolCount: 0 });
  });

  test("stays where it has a price, and so does what is not to be had otherwise", () => {
    const priced = new TargetPermits({ ...TERMS, price: { ...PRICE, tools: [{ name: "web_search", callPicos: 1n }] } });
    const tools = [
      { type: "web_search_20250305", name: "web_search", max_uses: 3 },
      { type: "new_20990101", name: "n" },
    ];
    const asked = read("anthropic", textOf("anthropic", { tools }));
    const { family, endpoint } = ENDPOINTS.find(({ endpoint: { wire } }) => wire.name === "anthropic")!;
    const bodyAt = (permits: TargetPermits): unknown =>
      JSON.parse(leaving(asked, family, endpoint, permits).toString())["tools"];
    expect(bodyAt(priced)).toEqual(tools);
    expect(bodyAt(new TargetPermits({ ...priced.terms, knownMembersOnly: true }))).toEqual(tools.slice(0, 1));
  });

  test("takes what it names at the upstream with it", () => {
    const tools = [{ type: "file_search", vector_store_ids: ["vs_1"] }, FUNCTIONS["openai-responses"]];
    const asked = read("openai-responses", textOf("openai-responses", { tools }));
    for (const { family, endpoint } of ENDPOINTS) {
      if (!goesTo("openai-responses", endpoint.wire.name)) continue;
      expect(leaving(asked, family, endpoint, DROPPING).toString(), family.name).not.toContain("vs_1");
    }
  });
});

describe("where tokens are counted", () => {
  const counting = ENDPOINTS.filter(({ family, endpoint }) => family.counter !== undefined && endpoint === family);
  const refusing = new TargetPermits({ ...TERMS, hostedTools: "refuse" });

  test.each(CASES)("a foreign tool is refused by name, or left out: $body of $wire", ({ wire, body, param }) => {
    const asked = read(wire, textOf(wire, body));
    const plain = read(wire, textOf(wire, {}));
    expect(counting.length).toBeGreaterThan(1);
    for (const { family } of counting) {
      const counted = countedRequest(asked, family, MODEL, DROPPING);
      const bytes = family.counter?.encode(counted, MODEL, {});
      expect(bytes?.toString(), family.name).toBe(family.counter?.encode(plain, MODEL, {}).toString());
      if (family.wire.name === wire) continue;
      const refused = expect.objectContaining({ reason: "ERROR_REASON_PARAMETER_UNSUPPORTED", param });
      expect(() => countedRequest(asked, family, MODEL, refusing), family.name).toThrow(refused);
    }
  });
});

describe("in the typed form", () => {
  const fn: Tool = {
    kind: { $case: "function", value: { name: "f", description: undefined, parametersJson: "{}", strict: undefined } },
    cacheMark: undefined,
  };
  const opaque = (wire: string, tool: Json): Tool => ({
    kind: { $case: "opaque", value: { wire, json: JSON.stringify(tool) } },
    cacheMark: undefined,
  });
  const typed = (more: Partial<Prompt>): WireRequest => {
    const message = messageOf(Role.ROLE_USER, [textPart("Hi")]);
    const prompt = { ...promptOf({ messages: [message] }, "openai-chat", undefined), ...more };
    const generation = { model: "m", input: { $case: "prompt" as const, value: prompt } };
    return typedRequest({ ...generation, outputTokensMax: undefined, clamp: undefined }, prompt, false, clientWires);
  };
  const choice = (mode: ToolChoice_Mode, ...names: string[]): Pick<Prompt, "toolChoice"> => ({
    toolChoice: { mode, names, custom: false },
  });

  test.each(CASES)("it is left out where its own wire would refuse it: $body of $wire", ({ wire, body }) => {
    const tools = (body["tools"] as readonly Json[] | undefined)?.map((tool) => opaque(wire, tool)) ?? [];
    const extra = tools.length > 0 ? undefined : { wire, json: JSON.stringify(body) };
    const forced = choice(ToolChoice_Mode.MODE_REQUIRED, "t");
    const free = choice(ToolChoice_Mode.MODE_AUTO);
    const pairs: (readonly [Partial<Prompt>, Partial<Prompt>])[] = [
      [{ tools, extra }, { extra: extra && { wire, json: "{}" } }],
      [
        { tools: [fn, ...tools], extra },
        { tools: [fn], extra: extra && { wire, json: "{}" } },
      ],
    ];
    if (wire === "anthropic" && extra === undefined) {
      pairs.push([
        { tools: [fn, ...tools], ...forced },
        { tools: [fn], ...free },
      ]);
      pairs.push([{ tools, ...forced }, {}]);
    }
    for (const { family, endpoint } of ENDPOINTS) {
      if (endpoint.wire.name !== wire) continue;
      for (const [had, want] of pairs) {
        const dropped: string[] = [];
        const left = leaving(typed(had), family, endpoint, DROPPING, undefined, dropped);
        expect(left.toString(), family.name).toBe(leaving(typed(want), family, endpoint, DROPPING).toString());
        expect(dropped.length, family.name).toBe(1);
      }
    }
  });
});
