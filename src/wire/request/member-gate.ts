/**
 * What of a request may go upstream, by the table of its wire and family: the one place where that is decided, for a
 * client's own bytes, for what was translated from another wire, and for what a typed request brings along.
 */
import type { GatewayError } from "../../base/errors.js";
import { unsupported } from "../error/refusals.js";
import type { HostedTool } from "./hosted-tools.js";
import { JsonCursor } from "../json/cursor.js";
import { wrongValue } from "../json/node.js";
import { type Member, readMembers } from "../json/splice.js";
import { checkedJson } from "../json/text.js";
import { objectOf, parsed, textOf } from "../json/value.js";
import { containerRefusal } from "./containers.js";
import { heldBeside, heldIn, refuseHeld } from "./held-objects.js";
import { refuseAddresses } from "./fetched-addresses.js";
import { foldedName } from "./folded-name.js";
import { turnsRefusal } from "./earlier-turns.js";
import type { MemberRule, MemberTable } from "./members.js";
import { asksNothingIn, isSwitchedOffIn, saysNothing } from "./says-nothing.js";
import type { RequestFacts } from "../wire.js";

const NAME_CHARACTERS_MAX = 64;
const EXTRA = "generation.prompt.extra";

/** What the gate asks of who knows prices and settings. */
export interface Permits {
  /** Whether calls of the tool have a price, cost nothing since the model does not, or have no price. */
  tool(name: string): "priced" | "free" | "unpriced";
  /** Whether the service tier has a price of its own, is the ordinary one, or has no price. */
  tier(name: string): "priced" | "ordinary" | "unpriced";
  /**
   * True for a tool that would be refused and is left out instead; `isForeign` says that the client's wire is another
   * one. Absent where all such tools are refused.
   */
  readonly leavesOut?: ((tool: HostedTool, isForeign: boolean) => boolean) | undefined;
  /** True where the upstream is sent no addresses to fetch. Absent: it is. */
  readonly refusesAddresses?: boolean;
  /** True for a container that the upstream made for the caller's account. */
  holds(container: string): boolean;
  /** Told of each member that no table knows. False refuses it. */
  passes(name: string): boolean;
}

/** A body on its way upstream. */
export interface Leaving {
  readonly body: Buffer;
  readonly members: readonly Member[];
  readonly facts: RequestFacts;
  /** True where the facts are those of this body, and not of another one that it was written from. */
  readonly isOwn: boolean;
  /** Names of members that were left out of the body. */
  readonly dropped: readonly string[];
  /** The model, as refusals name it. */
  readonly model: string;
}

/** Throws PARAMETER_INVALID or PARAMETER_UNSUPPORTED for the first member that may not pass. */
export function checkMembers(leaving: Leaving, table: MemberTable, permits: Permits): void {
  checkAll(leaving, leaving.members, "", table, permits);
  const { body, facts, isOwn, model } = leaving;
  if (permits.refusesAddresses !== true || (isOwn && facts.mayHoldAddress === false)) return;
  refuseAddresses(new JsonCursor(body), model);
}

/**
 * Throws PARAMETER_INVALID for a field without a typed home, of the wire that the table is of, that the gateway alone
 * writes: a body's own are put right where they came, and these would stand beside what it wrote.
 */
export function checkExtra(json: string, table: MemberTable): void {
  const bytes = Buffer.from(checkedJson(json === "" ? undefined : json, EXTRA) ?? "{}");
  checkUnowned(new JsonCursor(bytes), `${EXTRA}.`, table);
}

function checkUnowned(cursor: JsonCursor, path: string, table: MemberTable): void {
  for (const { key, valueStart, end } of readMembers(cursor)) {
    const name = table.nameOf?.(key) ?? key;
    const rule = table.rules.get(name);
    const param = path + key.slice(0, NAME_CHARACTERS_MAX);
    if (name !== key) throw wrongValue(param, `write it as '${name.slice(0, NAME_CHARACTERS_MAX)}'`);
    if (rule?.kind === "owned" || rule?.kind === "route")
      throw wrongValue(param, "the gateway writes it; say it in the field that stands for it");
    if (rule?.kind !== "object") continue;
    const inner = new JsonCursor(cursor.bytes.subarray(valueStart, end));
    if (inner.kind() === "object") checkUnowned(inner, `${param}.`, rule.members);
  }
}

