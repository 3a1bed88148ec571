/**
 * The most that a request may use and cost, before it runs: the ground of its limits and its hold. This is the one door
 * to it: one question by the bytes of the request, and a second one by a count of its input.
 */
import type { Price, ToolUse } from "../api/index.js";
import { serviceTierOf } from "../api/service-tier.js";
import type { WireRequest } from "../wire/wire.js";
import { affordableOutputTokens, ceilingNanos, type RequestBounds } from "./ceiling.js";
import { growthBytes, inputTokensMax as boundByFacts, templateTokensMax } from "./input-bound.js";
import { textBytesOf } from "./request-text.js";
import { boundInput } from "./request-tokens.js";

/** The least output limit that a lowered one may come to; a shorter answer helps nobody. */
const CLAMP_TOKENS_MIN = 256;
const NO_TOOLS: readonly ToolUse[] = [];

/** What of a served model decides what a request of it may cost. */
export interface PricedModel {
  readonly price: Price;
  /** 0: unknown. */
  readonly contextTokens: number;
  /** The most output tokens of one candidate; 0: unknown, which only a free model may be. */
  readonly outputTokensMax: number;
  /** As their upstreams name it; the dearest of them counts. */
  readonly targets: readonly {
    readonly model: string;
    readonly served: { readonly family: { readonly tokenizerIsClose: boolean } };
  }[];
}

export interface PlanQuestion {
  readonly request: WireRequest;
  readonly model: PricedModel;
  /** What the caller says beside the request; undefined where it says nothing. */
  readonly outputTokensMax: number | undefined;
  /** False where an upstream may be asked that is told no limit: what none is told makes no answer shorter. */
  readonly limitIsSent: boolean;
  /** True where the output limit may be lowered to what the money covers. */
  readonly mayClamp: boolean;
  /** Who asks: counting takes turns by account. */
  readonly accountId: string;
}

/** The plan by the cheap bound of the input: its bytes. */
export function planByBytes(question: PlanQuestion): Plan {
  return new Plan(question, inputBound(question.request, question.model), false);
}

export class Plan {
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

  /** `inputTokensMax` is at least what the upstream will count. */
  constructor(
    private readonly question: PlanQuestion,
    readonly inputTokensMax: number,
    private readonly isCounted: boolean,
  ) {
    const { request, model, limitIsSent } = question;
    const { facts } = request;
    this.candidateCount = facts.candidateCount;
    this.outputTokensMax = outputLimit(limitIsSent ? askedLimit(question) : undefined, model);
    this.serviceTier = serviceTierOf(facts.serviceTier);
    this.toolCallsMax = facts.toolCallsMax ?? NO_TOOLS;
    const most = this.outputTokensMax ?? 0;
    this.amountNanos = ceilingNanos(this.#bounds(most), model.price);
    this.leastNanos =
      question.mayClamp && limitIsSent
        ? ceilingNanos(this.#bounds(Math.min(most, CLAMP_TOKENS_MIN)), model.price)
        : this.amountNanos;
    // A template is the upstream's: a client's limits have no room for what it never sent.
    this.tokens = Math.max(1, inputTokensMax - templateTokensMax(facts)) + most * this.candidateCount;
  }

  /** The plan by a count of the input; undefined where nobody can count it, or where that is no lower. */
  async byCount(): Promise<Plan | undefined> {
    if (this.isCounted) return undefined;
    const { request, model, accountId } = this.question;
    // Only where the tokenizer is the family's own is a count an upper bound.
    if (model.targets.some((target) => !target.served.family.tokenizerIsClose)) return undefined;
    // From where the plan by bytes is no higher, a count helps nobody.
    const countFor = { account: accountId, lane: "question", tokensMax: this.inputTokensMax } as const;
    let bound = 0;
    for (const target of model.targets) {
      const counted = await boundInput(request, target.model, countFor);
      if (counted === undefined) return undefined;
      bound = Math.max(bound, counted);
    }
    return bound < this.inputTokensMax ? new Plan(this.question, bound, true) : undefined;
  }

  /** The output limit that a hold of `heldNanos` covers. */
  coveredOutputTokens(heldNanos: bigint): number | undefined {
    if (this.outputTokensMax === undefined || heldNanos >= this.amountNanos) return this.outputTokensMax;
    return affordableOutputTokens(this.#bounds(this.outputTokensMax), this.question.model.price, heldNanos);
  }

  /** The output limit for upstreams that take one, of a hold that covers so much: never above the client's own. */
  sentOutputTokens(coveredTokens: number | undefined): number | undefined {
    return this.question.limitIsSent ? coveredTokens : outputLimit(askedLimit(this.question), this.question.model);
  }

  #bounds(outputTokensMax: number): RequestBounds {
    const { inputTokensMax, candidateCount, serviceTier, toolCallsMax } = this;
    const { metersMax } = this.question.request.facts;
    return { inputTokensMax, outputTokensMax, candidateCount, serviceTier, toolCallsMax, metersMax };
  }
}

function askedLimit({ request, outputTokensMax }: PlanQuestion): number | undefined {
  return outputTokensMax ?? request.facts.outputTokensMax;
}

/** What the client asked within what the model can; without either, a free model needs no limit. */
export function outputLimit(
  asked: number | undefined,
  model: Pick<PricedModel, "outputTokensMax">,
): number | undefined {
  const most = model.outputTokensMax > 0 ? model.outputTokensMax : undefined;
  if (asked === undefined) return most;
  return most === undefined ? asked : Math.min(asked, most);
}

/** The dearest of the targets, since text and pictures count differently on different models. */
function inputBound(request: WireRequest, model: PricedModel): number {
  const { contextTokens } = model;
  const { textBytes, inputCount = 1, repeated } = request.facts;
  // What fills the context cannot become more.
  const enoughBytes = contextTokens > 0 ? contextTokens * inputCount - textBytes : Infinity;
  let bound = 0;
  for (const { model: id } of model.targets) {
    const growthOf = (bytes: () => Buffer): number =>
      growthBytes(bytes, id, request.facts.hasUnicodeEscapes, enoughBytes);
    let growth = growthOf(() => textBytesOf(request));
    if (repeated !== undefined)
      growth += repeated.times * growthOf(() => textBytesOf(request).subarray(repeated.start, repeated.end));
    const facts = growth === 0 ? request.facts : { ...request.facts, textBytes: textBytes + growth };
    bound = Math.max(bound, boundByFacts(facts, { id, contextTokens }));
  }
  return bound;
}
