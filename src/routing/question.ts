/** What a target is asked: its body, and what of a request is refused before anybody is asked. Nothing is sent. */
import { GatewayError } from "../errors.js";
import { type ModelKind, type Speech, speechFor } from "../families/family.js";
import type { OwnedFields, WireRequest } from "../wire/wire.js";
import type { ServedModel, Target } from "./model.js";
import { firstTargets } from "./pick.js";

const PARAMS_CHARACTERS_MAX = 1_000;

/** How a request is asked, whichever target it goes to. */
export interface Asking {
  /** What the model is asked for. */
  readonly kind: ModelKind;
  readonly outputTokensMax: number | undefined;
  readonly stream: boolean;
  readonly candidateCount: number;
  /** True where a request is refused rather than sent without some of its parameters. */
  readonly strict: boolean;
}

export interface Question {
  readonly request: WireRequest;
  readonly kind: ModelKind;
  readonly target: Target;
  /** How the target is spoken to. */
  readonly speech: Speech;
  readonly owned: OwnedFields;
  readonly strict: boolean;
}

/** What of it decides the body. */
export interface BodyQuestion extends Pick<Question, "request" | "speech" | "owned" | "strict"> {
  readonly target: Pick<Target, "model" | "facts">;
}

/** The targets that can be asked for this at all. */
export function targetsFor(model: ServedModel, kind: ModelKind): readonly Target[] {
  if (kind === "chat") return model.targets;
  return model.targets.filter((target) => target.served.family.endpoints?.[kind] !== undefined);
}

/** True where the target answers as a stream alone, and a whole answer is asked: it is gathered from the stream. */
export function mustGather({ facts }: Target, { kind, stream }: Asking): boolean {
  return facts.streamOnly === true && !stream && kind === "chat";
}

/** What the gateway owns of the request for this target. */
export function ownedFor(target: Target, asking: Asking): OwnedFields {
  return {
    model: target.model,
    facts: target.facts,
    outputTokensMax: asking.outputTokensMax,
    stream: asking.stream || mustGather(target, asking),
    candidateCount: asking.candidateCount,
  };
}

/**
 * The body for the target. `dropped` takes the names of parameters that its wire has no place for. Throws PARAMETER_*
 * where the request cannot be asked of it.
 */
export function bodyFor({ request, target, speech, owned, strict }: BodyQuestion, dropped: string[]): Buffer {
  const { source } = request;
  checkFacts(request, target);
  if (source !== undefined && source.wire !== speech.wire.name) request.checkForeign?.(target.model, dropped);
  const body = speech.wire.encodeRequest(request, owned, speech.dialect, dropped);
  if (strict && dropped.length > 0) throw unplaced(dropped, target.model);
  return body;
}

/** The same, at once for a short body, and by the thread beside the event loop for a long one. */
export function askBody(question: Question, dropped: string[]): Buffer | Promise<Buffer> {
  const { request, target, owned, strict, kind } = question;
  if (request.long === undefined) return bodyFor(question, dropped);
  const { model, facts, served } = target;
  return request.long.write({ family: served.family.name, kind, model, facts, owned, strict }, dropped);
}

/** Throws PARAMETER_UNSUPPORTED for what the model is known not to take, whatever the wire. */
function checkFacts({ facts }: WireRequest, { facts: can, model }: BodyQuestion["target"]): void {
  if (can.images !== false || facts.imageCount === 0) return;
  const problem = "it sees no pictures";
  throw new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param: "messages", problem, model });
}

function unplaced(params: readonly string[], model: string): GatewayError {
  const param = [...new Set(params)].join(", ").slice(0, PARAMS_CHARACTERS_MAX);
  const problem = "it has no place for this, and the key is strict";
  return new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param, problem, model });
}

/** What a request would be refused with before it is sent. */
export interface Foresight {
  /** By the targets that would refuse it. */
  readonly refusals: ReadonlyMap<Target, GatewayError>;
  /** Where none of those takes it that may be tried first: a refusal before anything was sent ends a request. */
  readonly refusal: GatewayError | undefined;
}

/** Writes the bodies that the targets would be asked with, and sends none. */
export async function foresee(
  request: WireRequest,
  model: ServedModel,
  asking: Asking,
  nowMs: number,
  accountId: string,
): Promise<Foresight> {
  const targets = targetsFor(model, asking.kind);
  const refusals = new Map<Target, GatewayError>();
  for (const target of targets) {
    const speech = speechFor(target.served.family, request, asking.kind);
    try {
      const owned = ownedFor(target, asking);
      await askBody({ request, kind: asking.kind, target, speech, owned, strict: asking.strict }, []);
    } catch (error) {
      refusals.set(target, withModel(GatewayError.from(error), model.id));
    }
  }
  const first = firstTargets(targets, nowMs, accountId);
  const [one] = first;
  const isRefused = one !== undefined && first.every((target) => refusals.has(target));
  return { refusals, refusal: isRefused ? refusals.get(one) : undefined };
}

/** The error as the client is told it: with the name that the client knows the model by. */
export function withModel(error: GatewayError, model: string): GatewayError {
  const { message, ...facts } = error.metadata;
  const metadata = { ...facts, model, ...(message === undefined ? {} : { message }) };
  return new GatewayError(error.reason, metadata, { cause: error.cause ?? error });
}
