/** Skips targets whose context is too small for a request, before anything is sent. */
import { GatewayError } from "../base/errors.js";
import { contextOf, withTargets } from "../routing/eligible-targets.js";
import type { ServedModel, Target } from "../routing/model.js";
import type { GatewayCall } from "./gateway.js";
import { ownInput } from "./known-input.js";
import { askedOutput, type ModelRequest } from "./turn.js";

/** A count is inexact: what is over a context by no more than this is its upstream's to judge. */
const TOLERANCE = 1.05;
/** Of what is longer than so many contexts, how long it is makes no difference. */
const COUNTED_TIMES = 2;
/** More than a picture counts for. */
const IMAGE_TOKENS = 1_000;

/**
 * The model with the targets that have room for the request and the output that it asks for: those whose context is
 * known, else those of which it is not. Rejects with CONTEXT_TOO_LONG where no target has room.
 */
export async function withRoom(
  { model, kind, request, generation }: ModelRequest,
  call: GatewayCall,
): Promise<ServedModel> {
  const { contextLeast } = model;
  if (contextLeast === undefined || (kind !== "chat" && kind !== "completion")) return model;
  const { textBytes, imageCount } = request.facts;
  const outputTokens = askedOutput({ request, generation }) ?? 0;
  // No tokenizer makes more tokens than bytes: most requests need no count.
  if (textBytes + imageCount * IMAGE_TOKENS + outputTokens <= contextLeast * TOLERANCE) return model;
  const size = (target: Target): number => contextOf(target, model.contextTokens);
  const most = Math.max(...model.targets.map(size));
  const input = await ownInput(request, model, most * COUNTED_TIMES, call);
  const needed = input.tokens + outputTokens;
  const roomy = model.targets.filter((target) => needed <= size(target) * TOLERANCE);
  const fitting = roomy.length > 0 ? roomy : model.targets.filter((target) => size(target) === 0);
  if (fitting.length > 0) return withTargets(model, fitting);
  const metadata = { model: model.id, limit: String(most), actual: String(needed) };
  throw new GatewayError("ERROR_REASON_CONTEXT_TOO_LONG", metadata);
}
