/** Settings made from other programs': what is carried is right, and what is not is named with its reason. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fc } from "../support/seeds.js";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Draft, placeholders, renderDraft, setAside } from "../../src/import/draft.js";
import { importLiteLlm } from "../../src/import/litellm.js";
import { importOpenRouterPrices } from "../../src/import/openrouter-prices.js";
import { perMillion } from "../../src/import/per-million.js";
import { checkSettingsFile } from "../../src/serve/settings-check.js";
import { tollgate } from "../support/command.js";

const directory = mkdtempSync(join(tmpdir(), "tollgate-import-test-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const PRICE = "input_cost_per_token: 0.00000015, output_cost_per_token: 6e-7";

/** A deployment of a model with a price, in LiteLLM's words. */
const deployment = (name: string, params: string, info = "max_input_tokens: 1000, max_output_tokens: 100"): string =>
  `  - model_name: ${name}\n    litellm_params: { ${params}, ${PRICE} }\n    model_info: { ${info} }\n`;

const UPSTREAMS = [
  { params: "model: openai/gpt-4o-mini, api_key: os.environ/KEY", want: { family: "openai", api_key: "${KEY}" } },
  { params: "model: gpt-4o-mini", want: { family: "openai", api_key: "${OPENAI_API_KEY}" } },
  {
    params: "model: openai/qwen, api_base: http://10.0.0.5:8000/v1, api_key: none-needed",
    want: { family: "openai-compatible", api_key: "${OPENAI_COMPATIBLE_API_KEY}", base_url: "http://10.0.0.5:8000/v1" },
  },
  {
    params: "model: openai/gpt-4o, api_base: https://api.openai.com/v1",
    want: { family: "openai", api_key: "${OPENAI_API_KEY}" },
  },
  { params: "model: anthropic/claude-x, api_key: os.environ/A", want: { family: "anthropic", api_key: "${A}" } },
  { params: "model: claude-3-5-sonnet", want: { family: "anthropic", api_key: "${ANTHROPIC_API_KEY}" } },
  {
    params:
      "model: azure/eu-deployment, api_base: https://eu.openai.azure.com/, api_key: os.environ/AZ, api_version: x",
    want: { family: "azure", api_key: "${AZ}", base_url: "https://eu.openai.azure.com" },
  },
  {
    params: "model: azure/eu, api_base: https://eu.openai.azure.com, tenant_id: t, client_id: c, client_secret: hush",
    want: { family: "azure", base_url: "https://eu.openai.azure.com" },
  },
  {
    params: "model: bedrock/nova, aws_region_name: eu-west-1, aws_role_name: 'arn:aws:iam::1:role/r'",
    want: { family: "bedrock", base_url: "https://bedrock-runtime.eu-west-1.amazonaws.com" },
  },
  {
    params:
      "model: bedrock/converse/eu.amazon.nova-lite-v1:0, aws_region_name: eu-west-1, " +
      "aws_access_key_id: os.environ/I, aws_secret_access_key: os.environ/S",
    want: { family: "bedrock", api_key: "${I}:${S}", base_url: "https://bedrock-runtime.eu-west-1.amazonaws.com" },
  },
  {
    params: "model: vertex_ai/gemini-2.5-pro, vertex_project: p, vertex_location: europe-west1",
    want: {
      family: "vertex",
      base_url: "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1",
    },
  },
  { params: "model: gemini/gemini-2.5-flash, api_key: os.environ/G", want: { family: "gemini", api_key: "${G}" } },
  { params: "model: groq/llama-3.3-70b", want: { family: "groq", api_key: "${GROQ_API_KEY}" } },
  { params: "model: dashscope/qwen-max", want: { family: "qwen", api_key: "${QWEN_API_KEY}" } },
  { params: "model: openrouter/meta/llama-3", want: { family: "openrouter", api_key: "${OPENROUTER_API_KEY}" } },
  {
    params: "model: ollama_chat/qwen3, api_base: http://gpu:11434",
    want: { family: "ollama", base_url: "http://gpu:11434/v1" },
  },
  {
    params: "model: hosted_vllm/mixtral, api_base: http://gpu:8000/v1",
    want: { family: "vllm", base_url: "http://gpu:8000/v1" },
  },
];