function checkAll(
  leaving: Leaving,
  members: readonly Member[],
  path: string,
  table: MemberTable,
  permits: Permits,
): void {
  for (const member of members) {
    const { key } = member;
    const rule = table.rules.get(key) ?? (table.nameOf === undefined ? undefined : table.rules.get(table.nameOf(key)));
    if (rule?.kind === "plain" || rule?.kind === "owned" || rule?.kind === "route") continue;
    // Null stands for none, and what was left out goes nowhere.
    if (rule === undefined) checkUnknown(leaving, member, path, table, permits);
    else if (leaving.body[member.valueStart] !== 0x6e && !leaving.dropped.includes(key))
      checkSteering(leaving, member, rule, path, permits);
  }
}

function checkUnknown(
  { body, model }: Leaving,
  { key, valueStart, end }: Member,
  path: string,
  table: MemberTable,
  permits: Permits,
): void {
  const known = table.folds.get(foldedName(key));
  const param = path + key.slice(0, NAME_CHARACTERS_MAX);
  if (known !== undefined) throw wrongValue(param, `some upstreams would read it as '${known}'; write it so`);
  const value = parsed(body.toString("utf8", valueStart, end));
  const held = saysNothing(value) ? undefined : heldBeside(key, value, param);
  if (held !== undefined) throw refuseHeld(held);
  if (permits.passes(param)) return;
  throw unsupported(param, "its upstream takes known members alone; 'unknown_members: pass' lets others through", {
    model,
  });
}

function checkSteering(
  leaving: Leaving,
  member: Member,
  rule: Exclude<MemberRule, { kind: "plain" | "owned" | "route" }>,
  path: string,
  permits: Permits,
): void {
  const { body, facts, model } = leaving;
  const param = path + member.key;
  const text = body.toString("utf8", member.valueStart, member.end);
  switch (rule.kind) {
    case "refused":
      if (asksNothingIn(member.key, text)) return;
      throw unsupported(param, rule.instead, { model });
    case "earlierTurns":
      if (saysNothing(parsed(text))) return;
      throw turnsRefusal(param, rule);
    case "tier":
      return checkTier(parsed(text), rule.ordinary, { param, facts, model }, permits);
    case "tool": {
      const value = parsed(text);
      if (isSwitchedOffIn(member.key, text)) return;
      const held = heldIn(value, param, true);
      if (held !== undefined) throw refuseHeld(held);
      return checkPriced(rule.tool, { param, facts, model }, permits);
    }
    case "container": {
      const refusal = containerRefusal(parsed(text), param, (id) => permits.holds(id));
      if (refusal !== undefined) throw refusal;
      return;
    }
    case "object": {
      const cursor = new JsonCursor(body.subarray(member.valueStart, member.end));
      if (cursor.kind() !== "object") return;
      const inner = readMembers(cursor);
      return checkAll({ ...leaving, body: cursor.bytes }, inner, `${param}.`, rule.members, permits);
    }
    default:
      return rule satisfies never;
  }
}

interface Where {
  readonly param: string;
  readonly facts: RequestFacts;
  readonly model: string;
}

/** A tier is a word, or an object with a type. */
function checkTier(
  value: unknown,
  ordinary: readonly string[],
  { param, facts, model }: Where,
  permits: Permits,
): void {
  const said = textOf(value) || textOf(objectOf(value)?.["type"]);
  const tier = said.toLowerCase();
  if (tier === "" && !saysNothing(value))
    // Some upstreams take a number for a name.
    throw wrongValue(param, "it must be the name of a tier");
  if (tier === "" || ordinary.includes(tier)) return;
  const standing = permits.tier(tier);
  if (standing === "unpriced") throw unpriced(param, `the service tier '${tier.slice(0, 64)}'`, "service_tiers", model);
  if (standing === "priced" && facts.serviceTier?.toLowerCase() !== tier)
    throw unsupported(param, "a request has the price of one service tier, and it asks for another beside it", {
      model,
    });
}

