/** What a target is asked: its body, and what of a request is refused before anybody is asked. Nothing is sent. */
import { GatewayError } from "../base/errors.js";
import { type Family, type ModelKind, type Endpoint, endpointFor } from "../families/family.js";
import type { Prompt } from "../api/index.js";
import { JsonCursor } from "../wire/json/cursor.js";
import { isMissed } from "../wire/request/dropped-parameters.js";
import { refuseHeld } from "../wire/request/held-objects.js";
import { readMembers } from "../wire/json/splice.js";
import {
  checkExtra,
  checkHeaders,
  checkMembers,
  orderTools,
  refuseForeignTools,
  type Permits,
  type ToolOrders,
} from "../wire/request/member-gate.js";
import { withFacts } from "../wire/request/changed-facts.js";
import { factsWith, isOperatorsAlone, type Parameters } from "../wire/request/parameters.js";
import type { PromptCache } from "../wire/request/prompt-cache.js";
import { wrongValue } from "../wire/json/node.js";
import type { OwnedFields, RequestFacts, WireRequest } from "../wire/wire.js";
import type { RequestMarks } from "./cache-marking.js";
import type { ServedModel, Target } from "./model.js";
import type { Containers } from "./containers.js";
import { firstTargets, targetsFor } from "./pick.js";
import { withoutLacking } from "./left-out-tools.js";
import { preferredTargets } from "./preferred-targets.js";
import { TargetPermits, termsOf } from "./permits.js";

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
  /** Marks the prompt for caches. Absent: the gateway marks nothing. */
  readonly marks?: RequestMarks | undefined;
}

export interface UpstreamRequest {
  readonly request: WireRequest;
  readonly kind: ModelKind;
  readonly target: Target;
  /** How the target is spoken to. */
  readonly endpoint: Endpoint;
  readonly owned: OwnedFields;
  readonly strict: boolean;
  /** What goes with the request beside the target's headers; undefined for nothing. */
  readonly ownHeaders?: Readonly<Record<string, string>> | undefined;
  /** What the request may ask of the target. */
  readonly permits: TargetPermits;
}

/** What of it decides the body. */
export interface UpstreamBodyRequest extends Pick<UpstreamRequest, "request" | "endpoint" | "owned" | "strict"> {
  readonly permits: Permits;
  readonly target: Pick<Target, "model" | "facts">;
}

/** The headers for the target: mostly the object that it keeps, by which they are known again. */
export function headersFor({ target: { served }, request }: UpstreamRequest): Readonly<Record<string, string>> {
  const more = served.family.requestHeaders?.(request);
  return more === undefined ? served.headers : { ...served.headers, ...more };
}

/** False where one of them may be asked that takes no limit of the output: only the model's own then bounds it. */
export function takesLimit(model: ServedModel, request: WireRequest, kind: ModelKind): boolean {
  const takes = ({ served }: Target): boolean => endpointFor(served.family, request, kind).takesLimit !== false;
  return targetsFor(model, kind).every(takes);
}

/** True where the target answers as a stream alone, and a whole answer is asked: it is gathered from the stream. */
export function mustGather({ facts }: Target, { kind, stream }: Asking): boolean {
  return facts.streamOnly === true && !stream && kind === "chat";
}

/** What the gateway owns of the request for this target. A request that is not sent needs no `cache`. */
export function ownedFor(target: Target, asking: Asking, cache?: PromptCache): OwnedFields {
  const parameters = asking.kind === "chat" ? target.parameters : undefined;
  return {
    model: target.model,
    facts: target.facts,
    toldFacts: target.toldFacts,
    outputTokensMax: lowered(asking.outputTokensMax, parameters?.set.output_tokens_max),
    stream: asking.stream || mustGather(target, asking),
    candidateCount: asking.candidateCount,
    cache,
    cacheMarks: asking.marks?.of(target),
    parameters,
  };
}

/** The hold covers the limit that was asked, so that a target's own may lower it and never raise it. */
function lowered(asked: number | undefined, own: number | undefined): number | undefined {
  return asked === undefined || own === undefined ? (asked ?? own) : Math.min(asked, own);
}

/**
 * The body for the target. `dropped` takes the names of parameters that its wire has no place for. Throws PARAMETER_*
 * where the request cannot be asked of it.
 */
