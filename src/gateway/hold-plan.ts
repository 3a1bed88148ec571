/** What a request may use at most, before it runs: the ground of its limits and its hold. */
import type { Generation, ToolUse } from "../api/index.js";
import { serviceTierOf } from "../api/service-tier.js";
import type { KeyBudget } from "../ledger/operation.js";
import type { Caller } from "../keys/caller.js";
import { affordableOutputTokens, ceilingNanos } from "../pricing/ceiling.js";
import { growthBytes, inputTokensMax as boundByFacts, templateTokensMax } from "../pricing/input-bound.js";
import type { ServedModel } from "../routing/model.js";
import type { RequestFacts, WireRequest } from "../wire/wire.js";
import { textBytesOf } from "./count.js";

/** The least output limit that a lowered one may come to; a shorter answer helps nobody. */
const CLAMP_TOKENS_MIN = 256;
const NO_TOOLS: readonly ToolUse[] = [];

export interface Plan {
  readonly inputTokensMax: number;
  /** The output limit of each candidate that the hold covers; undefined where the model is free and none was asked. */
  readonly outputTokensMax: number | undefined;
  readonly candidateCount: number;
  /** What is held, in nano-USD. */
  readonly amountNanos: bigint;
  /** The least that will do; less than the amount where the output limit may be lowered. */
  readonly leastNanos: bigint;
  /** The service tier that is asked for, as `serviceTierOf` says it. */
  readonly serviceTier: string;
  /** The most calls of each tool that the upstream runs. */
  readonly toolCallsMax: readonly ToolUse[];
  /** What counts against the tokens of a minute. */
  readonly tokens: number;
}

/** The plan by the cheap bound of the input: its bytes. */
export function planByBytes(request: WireRequest, generation: Generation, model: ServedModel, caller: Caller): Plan {
  return planFor(inputBound(request, model), request.facts, generation, model, caller);
}

/** The plan by an input that was counted; `inputTokens` is at least what the upstream will count. */
export function planFor(
  inputTokens: number,
  facts: RequestFacts,
  generation: Generation,
  model: ServedModel,
  caller: Caller,
): Plan {
  const candidateCount = facts.candidateCount;
  const asked = generation.outputTokensMax === undefined ? facts.outputTokensMax : Number(generation.outputTokensMax);
  const outputTokensMax = outputLimit(asked, model);
  const serviceTier = serviceTierOf(facts.serviceTier);
  const toolCallsMax = facts.toolCallsMax ?? NO_TOOLS;
  const amount = (outputTokens: number): bigint =>
    ceilingNanos(
      { inputTokensMax: inputTokens, outputTokensMax: outputTokens, candidateCount, serviceTier, toolCallsMax },
      model.price,
    );
  const amountNanos = amount(outputTokensMax ?? 0);
  const mayClamp = generation.clamp ?? !caller.settings.refuseUnaffordable;
  const least = mayClamp ? Math.min(outputTokensMax ?? 0, CLAMP_TOKENS_MIN) : (outputTokensMax ?? 0);
  return {
    inputTokensMax: inputTokens,
    outputTokensMax,
    candidateCount,
    amountNanos,
    leastNanos: mayClamp ? amount(least) : amountNanos,
    serviceTier,
    toolCallsMax,
    // A template is the upstream's: a client's limits have no room for what it never sent.
    tokens: Math.max(1, inputTokens - templateTokensMax(facts)) + (outputTokensMax ?? 0) * candidateCount,
  };
}

/** The output limit that a hold of `heldNanos` covers. */
export function coveredOutputTokens(plan: Plan, heldNanos: bigint, model: ServedModel): number | undefined {
  if (plan.outputTokensMax === undefined || heldNanos >= plan.amountNanos) return plan.outputTokensMax;
  const { inputTokensMax, outputTokensMax, candidateCount, serviceTier, toolCallsMax } = plan;
  const bounds = { inputTokensMax, outputTokensMax, candidateCount, serviceTier, toolCallsMax };
  return affordableOutputTokens(bounds, model.price, heldNanos);
}

/** The budgets of a key and of those that made it, as the ledger checks them. */
export function budgetsOf(caller: Caller): KeyBudget[] {
  const budgets: KeyBudget[] = [];
  addBudgets(budgets, caller, undefined);
  for (let { maker } = caller; maker !== undefined; maker = maker.maker) addBudgets(budgets, maker, maker.keyId);
  return budgets;
}

function addBudgets(budgets: KeyBudget[], { settings }: Caller, makerId: string | undefined): void {
  const { budgetDayNanos, budgetMonthNanos, budgetTotalNanos } = settings;
  if (budgetDayNanos > 0n) budgets.push({ period: "day", limitNanos: budgetDayNanos, makerId });
  if (budgetMonthNanos > 0n) budgets.push({ period: "month", limitNanos: budgetMonthNanos, makerId });
  if (budgetTotalNanos > 0n) budgets.push({ period: "total", limitNanos: budgetTotalNanos, makerId });
}

/** What the client asked within what the model can; without either, a free model needs no limit. */
function outputLimit(asked: number | undefined, model: ServedModel): number | undefined {
  const most = model.outputTokensMax > 0 ? model.outputTokensMax : undefined;
  if (asked === undefined) return most;
  return most === undefined ? asked : Math.min(asked, most);
}

/** The dearest of the targets, since text and pictures count differently on different models. */
function inputBound(request: WireRequest, model: ServedModel): number {
  const { contextTokens } = model;
  const { textBytes, inputCount = 1 } = request.facts;
  // What fills the context cannot become more.
  const enoughBytes = contextTokens > 0 ? contextTokens * inputCount - textBytes : Infinity;
  let bound = 0;
  for (const { model: id } of model.targets) {
    const growth = growthBytes(() => textBytesOf(request), id, request.facts.hasUnicodeEscapes, enoughBytes);
    const facts = growth === 0 ? request.facts : { ...request.facts, textBytes: textBytes + growth };
    bound = Math.max(bound, boundByFacts(facts, { id, contextTokens }));
  }
  return bound;
}