/** Throws where the tool has no price, or where the hold does not cover it. */
function checkPriced(tool: string, { param, facts, model }: Where, permits: Permits): void {
  const standing = permits.tool(tool);
  if (standing === "free") return;
  if (standing === "unpriced") throw unpriced(param, `the tool '${tool.slice(0, 64)}'`, "tools", model);
  if (facts.toolCallsMax?.some(({ name }) => name === tool) === true) return;
  throw unsupported(param, "in the typed form it stands among the prompt's tools", { model });
}

/** What becomes of a request's tools that the upstream runs. */
export interface ToolOrders {
  /** Places of those that are left out. */
  readonly leftOut: ReadonlySet<number>;
  /** Those whose calls the body must bound, since the client did not. */
  readonly unbounded: readonly HostedTool[];
}

/**
 * Throws PARAMETER_UNSUPPORTED for a tool that has no price. One that clients offer unasked is left out instead, where
 * it may be, and its name goes to `dropped`. Undefined where the body keeps its tools as they are.
 */
export function orderTools(
  hosted: readonly HostedTool[],
  where: Omit<Where, "param">,
  permits: Permits,
  mayLeaveOut: boolean,
  dropped: string[],
): ToolOrders | undefined {
  const leftOut = new Set<number>();
  const unbounded: HostedTool[] = [];
  for (const tool of hosted) {
    const { name, kind, param, place, callsMax } = tool;
    // What asks for a tool by a member of its own is a member like others.
    if (kind === "free" || tool.isMember) continue;
    if (kind === "unknown") {
      if (!permits.passes(`tools.${name.slice(0, NAME_CHARACTERS_MAX)}`))
        throw unsupported(param, "its upstream takes known tools alone; 'unknown_members: pass' allows more", where);
    } else if (mayLeaveOut && tool.isOfferedUnasked && place !== undefined && permits.tool(name) === "unpriced") {
      leftOut.add(place);
      dropped.push(`tools.${name}`);
    } else {
      checkPriced(name, { ...where, param }, permits);
      if (callsMax === undefined && permits.tool(name) === "priced") unbounded.push(tool);
    }
  }
  return leftOut.size + unbounded.length === 0 ? undefined : { leftOut, unbounded };
}

/**
 * Throws PARAMETER_UNSUPPORTED for a tool that an upstream of the client's own wire would run, where this one is of
 * another. What clients offer unasked, and what no table knows, is left out and named by who writes the body.
 */
export function refuseForeignTools(hosted: readonly HostedTool[], model: string): void {
  for (const { name, kind, param, isOfferedUnasked } of hosted) {
    if (kind === "unknown" || isOfferedUnasked) continue;
    const problem = `it is served in another format, whose upstream has no '${name.slice(0, NAME_CHARACTERS_MAX)}'`;
    throw unsupported(param, problem, { model });
  }
}

/** The tools that are asked for by a member of their own, in what a typed request brings along. */
export function toolsAskedBeside(json: string, table: MemberTable): HostedTool[] {
  const members = Object.entries(objectOf(parsed(json)) ?? {});
  return members.flatMap(([key, value]): HostedTool[] => {
    const rule = table.rules.get(key);
    if (rule?.kind !== "tool" || value === null || isSwitchedOffIn(key, JSON.stringify(value))) return [];
    const where = { param: key, place: undefined, callsMax: undefined, end: 0 };
    return [{ ...where, name: rule.tool, kind: "priced", isMember: true, isOfferedUnasked: false }];
  });
}

/** Values of the client's headers that go upstream with it. */
export function checkHeaders(
  headers: Readonly<Record<string, string>>,
  table: MemberTable,
  permits: Permits,
  model: string,
): void {
  for (const [name, known] of table.headers) {
    const said = headers[name];
    if (said === undefined) continue;
    for (const part of said.split(",")) {
      const value = part.trim();
      if (value === "" || known.has(value)) continue;
      const param = `${name}: ${value.slice(0, NAME_CHARACTERS_MAX)}`;
      if (!permits.passes(param))
        throw unsupported(param, "its upstream takes known values alone; 'unknown_members: pass' allows more", {
          model,
        });
    }
  }
}

function unpriced(param: string, what: string, setting: string, model: string): GatewayError {
  return unsupported(param, `${what} has no price here; whoever runs the gateway can set one in 'price.${setting}'`, {
    model,
  });
}
