/** What an answer costs by what it tells of itself: the model, the service tier and the tools that were really used. */
import type { Price, ToolUse, Usage } from "../api/index.js";
import { serviceTierOf } from "../api/service-tier.js";
import { costNanos, type Served } from "../pricing/price.js";
import { hasServiceTier, priceOfTool } from "../pricing/rates.js";
import type { Answered } from "../routing/answered.js";
import type { AnswerReport } from "../wire/wire.js";
import type { Plan } from "./plan.js";

/**
 * What an answer tells that was not asked: another model, another service tier, or a tool of the upstream's. It is
 * charged at its own price where that is known, else at the dearest that the hold covered.
 */
export type ServedDoubt = "other_model" | "other_tier" | "other_tool";

export interface Bill {
  readonly costNanos: bigint;
  /** What the operator pays for it; undefined where nobody knows. */
  readonly operatorCostNanos: bigint | undefined;
  readonly doubt: ServedDoubt | undefined;
}

/** What a bill is made of beside the usage. */
export interface BillTerms {
  /** The price that the request was admitted at. */
  readonly price: Price;
  /** What the operator pays for the target that answered; undefined where nobody knows. */
  readonly cost: Price | undefined;
  readonly plan: Pick<Plan, "serviceTier" | "toolCallsMax">;
  /** Undefined where the answer came from the model that was asked. */
  readonly answered: Answered | undefined;
}

export function billOf(usage: Usage, report: AnswerReport | undefined, terms: BillTerms): Bill {
  const { plan, answered } = terms;
  const price = answered?.price ?? terms.price;
  const told = report?.serviceTier ?? "";
  const serviceTier = told === "" ? plan.serviceTier : serviceTierOf(told);
  // An answer that cannot tell its calls is taken to have made all that it might.
  const toolUses = report?.toolUses ?? plan.toolCallsMax;
  const rounds = report?.rounds;
  const charged = toolUses.length === 0 ? toolUses : priced(toolUses, price, plan);
  const served: Served = { serviceTier, toolUses: charged, rounds };
  const cost = answered === undefined ? terms.cost : (answered.cost ?? terms.cost);
  return {
    costNanos: hasServiceTier(price, serviceTier)
      ? costNanos(usage, price, served)
      : dearest(usage, price, served, plan),
    operatorCostNanos: cost === undefined ? undefined : costNanos(usage, cost, { serviceTier, toolUses, rounds }),
    doubt: doubtOf(terms, serviceTier, toolUses, price),
  };
}

/** In a tier without a price: the dearer of those that the hold covered. */
function dearest(usage: Usage, price: Price, { toolUses, rounds }: Served, { serviceTier }: BillTerms["plan"]): bigint {
  const ordinary = costNanos(usage, price, { serviceTier: "", toolUses, rounds });
  const asked = costNanos(usage, price, { serviceTier, toolUses, rounds });
  return asked > ordinary ? asked : ordinary;
}

/** Calls of a tool without a price count as calls of the dearest tool that the hold covered. */
function priced(uses: readonly ToolUse[], price: Price, { toolCallsMax }: BillTerms["plan"]): readonly ToolUse[] {
  if (uses.every(({ name }) => priceOfTool(price, name) !== undefined)) return uses;
  let dearest = "";
  for (const { name } of toolCallsMax)
    if ((priceOfTool(price, name) ?? 0n) > (priceOfTool(price, dearest) ?? 0n)) dearest = name;
  return uses.map(({ name, calls }) => ({ name: priceOfTool(price, name) === undefined ? dearest : name, calls }));
}

function doubtOf(
  { answered, plan }: BillTerms,
  serviceTier: string,
  toolUses: readonly ToolUse[],
  price: Price,
): ServedDoubt | undefined {
  if (answered !== undefined) return "other_model";
  if (serviceTier !== plan.serviceTier) return "other_tier";
  for (const { name, calls } of toolUses) {
    const callsMax = plan.toolCallsMax.find((asked) => asked.name === name)?.calls ?? 0n;
    if (calls > callsMax || priceOfTool(price, name) === undefined) return "other_tool";
  }
  return undefined;
}