export function bodyFor(asked: UpstreamBodyRequest, dropped: string[]): Buffer {
  const { parameters } = asked.owned;
  const request = withoutLacking(parametrized(asked.request, parameters), asked.endpoint, asked.permits);
  const question = request === asked.request ? asked : { ...asked, request };
  const { target, endpoint, owned, strict } = question;
  const { source, leftOut } = request;
  const known = dropped.length;
  if (leftOut !== undefined) dropped.push(...leftOut);
  checkFacts(request, target);
  const isOwnWire = source !== undefined && source.wire === endpoint.wire.name;
  if (source !== undefined && !isOwnWire) {
    checkForeign(request, target.model, dropped);
    if (request.facts.hasDeferredTools === true) dropped.push("tools.defer_loading");
  }
  if (request.held !== undefined) throw refuseHeld(request.held);
  const orders = toolOrders(request, question, dropped);
  const ordered = orders === undefined ? owned : { ...owned, toolOrders: orders };
  const body = endpoint.wire.encodeRequest(request, ordered, endpoint.dialect, dropped);
  checkBody(body, isOwnWire, question, dropped);
  if (source === undefined && request.isPlain !== true) checkTyped(body, question);
  if (dropped.length > known) {
    const prompt = (): Prompt => request.prompt();
    const isAsked = (name: string): boolean =>
      parameters === undefined || !isOperatorsAlone(name, prompt(), parameters);
    const missed = dropped.splice(known).filter((name) => isAsked(name) && isMissed(name, prompt, target.facts));
    dropped.push(...missed);
  }
  if (strict && dropped.length > 0) throw unplaced(dropped, target.model);
  return body;
}

/** The request with what the parameters change of its facts; the very same without parameters. */
export function parametrized(request: WireRequest, parameters: Parameters | undefined): WireRequest {
  if (parameters === undefined) return request;
  return withFacts(request, { ...request.facts, ...factsWith(request.facts, parameters) });
}

/** The same, at once for a short body, and by the thread beside the event loop for a long one. */
export function askBody(question: UpstreamRequest, dropped: string[]): Buffer | Promise<Buffer> {
  const { request, target, owned, strict, kind, permits } = question;
  if (request.long === undefined) return bodyFor(question, dropped);
  const { model, facts, served } = target;
  const order = { family: served.family.name, kind, model, facts, owned, strict, terms: permits.terms };
  const unknown: string[] = [];
  const writing = request.long.write(order, dropped, unknown);
  return writing.finally(() => {
    for (const name of unknown) permits.passes(name);
  });
}

/** Throws PARAMETER_UNSUPPORTED for what a request asks for that only the upstreams of its own wire can do. */
export function checkForeign(request: WireRequest, model: string, dropped: string[] = []): void {
  request.checkForeign?.(model, dropped);
  refuseForeignTools(request.hosted ?? [], model);
}

/**
 * The request as its tokens are counted at the target, by the family's own wire. Throws PARAMETER_* for what a
 * generation would be refused for.
 */
export function countedRequest(asked: WireRequest, family: Family, model: string, permits: Permits): WireRequest {
  const request = withoutLacking(asked, family, permits);
  const { source, facts, members, held } = request;
  const isOwnWire = source?.wire === family.wire.name;
  if (source !== undefined && !isOwnWire) checkForeign(request, model);
  if (held !== undefined) throw refuseHeld(held);
  if (!isOwnWire || members === undefined) return request;
  const leaving = { body: source.body, members, facts, isOwn: true, dropped: [], model };
  checkMembers(leaving, family.members ?? family.wire.members, permits);
  return request;
}

/** What becomes of the tools that the upstream would run; nearly no request has any. */
function toolOrders(
  { facts, source, hosted }: WireRequest,
  question: UpstreamBodyRequest,
  dropped: string[],
): ToolOrders | undefined {
  if (hosted === undefined || hosted.length === 0) return undefined;
  const { target, endpoint, permits, strict } = question;
  // Another wire's tools stay behind.
  const coming = hosted.filter(({ wire = source?.wire }) => wire === endpoint.wire.name);
  if (coming.length === 0) return undefined;
  return orderTools(coming, { facts, model: target.model }, permits, !strict, dropped);
}

/**
 * Checks what leaves: of a client's own bytes the members that the pass over them found, since all that was written
 * over them is ours; of what was written anew, or came from somebody who found none, every member.
 */
