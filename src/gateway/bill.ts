/**
 * Computes what an answer costs from what the answer reports: the model, the service tier and the tools that were used.
 */
import type { Price, ToolUse, Usage } from "../api/index.js";
import { serviceTierOf } from "../api/service-tier.js";
import { endpointFor } from "../families/family.js";
import type { Plan } from "../pricing/hold-plan.js";
import { costNanos, type Served } from "../pricing/price.js";
import { hasServiceTier, priceOfTool } from "../pricing/rates.js";
import type { Answered } from "../routing/answered.js";
import type { Target } from "../routing/model.js";
import { callsMaxOf } from "../wire/request/hosted-tools.js";
import type { AnswerReport } from "../wire/wire.js";
import { greater, lesser } from "../base/money.js";
import type { MeteredTurn } from "./meter-types.js";

/**
 * What an answer reports that was not requested: another model, another service tier, or tool calls. A model or tier is
 * charged at its own price if that is known, else at the highest price that the hold covers, and never above the hold.
 * Calls that the request did not allow are not charged.
 */
export type ServedDoubt = "other_model" | "other_tier" | "other_tool";

export interface Bill {
  readonly costNanos: bigint;
  /** What the operator pays for it; undefined if unknown. */
  readonly operatorCostNanos: bigint | undefined;
  readonly doubt: ServedDoubt | undefined;
}

/** What a bill needs beside the usage. */
export interface BillTerms {
  /** The price at admission. */
  readonly price: Price;
  /** What the operator pays for the target that answered; undefined if unknown. */
  readonly cost: Price | undefined;
  readonly plan: Pick<Plan, "serviceTier" | "toolCallsMax">;
  /** The amount of the hold. What was not requested costs no more than this. */
  readonly heldNanos: bigint;
  /** Undefined if the requested model answered. */
  readonly answered: Answered | undefined;
}

/**
 * Computes the bill of a usage that the plan allows. Nothing else that the answer reports costs more than the plan
 * allows either.
 */
export function billOf(usage: Usage, report: AnswerReport | undefined, terms: BillTerms): Bill {
  const { plan, answered, heldNanos } = terms;
  const price = answered?.price ?? terms.price;
  const told = report?.serviceTier ?? "";
  const serviceTier = told === "" ? plan.serviceTier : serviceTierOf(told);
  const toolUses = toolUsesOf(report, plan);
  const rounds = report?.rounds;
  const allowed = toolUses.length === 0 ? toolUses : allowedUses(toolUses, price, plan);
  const served: Served = { serviceTier, toolUses: allowed, rounds };
  const cost = answered === undefined ? terms.cost : (answered.cost ?? terms.cost);
  const ownNanos = hasServiceTier(price, serviceTier)
    ? costNanos(usage, price, served)
    : maxCost(usage, price, served, plan);
  const doubt = doubtOf(terms, serviceTier, toolUses, price);
  return {
    costNanos:
      ownNanos > heldNanos && (doubt === "other_model" || doubt === "other_tier")
        ? lesser(ownNanos, greater(heldNanos, maxCost(usage, terms.price, served, plan)))
        : ownNanos,
    operatorCostNanos: cost === undefined ? undefined : costNanos(usage, cost, served),
    doubt,
  };
}

/** The part of the plan that was sent to this target: tools of other wires never reach it. */
export function askedOf(
  target: Target | undefined,
  { plan, request, kind }: Pick<MeteredTurn, "plan" | "request" | "kind">,
): BillTerms["plan"] {
  const { source, hosted = [] } = request;
  if (plan.toolCallsMax.length === 0 || target === undefined) return plan;
  const own = endpointFor(target.served.family, request, kind).wire.name;
  if (source?.wire === own) return plan;
  // Each tool of a typed request names its wire.
  const asked = source === undefined ? hosted.filter(({ wire }) => wire === own) : [];
  return { serviceTier: plan.serviceTier, toolCallsMax: callsMaxOf(asked) ?? [] };
}

/**
 * The tool calls that the answer reports. If its wire cannot report them and anything was delivered, each tool counts
 * as called once.
 */
export function toolUsesOf(
  report: AnswerReport | undefined,
  { toolCallsMax }: Pick<Plan, "toolCallsMax">,
): readonly ToolUse[] {
  if (report?.toolUses !== undefined) return report.toolUses;
  if (report === undefined || report.made === "nothing") return [];
  return [...new Set(toolCallsMax.map(({ name }) => name))].map((name) => ({ name, calls: 1n }));
}

/** The higher cost of the two tiers that the hold covers: the standard tier and the requested tier. */
function maxCost(usage: Usage, price: Price, { toolUses, rounds }: Served, { serviceTier }: BillTerms["plan"]): bigint {
  const ordinary = costNanos(usage, price, { serviceTier: "", toolUses, rounds });
  const asked = costNanos(usage, price, { serviceTier, toolUses, rounds });
  return greater(asked, ordinary);
}

/**
 * The calls that the request allowed. Calls of tools that were not requested, or that have no price, count as calls of
 * the most expensive requested tool, as far as the request allowed more of those.
 */
function allowedUses(told: readonly ToolUse[], price: Price, { toolCallsMax }: BillTerms["plan"]): readonly ToolUse[] {
  const allowed: ToolUse[] = [];
  let others = 0n;
  for (const { name, calls } of told) {
    const callsMax = callsAsked(name, toolCallsMax);
    if (callsMax === 0n || priceOfTool(price, name) === undefined) others += calls;
    else allowed.push({ name, calls: lesser(calls, callsMax) });
  }
  if (others === 0n) return allowed;
  let priciest = "";
  for (const { name } of toolCallsMax)
    if ((priceOfTool(price, name) ?? 0n) > (priceOfTool(price, priciest) ?? 0n)) priciest = name;
  const made = allowed.find(({ name }) => name === priciest);
  const left = callsAsked(priciest, toolCallsMax) - (made?.calls ?? 0n);
  return [...allowed, { name: priciest, calls: lesser(others, left) }];
}

/** Sums over all entries: a request may list a tool more than once. */
function callsAsked(tool: string, toolCallsMax: readonly ToolUse[]): bigint {
  let callsMax = 0n;
  for (const { name, calls } of toolCallsMax) if (name === tool) callsMax += calls;
  return callsMax;
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
    if (calls > callsAsked(name, plan.toolCallsMax) || priceOfTool(price, name) === undefined) return "other_tool";
  }
  return undefined;
}
