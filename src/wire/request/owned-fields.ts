/** What the gateway owns of a body that it writes for an upstream, whatever the wire. */
import type { Prompt } from "../../api/index.js";
import { defined } from "../../base/defined.js";
import type { Member } from "../json/splice.js";
import type { ModelFacts, RequestFacts, WireRequest } from "../wire.js";
import { refuseUnsaid } from "./dropped-parameters.js";
import { withPlainMediaTypes } from "./media-type.js";
import { mergedBody, type Spelling } from "./merged-body.js";
import {
  areLimiting,
  type LimitingFacts,
  obeyFacts,
  obeyThinking,
  steersThinking,
  type ThinkingFacts,
} from "./obeyed-facts.js";
import type { ToolOrders } from "./member-gate.js";
import { type AutoMarks, withAutoMarks } from "./auto-marks.js";
import type { MemberTable } from "./members.js";
import { isSwitchedOffIn } from "./says-nothing.js";
import { overridesReasoning, type Parameters, withParameters } from "./parameters.js";
import { editCache, type PromptCache } from "./prompt-cache.js";

/** What the gateway owns in a request that goes upstream, whatever the client wrote. */
export interface OwnedFields {
  /** The model as the upstream names it. */
  readonly model: string;
  /** What is known of that model; absent where nothing is. */
  readonly facts?: ModelFacts | undefined;
  /** Of these, what the settings say: it holds for bodies of the upstream's own wire, too. Absent: nothing. */
  readonly toldFacts?: ModelFacts | undefined;
  /** The limit that the hold covers, for each candidate; undefined leaves the client's own. */
  readonly outputTokensMax: number | undefined;
  readonly stream: boolean;
  readonly candidateCount: number;
  /** What becomes of the tools that the upstream runs; absent where they stay as they came. */
  readonly toolOrders?: ToolOrders | undefined;
  /** What keeps the upstream's cache within one account; absent where accounts share it. */
  readonly cache?: PromptCache | undefined;
  /** What the gateway marks for the upstream's cache, on a wire that takes marks. Absent: nothing. */
  readonly cacheMarks?: AutoMarks | undefined;
  /** What the operator fills in, sets or drops. Absent: nothing. */
  readonly parameters?: Parameters | undefined;
}

/** What a body is written anew from. */
export interface Unwritten {
  readonly prompt: Prompt;
  /** The client's own limit stands where the gateway has none. */
  readonly owned: OwnedFields;
  /** True where the client asked in another wire, so that what this one cannot say is refused or left out. */
  readonly isForeign: boolean;
}

/** The typed prompt for a wire; `fit` changes what came in another one. Throws PARAMETER_* where it cannot be said. */
export function unwritten(
  request: WireRequest,
  owned: OwnedFields,
  wire: string,
  fit: (prompt: Prompt) => Prompt,
): Unwritten {
  const outputTokensMax = owned.outputTokensMax ?? request.facts.outputTokensMax;
  const isForeign = request.source !== undefined;
  if (isForeign) refuseUnsaid(request.prompt(), wire, owned.model);
  const wanted = withOperatorsWish(request.prompt(), owned);
  const asked = withPlainMediaTypes(owned.cacheMarks === undefined ? wanted : withAutoMarks(wanted, owned.cacheMarks));
  const { efforts } = owned.toldFacts ?? {};
  const told = isForeign ? obeyThinking(asked, { efforts }, () => undefined) : asked;
  const prompt = isForeign ? fit(told) : told;
  return { prompt, owned: { ...owned, outputTokensMax }, isForeign };
}

/** How a wire writes a prompt that came in it, and spells its members. */
export interface OwnWriter extends Spelling {
  /** `thinking` says how the model is told to think; without it the prompt is written as its client said it. */
  write(prompt: Prompt, thinking: ThinkingFacts, drop: (param: string) => void): Buffer;
  /** Members without a typed home that tell a model how to think. */
  readonly thinkingMembers?: ReadonlySet<string> | undefined;
}

/** The prompt as the operator wants requests of the model to be; the very same where nothing changes. */
function withOperatorsWish(prompt: Prompt, { parameters }: OwnedFields, members?: ReadonlySet<string>): Prompt {
  if (parameters === undefined) return prompt;
  // What steers reasoning has many names in a client's own body: none of them may stand against the operator's.
  const steered = members === undefined || !overridesReasoning(parameters) ? prompt : unsteered(prompt, members);
  return withParameters(steered, parameters);
}