async function check(draft: Draft): Promise<void> {
  const path = join(directory, "tollgate.yaml");
  writeFileSync(path, renderDraft(draft, "a test"));
  const env = { ...placeholders(draft), GOOGLE_APPLICATION_CREDENTIALS: undefined };
  await checkSettingsFile(path, env, "tollgate.yaml");
}

describe("a LiteLLM configuration", () => {
  test.each(UPSTREAMS)("$params goes to $want.family", async ({ params, want }) => {
    const draft = importLiteLlm(`model_list:\n${deployment("m", params)}`);
    expect([...draft.upstreams.values()]).toEqual([want]);
    expect(draft.models.get("m")).toMatchObject({ price: { input: "0.15", output: "0.6" }, context_tokens: 1000 });
    await check(draft);
  });

  test.each([
    { what: "an unknown family", params: "model: replicate/llama", reason: /'replicate' names no family/ },
    { what: "a wildcard at the upstream alone", params: 'model: "openai/*"', reason: /stands once in both names/ },
    { what: "an Azure without its resource", params: "model: azure/x", reason: /no api_base/ },
    { what: "a Claude on Vertex", params: "model: vertex_ai/claude-3", reason: /Gemini's models alone/ },
    { what: "Bedrock without a region", params: "model: bedrock/x", reason: /aws_region_name/ },
  ])("$what is left out with its reason", ({ params, reason }) => {
    const draft = importLiteLlm(`model_list:\n${deployment("m", params)}`);
    expect(draft.models.size).toBe(0);
    expect(draft.notes.map((note) => note.reason).join("\n")).toMatch(reason);
  });

  test("a mode that is not served is left out", () => {
    const draft = importLiteLlm(`model_list:\n${deployment("m", "model: openai/dall-e-3", "mode: image_generation")}`);
    expect(draft.models.size).toBe(0);
    expect(draft.notes).toHaveLength(1);
  });

  const MINI = "mode: chat, supports_vision: true, max_input_tokens: 9, max_tokens: 3, tier: paid";
  const WHOLE = `
model_list:
${deployment("gpt-4o", "model: azure/eu, api_base: https://eu.openai.azure.com, weight: 3, rpm: 100, max_tokens: 500")}
${deployment("gpt-4o", "model: openai/gpt-4o, api_key: sk-secret-in-a-file-0123456789, order: 2")}
${deployment("gpt-4o", "model: openai/gpt-4o, api_key: os.environ/OTHER")}
${deployment("GPT-Mini", "model: openai/gpt-4o-mini, temperature: 0.2, stop: [END, STOP], tpm: 9000", MINI)}
${deployment("vectors", "model: openai/text-embedding-3-small", "mode: embedding, max_input_tokens: 8191")}
  - model_name: ranks
    litellm_params: { model: cohere/rerank-v3.5, api_key: os.environ/COHERE_API_KEY }
    model_info: { mode: rerank, input_cost_per_query: 0.002, input_cost_per_token: 0.0, output_cost_per_token: 0.0 }

  - model_name: "openai/*"
    litellm_params: { model: "openai/*", api_key: os.environ/OTHER, timeout: 30, stream_timeout: 0.5 }

router_settings:
  routing_strategy: least-busy
  fallbacks: [{ gpt-4o: [GPT-Mini, gone] }]
  context_window_fallbacks: [{ GPT-Mini: [gpt-4o] }]
  model_group_alias: { best: gpt-4o, worst: nothing }
  num_retries: 4
  stream_timeout: 20
  cooldown_time: 30
litellm_settings:
  default_fallbacks: [ranks, GPT-Mini]
  drop_params: True
  cache: true
  unheard_of: 1
  request_timeout: 120
general_settings: { master_key: sk-1234, database_url: os.environ/DB }
environment_variables: { REDIS_HOST: x }
`;

  test("targets, weights, order, fallbacks and aliases are carried", async () => {
    const draft = importLiteLlm(WHOLE);
    expect(
      draft.models
        .get("gpt-4o")
        ?.targets.map(({ upstream, model, weight, priority }) => ({ upstream, model, weight, priority })),
    ).toEqual([
      { upstream: "azure", model: "eu", weight: 3, priority: undefined },
      { upstream: "openai", model: undefined, weight: undefined, priority: 2 },
      { upstream: "openai-2", model: undefined, weight: undefined, priority: undefined },
    ]);
    expect(draft.models.get("gpt-4o")?.parameters).toEqual({ default: { output_tokens_max: "500" } });
    expect(draft.models.get("gpt-4o")?.targets[0]?.limits).toEqual({ requests_per_minute: 100 });
    expect(draft.models.get("GPT-Mini")?.targets[0]).toMatchObject({
      limits: { tokens_per_minute: 9000 },
      parameters: { default: { temperature: "0.2", stop: ["END", "STOP"] } },
    });
    expect(draft.models.get("gpt-4o")?.fallbacks).toEqual(["GPT-Mini"]);
    // A default fallback is of the same kind.
    expect(draft.models.get("vectors")?.fallbacks).toBeUndefined();
    expect(draft.aliases).toEqual(new Map([["best", { model: "gpt-4o" }]]));
    expect(draft.models.get("GPT-Mini")).toMatchObject({
      kind: "chat",
      facts: { images: true },
      output_tokens_max: 3,
      on_context: "gpt-4o",
    });
    expect(draft.models.get("openai/*")).toEqual({
      targets: [{ upstream: "openai-2", model: "*", timeouts: { total: "30000ms" } }],
      fallbacks: ["GPT-Mini"],
    });
    for (const upstream of draft.upstreams.values())
      expect(upstream).toMatchObject({
        retries: { attempts: 5, cool_down_max: "30000ms" },
        timeouts: { total: "120000ms", first_output: "20000ms" },
      });
    expect(draft.models.get("vectors")).toMatchObject({ kind: "embedding" });
    expect(draft.models.get("ranks")).toMatchObject({
      kind: "rerank",
      targets: [{ upstream: "cohere", model: "rerank-v3.5" }],
      price: { units: { search_unit: "2" } },
    });
    await check(draft);
  });

  test("a model that cannot be served stays as comments, and nothing names it any more", () => {
    const draft = importLiteLlm(WHOLE);
    setAside(draft, "GPT-Mini", "it has no price");
    const text = renderDraft(draft, "a test");
    const { models, aliases } = parse(text) as Readonly<Record<string, object>>;
    expect(Object.keys(models ?? {})).toEqual(["gpt-4o", "vectors", "ranks", "openai/*"]);
    expect(JSON.stringify([models, aliases])).not.toContain("GPT-Mini");
    expect(text).toContain("#  GPT-Mini:\n#    targets:");
    expect(draft.notes.map(({ what }) => what)).toEqual(
      expect.arrayContaining(["fallbacks.gpt-4o", "the model 'GPT-Mini'", "fallbacks.openai/*"]),
    );
    // Without the # of its lines it is below models again.
    const completed = text.replace(/^models:\n/mu, `models:\n${stubOf(text)}`);
    expect(parse(completed)).toHaveProperty(["models", "GPT-Mini", "on_context"], "gpt-4o");
  });

  /** The lines of the comments at the end, without their #. */
  const stubOf = (text: string): string =>
    (text.split("# Complete")[1] ?? "").split("\n").slice(1).join("\n").replaceAll(/^#/gmu, "");

  test("everything else is named, each with a reason, and no secret is in the result", () => {
    const draft = importLiteLlm(WHOLE);
    const said = draft.notes.map(({ what }) => what).join("\n");
    for (const what of [
      "tier",
      "stream_timeout",
      "model_name (openai/*)",
      "routing_strategy",
      "fallbacks.gpt-4o",
      "worst",
    ])
      expect(said).toContain(what);
    for (const what of [
      "drop_params",
      "litellm_settings.cache",
      "unheard_of",
      "master_key",
      "database_url",
      "environment_variables",
    ])
      expect(said).toContain(what);
    for (const { reason } of draft.notes) expect(reason.length).toBeGreaterThan(10);
    const text = renderDraft(draft, "a test");
    expect(text).not.toMatch(/sk-secret|sk-1234/);
    expect(parse(text)).toHaveProperty("models");
  });

  test.each(["", "[]", "a: 1", "model_list: 3", "{{"])("%j is refused as none", (text) => {
    expect(() => importLiteLlm(text)).toThrow();
  });

  test("whatever it says, the result is settings that hold in themselves", async () => {
    const name = fc.constantFrom("a", "B", "gpt-4o", "x y", "");
    const value = fc.oneof(
      fc.constantFrom("openai/gpt-4o", "azure/x", "os.environ/K", "https://h/v1", "1e-7", "-1", "true"),
      fc.string(),
    );
    const key = fc.constantFrom(
      "rpm",
      "temperature",
      "stop",
      "max_tokens",
      "model",
      "api_base",
      "api_key",
      "weight",
      "order",
      "input_cost_per_token",
      "output_cost_per_token",
      "rpm",
      "mode",
    );
    const block = fc.dictionary(key, value, { maxKeys: 6 });
    const entry = fc.record({ model_name: name, litellm_params: block, model_info: block });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 4 }), async (list) => {
        const draft = importLiteLlm(JSON.stringify({ model_list: list }));
        expect(draft.models.size + draft.notes.length).toBeGreaterThanOrEqual(list.length > 0 ? 1 : 0);
        expect(parse(renderDraft(draft, "a test"))).toHaveProperty("upstreams");
      }),
      { numRuns: 200 },
    );
  });
});

