/** How the models of this wire differ, as data. */
import type { Dialect } from "../wire.js";

/** What a group of models can; the group is told by the start of the model's name. */
export type GeminiModels = {
  readonly startsWith: string;
  /** How its thinking is steered: by a level, by a budget of tokens, or not at all. */
  readonly thinking: "level" | "budget" | "none";
  /** The levels that it knows, from the lowest. */
  readonly levels: readonly string[];
  /** The budget of tokens that stands for each effort, from none to high. */
  readonly budgets: Readonly<Record<string, number>>;
  /** True where a replayed call of a tool must bring the signature that it came with. */
  readonly needsSignature: boolean;
  /** True where the result of a tool may hold pictures. */
  readonly mediaInResults: boolean;
};

/** A family names the groups that differ; the first that fits holds, and what none fits is as the newest. */
export type GeminiDialect = { readonly models: readonly GeminiModels[] };

export const NEWEST: GeminiModels = {
  startsWith: "",
  thinking: "level",
  levels: ["MINIMAL", "LOW", "MEDIUM", "HIGH"],
  budgets: {},
  needsSignature: true,
  mediaInResults: true,
};

/** What the model can, by the family's groups. */
export function modelsOf(dialect: Dialect, model: string): GeminiModels {
  const groups = dialect["models"];
  if (!isGroups(groups)) return NEWEST;
  const name = model.slice(model.lastIndexOf("/") + 1);
  return groups.find((group) => name.startsWith(group.startsWith)) ?? NEWEST;
}

/** A dialect is a family's own constant, so its shape is looked at only as far as a slip could go. */
function isGroups(value: unknown): value is readonly GeminiModels[] {
  return Array.isArray(value) && value.every((group) => typeof group === "object" && group !== null);
}