function unsteered(prompt: Prompt, members: ReadonlySet<string>): Prompt {
  return obeyThinking(prompt, { thinking: "none" }, () => undefined, members);
}

/**
 * A client's own body that asks for what the operator does not want, or for what the facts say the model does not do:
 * the body without that, and else as it came. Undefined where it may pass. `dropped` takes the names of what is lost.
 */
export function againstFacts(
  own: Buffer,
  asked: () => Prompt,
  owned: OwnedFields,
  writer: OwnWriter,
  dropped: string[],
  told: LimitingFacts & ThinkingFacts = owned.toldFacts ?? {},
): Buffer | undefined {
  if (owned.parameters === undefined && !areLimiting(told) && !steersThinking(told)) return undefined;
  const drop = (param: string): void => void dropped.push(param);
  const before = asked();
  const wanted = withOperatorsWish(before, owned, writer.thinkingMembers);
  // How much the model reasons is the gateway's word then, so it is said as the model takes it.
  const facts = wanted.reasoning === before.reasoning ? told : { ...thinkingOf(owned.facts), ...defined(told) };
  const after = obeyThinking(obeyFacts(wanted, facts, drop), facts, drop, writer.thinkingMembers);
  const { thinking, withoutThinking, budgets } = facts;
  if (after === before && thinking === undefined && withoutThinking === undefined) return undefined;
  const known = new Set<string>();
  const was = writer.write(before, {}, (param) => void known.add(param));
  const is = writer.write(after, { thinking, withoutThinking, budgets }, (param) => {
    if (!known.has(param)) drop(param);
  });
  const merged = mergedBody(own, was, is, writer);
  return merged === own ? undefined : merged;
}

function thinkingOf({ thinking, efforts, withoutThinking, budgets }: ModelFacts = {}): ThinkingFacts {
  return { thinking, efforts, withoutThinking, budgets };
}

/** What becomes of the tools of a body that was changed: those that the orders were for, wherever they stand now. */
export function ordersIn(
  scan: Pick<WireRequest, "hosted">,
  { hosted = [] }: WireRequest,
  owned: OwnedFields,
): OwnedFields {
  const { toolOrders } = owned;
  if (toolOrders === undefined) return owned;
  const leaving = new Set(hosted.filter(({ place }) => toolOrders.leftOut.has(place ?? -1)).map(({ name }) => name));
  const unbounded = new Set(toolOrders.unbounded.map(({ name }) => name));
  const now = scan.hosted ?? [];
  const leftOut = new Set(now.flatMap(({ name, place }) => (place !== undefined && leaving.has(name) ? [place] : [])));
  const bounding = now.filter(({ name, callsMax }) => callsMax === undefined && unbounded.has(name));
  return { ...owned, toolOrders: { leftOut, unbounded: bounding } };
}

/** A client's own body, as the pass over it found it. */
interface OwnBody {
  readonly body: Buffer;
  readonly members: readonly Member[];
  readonly facts: RequestFacts;
  /** Says which members ask for tools, so that those that are switched off are left out. Absent: all stay. */
  readonly table?: MemberTable | undefined;
}

/** What differs of a client's own body, where its members are `model` and `stream`, and its limit is called so. */
export function ownedEdits(
  owned: OwnedFields,
  { body, members, facts, table }: OwnBody,
  limitName?: string,
): Map<string, Buffer | string | undefined> {
  const edits = new Map<string, Buffer | string | undefined>();
  if (owned.model !== facts.model) edits.set("model", JSON.stringify(owned.model));
  if (owned.stream !== facts.stream) edits.set("stream", String(owned.stream));
  const { outputTokensMax } = owned;
  if (limitName !== undefined && outputTokensMax !== undefined && outputTokensMax !== facts.outputTokensMax)
    edits.set(limitName, String(outputTokensMax));
  editCache(body, members, owned.cache, edits);
  if (table !== undefined) leaveOutUnasked(body, members, table, edits);
  return edits;
}

/**
 * A member that switches off a tool of its upstream is refused by upstreams that have no such tool, and one that says
 * who may answer is the gateway's.
 */
function leaveOutUnasked(
  body: Buffer,
  members: readonly Member[],
  { rules }: MemberTable,
  edits: Map<string, Buffer | string | undefined>,
): void {
  for (const { key, valueStart, end } of members) {
    const kind = rules.get(key)?.kind;
    if (kind === "route") edits.set(key, undefined);
    else if (kind === "tool" && isSwitchedOffIn(key, body.toString("utf8", valueStart, end))) edits.set(key, undefined);
  }
}
