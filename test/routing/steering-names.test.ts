/**
 * Members that steer, as a client writes them to each family: a table by hand, so that a row of the gateway's own
 * tables which becomes "plain" fails here. What the product prices says so, and passes only where it has that price.
 */
import { expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import type { Permits } from "../../src/wire/request/member-gate.js";
import { ENDPOINTS, LEAST, leaving, LIMIT, read, UNPRICED } from "./asked.js";

interface Row {
  readonly family: string;
  readonly wire: "openai-chat" | "openai-responses" | "openai-completions" | "anthropic" | "gemini";
  readonly member: string;
  readonly value: unknown;
  /** As the refusal names it, where that is not the member. */
  readonly param?: string;
  /** The tool or the service tier under which the model's price lets it pass; undefined where it never passes. */
  readonly price?: string;
}

const chat = { wire: "openai-chat" } as const;
const responses = { wire: "openai-responses" } as const;
const toClaude = { family: "anthropic", wire: "anthropic" } as const;
const toGemini = { family: "gemini", wire: "gemini" } as const;

/** What a server hands to its own function for templates, whose other arguments these are. */
const TEMPLATES = ["chat_template", "tokenize", "tools", "conversation", "documents"].map((name): Row => {
  const param = `chat_template_kwargs.${name}`;
  return { family: "vllm", wire: "openai-chat", member: "chat_template_kwargs", value: { [name]: "x" }, param };
});

const ROWS: readonly Row[] = [
  // Who answers: OpenRouter's ways to another model or upstream, beside those that the gateway obeys itself.
  { family: "openrouter", ...chat, member: "plugins", value: [{ id: "web" }] },
  { family: "openrouter", ...chat, member: "route", value: "fallback" },
  { family: "openrouter", ...chat, member: "preset", value: "dear" },
  { family: "openrouter", ...chat, member: "transforms", value: ["middle-out"] },
  { family: "openrouter", ...chat, member: "service_tier", value: "priority", price: "priority" },
  { family: "openrouter", ...chat, member: "web_search_options", value: {}, price: "web_search" },
  // What it costs, and whose it is: Anthropic's.
  { ...toClaude, member: "speed", value: "fast", price: "fast" },
  { ...toClaude, member: "inference_geo", value: "us", price: "us" },
  { ...toClaude, member: "service_tier", value: "priority", price: "priority" },
  { ...toClaude, member: "mcp_servers", value: [{ type: "url", url: "https://a/b", name: "a" }], price: "mcp" },
  { ...toClaude, member: "container", value: "container_of_another" },
  { ...toClaude, member: "fallbacks", value: [{ model: "dear" }] },
  // Gemini's.
  { ...toGemini, member: "serviceTier", value: "priority", price: "priority" },
  { ...toGemini, member: "cachedContent", value: "cachedContents/of-another" },
  { ...toGemini, member: "tools", value: [{ googleSearch: {} }], param: "tools[0].googleSearch", price: "web_search" },
  {
    ...toGemini,
    member: "tools",
    value: [{ fileSearch: { fileSearchStoreNames: ["s"] } }],
    param: "tools[0].fileSearch",
  },
  // How many answers are made of one: servers of one's own.
  { family: "openai-compatible", ...chat, member: "use_beam_search", value: true },
  { family: "openai-compatible", ...chat, member: "best_of", value: 8 },
  { family: "vllm", ...chat, member: "use_beam_search", value: true },
  { family: "vllm", ...chat, member: "best_of", value: 8 },
  { family: "vllm", ...chat, member: "priority", value: -1 },
  { family: "vllm", ...chat, member: "kv_transfer_params", value: { remote_host: "a" } },
  { family: "llamacpp", ...chat, member: "id_slot", value: 1 },
  { family: "openai-compatible", ...chat, member: "disaggregated_params", value: { ctx_request_id: 7 } },
  { family: "openai-compatible", ...chat, member: "nvext", value: { backend_instance_id: 1 } },
  { family: "openai-compatible", ...chat, member: "routed_dp_rank", value: 1 },
  { family: "vllm", ...chat, member: "ec_transfer_params", value: { host: "a" } },
  // Another text than the messages that were counted, or a program that makes one.
  { family: "vllm", ...chat, member: "chat_template", value: "{% for i in range(10**9) %}x{% endfor %}" },
  { family: "vllm", ...chat, member: "prompt_embeds", value: "AAAA" },
  { family: "vllm", wire: "openai-completions", member: "prompt_embeds", value: "AAAA" },
  ...TEMPLATES,
  // OpenAI's, in both of its wires.
  { family: "openai", ...chat, member: "service_tier", value: "priority", price: "priority" },
  { family: "openai", ...chat, member: "web_search_options", value: {}, price: "web_search" },
  { family: "openai", ...responses, member: "service_tier", value: "flex", price: "flex" },
  { family: "openai", ...responses, member: "previous_response_id", value: "resp_of_another" },
  { family: "openai", ...responses, member: "conversation", value: "conv_of_another" },
  {
    family: "openai",
    ...responses,
    member: "tools",
    value: [{ type: "image_generation" }],
    param: "tools[0]",
    price: "image_generation",
  },
  {
    family: "openai",
    ...responses,
    member: "tools",
    value: [{ type: "file_search", vector_store_ids: ["vs_1"] }],
    param: "tools[0].vector_store_ids",
  },
  {
    family: "openai",
    ...responses,
    member: "tools",
    value: [{ type: "code_interpreter", container: { type: "auto", file_ids: ["file_1"] } }],
    param: "tools[0].container.file_ids",
  },
  {
    family: "openai",
    ...responses,
    member: "tools",
    value: [{ type: "image_generation", input_image_mask: { file_id: "file_1" } }],
    param: "tools[0].input_image_mask.file_id",
  },
];

/** Prices one tool or tier, and nothing else; containers are somebody else's. */
function priced(price: string | undefined): Permits {
  return {
    ...UNPRICED,
    tool: (name) => (price === "*" || name === price ? "priced" : "unpriced"),
    tier: (name) =>
      UNPRICED.tier(name) === "ordinary" ? "ordinary" : price === "*" || name === price ? "priced" : "unpriced",
  };
}

/** The body that the family would get, or the refusal. */
function sent({ family: name, wire, member, value }: Row, permits: Permits): string | GatewayError {
  const found = ENDPOINTS.find(({ family, endpoint }) => family.name === name && endpoint.wire.name === wire);
  if (found === undefined) throw new Error(`${name} is not spoken to over ${wire}`);
  const body = JSON.stringify({ ...LEAST[wire], [member]: value });
  try {
    return leaving(read(wire, body), found.family, found.endpoint, permits).toString();
  } catch (error) {
    return GatewayError.from(error);
  }
}

const title = "$member $value to $family over $wire";

test.each(ROWS)(`${title} is refused where it has no price`, (row) => {
  const refusal = sent(row, UNPRICED);
  expect(refusal).toBeInstanceOf(GatewayError);
  expect(refusal).toMatchObject({ http: 400, metadata: { param: row.param ?? row.member } });
});

test.each(ROWS.filter(({ price }) => price === undefined))(`${title} is refused whatever has a price`, (row) => {
  const refusal = sent(row, priced("*"));
  expect(refusal).toBeInstanceOf(GatewayError);
  expect(refusal).toMatchObject({ http: 400, metadata: { param: row.param ?? row.member } });
});

test.each(ROWS.filter(({ price }) => price !== undefined))(`${title} passes with the price of $price alone`, (row) => {
  expect(sent(row, priced(`${row.price}-of-another`))).toBeInstanceOf(GatewayError);
  const body = sent(row, priced(row.price));
  expect(JSON.parse(String(body))).toHaveProperty(row.member);
});

test.each(["llamacpp", "openai-compatible"])("n_predict to %s is the limit of the hold, whatever it says", (family) => {
  const body = String(sent({ family, ...chat, member: "n_predict", value: 99_999 }, UNPRICED));
  expect(body).not.toContain("99999");
  expect(body).not.toContain("n_predict");
  expect(JSON.parse(body)).toMatchObject({ max_tokens: LIMIT });
});
