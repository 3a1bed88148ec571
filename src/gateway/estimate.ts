/** What a request may cost and whether it would be admitted, without running it. */
import type { EstimateCostResponse, Generation } from "../api/index.js";
import { GatewayError } from "../errors.js";
import { ceilingNanos } from "../pricing/ceiling.js";
import type { WireRequest } from "../wire/wire.js";
import { findModel } from "./admission.js";
import { countInput } from "./count.js";
import type { GatewayCall } from "./gateway.js";
import { planByBytes } from "./plan.js";
import type { Steps } from "./steps.js";

export async function estimate(
  request: WireRequest,
  generation: Generation,
  call: GatewayCall,
  steps: Steps,
): Promise<EstimateCostResponse> {
  const model = findModel(request.facts.model, call.caller, steps);
  const plan = planByBytes(request.facts, generation, model, call.caller);
  const inputTokens = await countInput(request);
  const candidateCount = plan.candidateCount;
  const least = ceilingNanos({ inputTokensMax: inputTokens, outputTokensMax: 0, candidateCount }, model.price);
  const { availableNanos } = await steps.ledger.balance(call.caller.accountId);
  const refusal =
    availableNanos >= plan.leastNanos
      ? undefined
      : new GatewayError("ERROR_REASON_BALANCE_TOO_LOW", {
          account: call.caller.accountId,
          available_nanos: String(availableNanos),
          needed_nanos: String(plan.leastNanos),
        });
  return {
    model: model.id,
    upstream: model.targets[0]?.served.id ?? "",
    inputTokens: BigInt(inputTokens),
    outputTokensMax: BigInt((plan.outputTokensMax ?? 0) * candidateCount),
    leastCostNanos: least,
    mostCostNanos: plan.amountNanos,
    admitted: refusal === undefined,
    refusal: refusal?.reason ?? "",
    refusalMessage: refusal?.message ?? "",
  };
}