function checkBody(body: Buffer, isOwnWire: boolean, question: UpstreamBodyRequest, dropped: readonly string[]): void {
  const { request, target, endpoint, permits } = question;
  const { facts, source } = request;
  const table = endpoint.members ?? endpoint.wire.members;
  // Where the operator changes parameters, what the client wrote of them is not what leaves.
  const found = isOwnWire && question.owned.parameters === undefined ? request.members : undefined;
  const isOwn = found !== undefined && source !== undefined;
  const checked = isOwn ? source.body : body;
  const members = found ?? readMembers(new JsonCursor(body));
  checkMembers({ body: checked, members, facts, isOwn, dropped, model: target.model }, table, permits);
  if (isOwnWire && source !== undefined) checkHeaders(source.headers, table, permits, target.model);
}

/** What a body has of media, whose tokens do not follow from their bytes: of files and sounds nobody knows how many. */
const mediaOf = ({ imageCount, fileCount, audioCount }: RequestFacts): number => imageCount + fileCount + audioCount;
const unknownOf = ({ fileCount, audioCount }: RequestFacts): number => fileCount + audioCount;

/**
 * Checks what was written from the typed form, by the table and by the wire's own reader: that it asks for no more than
 * was counted and held for, and names nothing that the upstream keeps. Throws PARAMETER_* where it does.
 */
function checkTyped(body: Buffer, { request, endpoint }: UpstreamBodyRequest): void {
  const { extra } = request.prompt();
  if (extra !== undefined && extra.wire === endpoint.wire.name)
    checkExtra(extra.json, endpoint.members ?? endpoint.wire.members);
  const read = endpoint.wire.readWritten?.(body);
  if (read === undefined) return;
  if (read.held !== undefined) throw refuseHeld(read.held);
  const known = new Set(request.hosted?.map(({ name }) => name));
  const unknown = read.hosted?.find(({ name, kind, isMember }) => !isMember && kind !== "free" && !known.has(name));
  if (unknown !== undefined)
    throw wrongValue(unknown.param, "in the typed form a tool stands among the prompt's tools");
  const { facts } = request;
  if (mediaOf(read.facts) > mediaOf(facts) || unknownOf(read.facts) > unknownOf(facts))
    throw wrongValue("generation.prompt", "it holds media where only parts of messages may have them");
}

/** Throws PARAMETER_UNSUPPORTED for what the model is known not to take, whatever the wire. */
function checkFacts({ facts }: WireRequest, { facts: can, model }: UpstreamBodyRequest["target"]): void {
  const refuse = (param: string, problem: string): never => {
    throw new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param, problem, model });
  };
  if (can.images === false && facts.imageCount > 0) refuse("messages", "it sees no pictures");
  if (can.tools === false && (facts.toolCount ?? 0) > 0) refuse("tools", "it calls no tools");
}

function unplaced(params: readonly string[], model: string): GatewayError {
  const param = [...new Set(params)].join(", ").slice(0, PARAMS_CHARACTERS_MAX);
  const problem = "it does not support this parameter, and the key is strict";
  return new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param, problem, model });
}

/** What a request would be refused with before it is sent. */
export interface DryRun {
  /** By the targets that would refuse it. */
  readonly refusals: ReadonlyMap<Target, GatewayError>;
  /** Where none of those takes it that may be tried first: a refusal before anything was sent ends a request. */
  readonly refusal: GatewayError | undefined;
}

/** Writes the bodies that the targets would be asked with, and sends none. */
export async function dryRun(
  request: WireRequest,
  model: ServedModel,
  asking: Asking,
  nowMs: number,
  accountId: string,
  containers: Containers,
): Promise<DryRun> {
  const preferred = preferredTargets(targetsFor(model, asking.kind), request.facts.route);
  const targets = containers.holders(preferred, request, accountId);
  const refusals = new Map<Target, GatewayError>();
  for (const target of targets) {
    const endpoint = endpointFor(target.served.family, request, asking.kind);
    try {
      const owned = ownedFor(target, asking);
      const terms = termsOf(target, model, containers.heldAt(target, request, accountId));
      const permits = new TargetPermits(terms);
      const { kind, strict } = asking;
      await askBody({ request, kind, target, endpoint, owned, strict, permits }, []);
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
