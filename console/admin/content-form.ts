/** What an operator types about what is kept of an account's requests, and the settings that it stands for. */
import type { ContentSettings } from "../../gen/console/account_service.js";
import { contentWords } from "../copy/en-content.ts";
import { parseWhole, wrongWhole } from "../typed.ts";

/** What zero stands for. */
export const EACH_KIB = 64;
export const TOTAL_MIB = 256n;
const KIB = 1_024;
export const MIB = 1_048_576n;
const SIZE_MAX = 999_999n;

export interface TypedContent {
  readonly kept: boolean;
  readonly rules: string;
  readonly eachKib: string;
  readonly allMib: string;
}

/** What is no whole number of the form's unit is rounded up: less is never kept than before by an unchanged field. */
export function typedContent(content: ContentSettings | undefined): TypedContent {
  const { kept = false, redactions = [], bodyBytesMax = 0, totalBytesMax = 0n } = content ?? {};
  return {
    kept,
    rules: redactions.join("\n"),
    eachKib: bodyBytesMax === 0 ? "" : String(Math.ceil(bodyBytesMax / KIB)),
    allMib: totalBytesMax === 0n ? "" : String((totalBytesMax + MIB - 1n) / MIB),
  };
}

/** What is wrong with a size; undefined where it is right, or empty. */
export function wrongSize(text: string): string | undefined {
  return wrongWhole(text) ?? ((parseWhole(text) ?? 0n) > SIZE_MAX ? contentWords.wrongSize : undefined);
}

/** Of sizes that are right. */
export function contentOf({ kept, rules, eachKib, allMib }: TypedContent): ContentSettings {
  const redactions = rules
    .split("\n")
    .map((rule) => rule.trim())
    .filter((rule) => rule !== "");
  return {
    kept,
    redactions,
    bodyBytesMax: Number(parseWhole(eachKib) ?? 0n) * KIB,
    totalBytesMax: (parseWhole(allMib) ?? 0n) * MIB,
  };
}
