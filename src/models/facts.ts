/** What is known of models by their names: the one place that asks a name. */
import type { ModelFacts } from "../wire/wire.js";
import { claudeFacts } from "./claude.js";
import { namedFacts } from "./named.js";

const NOTHING_KNOWN: ModelFacts = {};
/** Names that the tokenizer's package may know. */
const OPENAIS = /^(gpt-|o\d|chatgpt-|codex-)/;

/** What our own tables tell of a model as its upstream names it. */
export function tabledFacts(model: string): ModelFacts {
  const name = nameOf(model);
  return claudeFacts(name) ?? namedFacts(name) ?? NOTHING_KNOWN;
}

/** The same with what a package tells beside them; a model that neither knows has no facts. */
export async function knownFacts(model: string): Promise<ModelFacts> {
  return OPENAIS.test(nameOf(model)) ? (await loadFacts())(model) : tabledFacts(model);
}

/** Loads the package, so that facts of any model are known at once. */
export async function loadFacts(): Promise<(model: string) => ModelFacts> {
  // The models of the tokenizer's package alone, without its tokens: 10 ms and 3 MB, when first asked.
  const models: Readonly<Record<string, unknown>> = await import("gpt-tokenizer/models.gen");
  return (model) => {
    const name = nameOf(model);
    const found = OPENAIS.test(name) && Object.hasOwn(models, name) ? models[name] : undefined;
    const tabled = tabledFacts(model);
    return typeof found === "object" && found !== null ? { ...packagedFacts(found), ...tabled } : tabled;
  };
}

/** What stands before a slash, as in `openai/gpt-5`, tells who serves it, and nothing of the model. */
function nameOf(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1).toLowerCase();
}

function packagedFacts(model: object): ModelFacts {
  const modalities: unknown = Reflect.get(model, "modalities");
  const input: unknown = typeof modalities === "object" && modalities !== null ? Reflect.get(modalities, "input") : [];
  return {
    contextTokens: tokens(model, "context_window"),
    outputTokensMax: tokens(model, "max_output_tokens"),
    images: holds(input, "image"),
    tools: holds(Reflect.get(model, "supported_features"), "function_calling"),
    schemas: holds(Reflect.get(model, "supported_features"), "structured_outputs"),
  };
}

/** True where a list names the word; undefined where there is no list, or it is empty, which tells nothing. */
function holds(list: unknown, word: string): boolean | undefined {
  return Array.isArray(list) && list.length > 0 ? list.includes(word) : undefined;
}

function tokens(model: object, member: string): number | undefined {
  const value: unknown = Reflect.get(model, member);
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
