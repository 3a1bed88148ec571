/**
 * The models as Codex reads its catalogue from `GET /v1/models?client_version=...`. What it must find in each model, or
 * takes none of them, was tried with Codex 0.171: `base_instructions` among it.
 */
import { type Model, ModelKind } from "../api/index.js";

/** Codex reads a catalogue of at most 1 MiB, and this many models have less. */
const MODELS_MAX = 500;
/** How much of a tool's output goes into the conversation, as for a model that Codex knows nothing of. */
const TOOL_OUTPUT = { mode: "bytes", limit: 10_000 };

/** What the model is told first. Codex tells it nothing of its own where this is empty. */
const INSTRUCTIONS = [
  "You are a coding agent in Codex, a program in the user's terminal, and you work in the user's own files.",
  "Go on until the task is done. Read what is there before you change it, and keep to its style and to the instructions of AGENTS.md files.",
  "Change what the task needs and nothing else. Never discard changes of the user's that you did not make.",
  "Prefer `rg` to search. Run the tests or the build that shows whether your change works, where there is one.",
  "End with a short account of what you changed, with the paths of files, and of what you could not check.",
].join("\n");

/** The catalogue of those that `/v1/responses` serves. Codex keeps its own list where it is empty. */
export function codexCatalogue(models: readonly Model[]): object {
  const served = models.filter(({ kind }) => kind === undefined || kind === ModelKind.MODEL_KIND_CHAT);
  return { models: served.slice(0, MODELS_MAX).map(codexModel) };
}

function codexModel({ id, displayName, contextTokens, capabilities }: Model, place: number): object {
  const efforts = capabilities?.efforts ?? [];
  return {
    slug: id,
    display_name: displayName || id,
    description: null,
    supported_reasoning_levels: efforts.map((effort) => ({ effort, description: effort })),
    default_reasoning_level: efforts.includes("medium") ? "medium" : (efforts[0] ?? null),
    supports_reasoning_summaries: efforts.length > 0 || capabilities?.thinking === true,
    supports_parallel_tool_calls: capabilities?.tools !== false,
    input_modalities: capabilities?.images === false ? ["text"] : ["text", "image"],
    context_window: contextTokens === 0n ? null : Number(contextTokens),
    base_instructions: INSTRUCTIONS,
    // The first is the default where the user chose none.
    priority: place + 1,
    visibility: "list",
    supported_in_api: true,
    shell_type: "shell_command",
    apply_patch_tool_type: null,
    support_verbosity: false,
    default_verbosity: null,
    truncation_policy: TOOL_OUTPUT,
    experimental_supported_tools: [],
    upgrade: null,
  };
}