test.each([
  ["0.00000015", "0.15"],
  ["1.5e-7", "0.15"],
  ["3E-6", "3"],
  ["0", "0"],
  ["0.000000000001", "0.000001"],
  ["0.0000000000001", undefined],
  ["1", "1000000"],
  ["-1", undefined],
  ["free", undefined],
  ["", undefined],
])("%s USD a token are %s a million", (text, want) => {
  expect(perMillion(text)).toBe(want);
});

const LIST = {
  data: [
    {
      id: "openai/gpt-4o-mini",
      context_length: 128000,
      pricing: {
        prompt: "0.00000015",
        completion: "0.0000006",
        input_cache_read: "0.000000075",
        image: "0.0002",
        request: "0",
      },
      top_provider: { max_completion_tokens: 16384 },
      architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
    },
    { id: "meta/llama-3:free", context_length: 8192, pricing: { prompt: "0", completion: "0" } },
    { id: "openrouter/auto", context_length: 1, pricing: { prompt: "-1", completion: "-1" } },
    { id: "x/pictures", pricing: { prompt: "0", completion: "0" }, architecture: { output_modalities: ["image"] } },
  ],
};

test("OpenRouter's list becomes models with their prices", async () => {
  const draft = importOpenRouterPrices(JSON.stringify(LIST));
  expect([...draft.models.keys()]).toEqual(["openai/gpt-4o-mini", "meta/llama-3:free"]);
  expect(draft.models.get("openai/gpt-4o-mini")).toEqual({
    targets: [{ upstream: "openrouter" }],
    context_tokens: 128000,
    output_tokens_max: 16384,
    price: { input: "0.15", output: "0.6", cache_read: "0.075" },
    facts: { images: true },
  });
  expect(draft.notes.map(({ what }) => what)).toEqual(["openai/gpt-4o-mini", "openrouter/auto", "x/pictures"]);
  await check(draft);
  expect(() => importOpenRouterPrices("{}")).toThrow(/GET \/api\/v1\/models/);
});

test("the command writes a file that is right, never over another, and lists what it left out", async () => {
  const [from, to] = [join(directory, "config.yaml"), join(directory, "made.yaml")];
  const unpriced = "  - { model_name: nobody-knows, litellm_params: { model: openai/nobody-knows } }\n";
  writeFileSync(from, `model_list:\n${deployment("gpt-4o", "model: openai/gpt-4o, api_version: v1")}${unpriced}`);
  const made = await tollgate(["import", "litellm", from, "--out", to]);
  expect(made).toMatchObject({ code: 0, stdout: "" });
  expect(made.stderr).toMatch(
    /api_version[^\n]*data plane[^]*'nobody-knows': it has no price[^]*1 upstreams and 1 models; 2 remarks/,
  );
  const text = readFileSync(to, "utf8");
  expect(text).toContain("litellm_params.api_version");
  const checked = await tollgate(["config", "check", to], { OPENAI_API_KEY: "sk-x" });
  expect(checked).toMatchObject({ code: 0 });
  const again = await tollgate(["import", "litellm", from, "--out", to]);
  expect(again).toMatchObject({ code: 5 });
  expect(readFileSync(to, "utf8")).toBe(text);
});
