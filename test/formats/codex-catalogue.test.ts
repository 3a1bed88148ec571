/** The catalogue has what Codex must find in each model: where one lacks a member, Codex takes none of them. */
import { expect, test } from "vitest";
import { z } from "zod";
import { Model, ModelCapabilities, ModelKind } from "../../src/api/index.js";
import { codexCatalogue } from "../../src/formats/codex-catalogue.js";

/** What Codex 0.171 reads, by its own types: `ModelInfo` of its protocol. What has a default there is optional. */
const CODEX_MODEL = z.object({
  slug: z.string().min(1),
  display_name: z.string(),
  description: z.string().nullable(),
  default_reasoning_level: z.string().nullish(),
  supported_reasoning_levels: z.array(z.object({ effort: z.string(), description: z.string() })),
  shell_type: z.enum(["default", "local", "unified_exec", "disabled", "shell_command"]),
  visibility: z.enum(["list", "hide", "none"]),
  supported_in_api: z.boolean(),
  priority: z.int32(),
  upgrade: z.object({ model: z.string(), migration_markdown: z.string() }).nullable(),
  base_instructions: z.string().min(1),
  supports_reasoning_summaries: z.boolean(),
  support_verbosity: z.boolean(),
  default_verbosity: z.enum(["low", "medium", "high"]).nullable(),
  apply_patch_tool_type: z.enum(["freeform", "function"]).nullable(),
  truncation_policy: z.object({ mode: z.enum(["bytes", "tokens"]), limit: z.int() }),
  supports_parallel_tool_calls: z.boolean(),
  context_window: z.int().nullish(),
  experimental_supported_tools: z.array(z.string()),
  input_modalities: z.array(z.enum(["text", "image"])),
});
const CATALOGUE = z.object({ models: z.array(CODEX_MODEL) });

const NO_MODEL = Model.decode(new Uint8Array());
const NO_CAPABILITIES = ModelCapabilities.decode(new Uint8Array());

function read(models: readonly Partial<Model>[]): z.infer<typeof CATALOGUE>["models"] {
  const made = models.map((more) => Object.assign({}, NO_MODEL, more));
  return CATALOGUE.parse(JSON.parse(JSON.stringify(codexCatalogue(made)))).models;
}

test("is of the models that answer in conversations, each once and the first first", () => {
  const models = read([
    { id: "a" },
    { id: "b", kind: ModelKind.MODEL_KIND_EMBEDDING },
    { id: "c", kind: ModelKind.MODEL_KIND_COMPLETION },
    { id: "d/e", kind: ModelKind.MODEL_KIND_CHAT },
  ]);
  expect(models.map(({ slug, priority }) => [slug, priority])).toEqual([
    ["a", 1],
    ["d/e", 2],
  ]);
  expect(read([])).toEqual([]);
});

test.each([
  { name: "nothing", model: {}, want: { input_modalities: ["text", "image"], supports_parallel_tool_calls: true } },
  { name: "its window", model: { contextTokens: 128_000n }, want: { context_window: 128_000 } },
  { name: "no pictures", can: { images: false }, want: { input_modalities: ["text"] } },
  { name: "no tools", can: { tools: false }, want: { supports_parallel_tool_calls: false } },
  {
    name: "efforts",
    can: { thinking: true, efforts: ["low", "medium", "max"] },
    want: {
      supports_reasoning_summaries: true,
      default_reasoning_level: "medium",
      supported_reasoning_levels: [{ effort: "low" }, { effort: "medium" }, { effort: "max" }],
    },
  },
  { name: "other efforts", can: { efforts: ["low", "high"] }, want: { default_reasoning_level: "low" } },
  {
    name: "no thinking",
    can: { thinking: false },
    want: { supports_reasoning_summaries: false, default_reasoning_level: null, supported_reasoning_levels: [] },
  },
])("tells of a model of which is known: $name", ({ model = {}, can, want }) => {
  const capabilities = can === undefined ? undefined : Object.assign({}, NO_CAPABILITIES, can);
  expect(read([{ id: "a", capabilities, ...model }])[0]).toMatchObject(want);
});

test("is no longer than Codex reads", () => {
  const id = (at: number): string => String(at).padEnd(256, "x");
  const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
  const models = Array.from({ length: 2_000 }, (_, at) => ({
    ...NO_MODEL,
    id: id(at),
    contextTokens: 10_000_000n,
    capabilities: { ...NO_CAPABILITIES, efforts },
  }));
  expect(Buffer.byteLength(JSON.stringify(codexCatalogue(models)))).toBeLessThan(1_048_576);
});
