/** The capabilities of a model as its form has them: each is set, or as the gateway knows it. */
import type { FactsSpec } from "../../gen/console/settings_object.js";
import type { RequestFields } from "../api/client.ts";
import { factWords as say } from "../copy/en-objects.ts";

export type Flag = keyof typeof say.flags;
export type FactChoice = keyof typeof say.choices;

export const FLAGS = Object.keys(say.flags) as readonly Flag[];
export const FACT_CHOICES: Readonly<Record<FactChoice, readonly (keyof typeof say.options)[]>> = {
  sampling: ["both", "one", "none"],
  thinking: ["adaptive", "effort", "budget", "switch", "always", "none"],
  withoutThinking: ["disabled", "between_tools", "effort"],
};
const CHOICES = Object.keys(FACT_CHOICES) as readonly FactChoice[];

/** An empty text is as known. */
export type TypedFacts = Readonly<Record<Flag, "" | "yes" | "no">> &
  Readonly<Record<FactChoice | "efforts" | "budgets", string>>;

export function typedFacts(facts: FactsSpec | undefined): TypedFacts {
  const flags = FLAGS.map((flag) => {
    const value = facts?.[flag];
    return [flag, value === undefined ? "" : value ? "yes" : "no"];
  });
  const choices = CHOICES.map((choice) => [choice, facts?.[choice] ?? ""]);
  const budgets = Object.entries(facts?.budgets ?? {}).map(([effort, tokens]) => `${effort}: ${tokens}`);
  const lists = { efforts: (facts?.efforts ?? []).join(", "), budgets: budgets.join(", ") };
  // The edge: each member has its text.
  return { ...Object.fromEntries([...flags, ...choices]), ...lists } as TypedFacts;
}

/** Undefined where all is as known. What the form does not show stays as it was. */
export function factsSpec(typed: TypedFacts, before?: FactsSpec): RequestFields<FactsSpec> | undefined {
  const { contextTokens = 0n, outputTokensMax = 0n } = before ?? {};
  const isSaid = Object.values(typed).some((text) => text.trim() !== "");
  if (!isSaid && contextTokens === 0n && outputTokensMax === 0n) return undefined;
  const flags = FLAGS.map((flag) => [flag, typed[flag] === "" ? undefined : typed[flag] === "yes"]);
  const { sampling, thinking, withoutThinking } = typed;
  const efforts = partsOf(typed.efforts);
  const budgets = budgetsOf(typed.budgets) ?? {};
  const shown = { ...Object.fromEntries(flags), sampling, thinking, withoutThinking, efforts, budgets };
  return { ...shown, contextTokens, outputTokensMax };
}

/** Undefined where the text is none. */
export function budgetsOf(text: string): Readonly<Record<string, bigint>> | undefined {
  const pairs = partsOf(text).map((part) => /^([\w-]+)\s*[:=]\s*(\d{1,12})$/.exec(part));
  if (pairs.includes(null)) return undefined;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? "", BigInt(pair?.[2] ?? 0)]));
}

function partsOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
