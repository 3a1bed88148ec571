/** What the gateway counts beside what a family's own tokenizer does, over the corpus: the table of docs/tokens.md. */
import { growthBytes, inputTokensMax } from "../../src/pricing/input-bound.js";
import { countTokens } from "../../src/pricing/tokens.js";
import type { CorpusText } from "./corpus.js";
import type { Tokenizer } from "./tokenizers.js";

/** One text by one tokenizer. */
export interface Measured extends CorpusText {
  /** As the model's own tokenizer counts. */
  readonly tokens: number;
  /** As the gateway counts where nobody reports. */
  readonly counted: number;
  /** The most that the gateway takes the text for before it counts, without the JSON around it, which adds to it. */
  readonly bound: number;
}

export async function measure(texts: readonly CorpusText[], { model, count }: Tokenizer): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const { kind, text } of texts) {
    const counted = await countTokens(text, model);
    measured.push({ kind, text, tokens: count(text), counted, bound: boundOf(text, model) });
  }
  return measured;
}

/** The bound by bytes, as an admission finds it. */
export function boundOf(text: string, model: string): number {
  const body = Buffer.from(text);
  const textBytes = body.length + growthBytes(() => body, model);
  return inputTokensMax({ textBytes, imageCount: 0, fileCount: 0, audioCount: 0 }, { id: model, contextTokens: 0 });
}

const COLUMNS = [
  "family",
  "tokenizer",
  "own tokens",
  "counted",
  "error of the sum",
  "error p50",
  "error p95",
  "within the bound",
] as const;

/** The line of one tokenizer: errors as shares of its own count, and the texts whose bound holds. */
export function reportLine(tokenizer: Tokenizer, measured: readonly Measured[]): string {
  const sum = (of: (one: Measured) => number): number => measured.reduce((total, one) => total + of(one), 0);
  const [tokens, counted] = [sum((one) => one.tokens), sum((one) => one.counted)];
  const errors = measured
    .map((one) => Math.abs(one.counted - one.tokens) / Math.max(1, one.tokens))
    .toSorted((a, b) => a - b);
  const at = (share: number): number => errors[Math.floor(errors.length * share)] ?? 0;
  const within = measured.filter((one) => one.tokens <= one.bound).length;
  const cells = [
    tokenizer.family,
    `\`${tokenizer.name}\``,
    String(tokens),
    String(counted),
    `${counted >= tokens ? "+" : ""}${percent((counted - tokens) / tokens)}`,
    percent(at(0.5)),
    percent(at(0.95)),
    `${within} of ${measured.length}`,
  ];
  return `| ${cells.join(" | ")} |`;
}

export const REPORT_HEAD = [`| ${COLUMNS.join(" | ")} |`, `|${COLUMNS.map(() => "---|").join("")}`];

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
