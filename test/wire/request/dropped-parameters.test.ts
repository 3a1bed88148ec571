/** What a client asks for that its upstream's wire has no place for: named where left out, refused where it matters. */
import { describe, expect, test } from "vitest";
import { tabledFacts } from "../../../src/models/facts.js";
import { wire as anthropic } from "../../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../../src/wire/gemini/index.js";
import { wire as chat } from "../../../src/wire/openai-chat/index.js";
import type { Wire } from "../../../src/wire/wire.js";

const WIRES: Readonly<Record<string, Wire>> = { anthropic, chat, gemini };

/** A client's request written for a model of another wire: what was left out. Throws what refuses it. */
function leftOut(from: string, to: string, body: object, model: string): string[] {
  const [asking, answering] = [WIRES[from], WIRES[to]];
  if (asking === undefined || answering === undefined) throw new Error("no such wire");
  const bytes = Buffer.from(JSON.stringify({ ...PLAIN[from], ...body }));
  const headers = from === "gemini" ? { "x-tollgate-path-model": "asked" } : {};
  const asked = asking.readRequest({ wire: asking.name, body: bytes, headers });
  asked.checkForeign?.(model);
  const { stream, candidateCount } = asked.facts;
  const dropped: string[] = [];
  const owned = { model, facts: tabledFacts(model), outputTokensMax: 4000, stream, candidateCount };
  answering.encodeRequest(asked, owned, {}, dropped);
  return dropped;
}

const PLAIN: Readonly<Record<string, object>> = {
  chat: { model: "asked", messages: [{ role: "user", content: "hi" }] },
  anthropic: { model: "asked", max_tokens: 50, messages: [{ role: "user", content: "hi" }] },
  gemini: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
};

const CHAT = {
  messages: [{ role: "user", name: "ann", content: "hi" }],
  temperature: 0.5,
  top_p: 0.5,
  seed: 2 ** 40,
  presence_penalty: 0.1,
  frequency_penalty: 0.1,
  logit_bias: { 1: 2 },
  user: "u",
  metadata: { a: "b" },
  verbosity: "low",
  prompt_cache_key: "k",
  service_tier: "scale",
  reasoning_effort: "low",
  parallel_tool_calls: false,
  prediction: { type: "content", content: "x" },
  store: true,
  x_vendor: 1,
};

const ANTHROPIC = {
  messages: [{ role: "user", content: [{ type: "text", text: "hi", cache_control: { type: "ephemeral" } }] }],
  temperature: 0.5,
  top_k: 5,
  service_tier: "standard_only",
  thinking: { type: "enabled", budget_tokens: 2000 },
  tools: [{ type: "web_search_20250305", name: "web_search" }],
  context_management: { edits: [{ type: "clear" }] },
  mcp_servers: [],
};

const GEMINI = {
  safetySettings: [{ category: "C", threshold: "T" }],
  labels: { a: "b" },
  store: false,
  tools: [{ googleSearch: {} }],
  generationConfig: {
    temperature: 0.5,
    topK: 5,
    mediaResolution: "MEDIA_RESOLUTION_LOW",
    thinkingConfig: { thinkingBudget: 2000 },
  },
};

describe("what is left out is named", () => {
  test.each([
    {
      from: "chat",
      to: "anthropic",
      model: "claude-sonnet-4-5",
      body: CHAT,
      want: ["top_p", "temperature", "seed", "presence_penalty", "frequency_penalty", "logit_bias", "metadata"].concat([
        "verbosity",
        "prompt_cache_key",
        "service_tier",
        "prediction",
        "store",
        "x_vendor",
        "messages[0].name",
      ]),
    },
    {
      from: "chat",
      to: "gemini",
      model: "gemini-2.0-flash",
      body: CHAT,
      want: ["seed", "logit_bias", "user", "metadata", "verbosity", "prompt_cache_key", "service_tier"].concat([
        "reasoning_effort",
        "parallel_tool_calls",
        "prediction",
        "store",
        "x_vendor",
        "messages[0].name",
      ]),
    },
    {
      from: "anthropic",
      to: "chat",
      model: "gpt-5.4",
      body: ANTHROPIC,
      want: ["temperature", "top_k", "tools.web_search", "context_management", "cache_control"],
    },
    {
      from: "anthropic",
      to: "chat",
      model: "gpt-4o",
      body: ANTHROPIC,
      want: ["top_k", "thinking", "tools.web_search", "context_management", "cache_control"],
    },
    {
      from: "anthropic",
      to: "gemini",
      model: "gemini-3-flash",
      body: ANTHROPIC,
      want: ["tools.web_search", "context_management", "cache_control"],
    },
    {
      from: "gemini",
      to: "chat",
      model: "gpt-5.4",
      body: GEMINI,
      want: [
        "temperature",
        "top_k",
        "tools.googleSearch",
        "safetySettings",
        "labels",
        "generationConfig.mediaResolution",
      ],
    },
    {
      from: "gemini",
      to: "anthropic",
      model: "claude-opus-5",
      body: GEMINI,
      want: [
        "temperature",
        "top_k",
        "tools.googleSearch",
        "safetySettings",
        "labels",
        "generationConfig.mediaResolution",
      ],
    },
  ])("from $from to $to, $model", ({ from, to, model, body, want }) => {
    expect(leftOut(from, to, body, model).toSorted()).toEqual(want.toSorted());
  });

  test.each(
    Object.keys(WIRES).flatMap((from) => Object.keys(WIRES).flatMap((to) => (from === to ? [] : [{ from, to }]))),
  )("a plain request from $from to $to loses nothing", ({ from, to }) => {
    const model = { chat: "gpt-4o", anthropic: "claude-opus-5", gemini: "gemini-3-flash" }[to] ?? "";
    expect(leftOut(from, to, {}, model)).toEqual([]);
  });
});

describe("what would change the answer is refused with its name", () => {
  const url = "http://pictures.example/a.png";
  test.each([
    { from: "chat", to: "anthropic", body: { n: 2 }, param: "n" },
    { from: "chat", to: "anthropic", body: { logprobs: true }, param: "logprobs" },
    { from: "chat", to: "anthropic", body: { modalities: ["text", "audio"] }, param: "modalities" },
    { from: "chat", to: "gemini", body: { modalities: ["audio"] }, param: "modalities" },
    {
      from: "chat",
      to: "gemini",
      body: { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] },
      param: "messages[0].parts[0]",
    },
    { from: "anthropic", to: "chat", body: { container: "c_1" }, param: "container" },
    { from: "anthropic", to: "gemini", body: { container: "c_1" }, param: "container" },
    { from: "anthropic", to: "chat", body: { max_tokens: 0 }, param: "max_tokens" },
    {
      from: "anthropic",
      to: "gemini",
      body: {
        messages: [{ role: "user", content: [{ type: "image", source: { type: "file", file_id: "f_1" } }] }],
      },
      param: "messages[0].content",
    },
    { from: "gemini", to: "anthropic", body: { generationConfig: { candidateCount: 2 } }, param: "n" },
    {
      from: "gemini",
      to: "chat",
      body: { generationConfig: { responseModalities: ["IMAGE"] } },
      param: "generationConfig.responseModalities",
    },
  ])("$param, from $from to $to", ({ from, to, body, param }) => {
    expect(() => leftOut(from, to, body, "some-model")).toThrow(
      expect.objectContaining({ reason: "ERROR_REASON_PARAMETER_UNSUPPORTED", param }),
    );
  });
});
