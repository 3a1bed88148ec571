/** Tools in a request: which of them the upstream runs itself, and whose calls somebody pays. */
import type { ToolUse } from "../../api/index.js";
import type { GatewayError } from "../../base/errors.js";
import { type Held, heldIn, isDefinition, noteHeldName, refuseHeld } from "./held-objects.js";
import { JsonCursor } from "../json/cursor.js";
import { TOOLS } from "../json/field.js";
import { TOOLS_MAX } from "./request-size.js";
import { wrongValue } from "../json/node.js";
import { readMembers, splice } from "../json/splice.js";
import { type JsonObject, listOf, objectOf, parsed, textOf } from "../json/value.js";

/** A tool that the upstream runs. */
export interface HostedTool {
  /** As prices name it, such as web_search; for a tool of a type that no table knows, that type. */
  readonly name: string;
  /** Whether its calls have a price, cost nothing but tokens, or are unknown. */
  readonly kind: "priced" | "free" | "unknown";
  /** As the client named it, for refusals, such as tools[2]. */
  readonly param: string;
  /** Its place among the request's tools; undefined where it stands elsewhere. */
  readonly place: number | undefined;
  /** The most calls that the client allows; undefined where it does not say, or where the wire has no word for it. */
  readonly callsMax: number | undefined;
  /** True where a member of the request asks for it, which has a rule of its own. */
  readonly isMember: boolean;
  /** True where it may be left out if it is not to be had: clients offer it unasked, or nothing is lost. */
  readonly isOfferedUnasked: boolean;
  /** The wire that it came in; absent where that is the request's. */
  readonly wire?: string;
  /** Where its object ends, before the brace; 0 where nobody needs to know. */
  readonly end: number;
}

/** What a pass over a body finds of tools that the upstream runs. */
export interface FoundTools {
  readonly hosted: HostedTool[];
  /** How many tools there are, and how many of them of a type that the upstream defines. */
  toolCount: number;
  definedToolCount: number;
  /** True where a tool is told to the model only once a search finds it. */
  hasDeferred: boolean;
  /** The first thing that may not go upstream. */
  held: Held | undefined;
}

/** What a type of tool is to the gateway. */
export type ToolRule =
  /** The client runs it. */
  | { readonly kind: "client" }
  /** The upstream runs it, and it costs no more than the tokens that it brings. */
  | { readonly kind: "free"; readonly isOfferedUnasked?: boolean }
  /** The upstream runs it at a price of this name. */
  | { readonly kind: "priced"; readonly name: string; readonly isOfferedUnasked?: boolean }
  | { readonly kind: "refused"; readonly instead: string };

/** Types of tools by their stems: the type without its date and `_preview`. */
export type ToolTable = ReadonlyMap<string, ToolRule>;

/** A table as it is written down. */
export interface ToolRules {
  readonly client: readonly string[];
  readonly free: readonly string[];
  /** By the name of the price. */
  readonly priced: Readonly<Record<string, string>>;
  readonly refused: Readonly<Record<string, string>>;
  /** Those of them that clients offer with every request, or that say no more than the other tools do. */
  readonly offeredUnasked?: readonly string[];
}

/** Calls that a request may make of one tool where its client sets no bound: what the hold covers. */
export const CALLS_MAX_DEFAULT = 10;
const CALLS_MAX = 1_000;
const NAME_CHARACTERS_MAX = 64;
/** The member by which a tool is told to the model only once a search finds it, and how a true value begins. */
const DEFERRED = "defer_loading";
const TRUE = 0x74;

export function toolTable({ client, free, priced, refused, offeredUnasked = [] }: ToolRules): ToolTable {
  const rules = new Map<string, ToolRule>();
  for (const stem of client) rules.set(stem, { kind: "client" });
  for (const stem of free) rules.set(stem, { kind: "free", isOfferedUnasked: offeredUnasked.includes(stem) });
  for (const [stem, name] of Object.entries(priced)) {
    rules.set(stem, { kind: "priced", name, isOfferedUnasked: offeredUnasked.includes(stem) });
  }
  for (const [stem, instead] of Object.entries(refused)) rules.set(stem, { kind: "refused", instead });
  return rules;
}

/** A type without what changes from one version to the next. */
export function stemOf(type: string): string {
  return type
    .replace(/_\d{4}_?\d{2}_?\d{2}$/, "")
    .replace(/_preview$/, "")
    .replace(/^[a-z]+:/, "");
}

/**
 * Reads the array of tools that comes next, all of it, and notes those that the upstream runs. Each is an object with a
 * `type`. Returns the first thing that is wrong with it.
 */
export function scanTools(
  cursor: JsonCursor,
  table: ToolTable,
  found: FoundTools,
  path = "tools",
): GatewayError | undefined {
  let problem: GatewayError | undefined;
  cursor.enterArray();
  for (let place = 0; cursor.nextItem(); place++) {
    if (cursor.kind() === "object" && place < TOOLS_MAX) {
      const wrong = scanTool(cursor, table, found, `${path}[${place}]`, place);
      problem ??= wrong;
      continue;
    }
    cursor.skip();
    problem ??= wrongValue(path, `it must be ${TOOLS.must}`);
  }
  return problem;
}

/** Reads the object that comes next, which is one tool. */
export function scanTool(
  cursor: JsonCursor,
  table: ToolTable,
  found: FoundTools,
  param: string,
  place: number,
): GatewayError | undefined {
  const start = cursor.at;
  found.toolCount += 1;
  let type: string | undefined;
  let callsMax: number | undefined;
  let problem: GatewayError | undefined;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    if (key === "type") {
      if (type !== undefined) problem ??= wrongValue(`${param}.type`, "it must occur once");
      if (cursor.kind() === "string") type = cursor.readString();
      else {
        type = "";
        cursor.skip();
      }
      continue;
    }
    if (key.length === 4 && key.toLowerCase() === "type") problem ??= wrongValue(`${param}.${key}`, "write 'type'");
    if (key === "max_uses" && cursor.kind() === "number") {
      const count = cursor.readNumber();
      if (!Number.isSafeInteger(count) || count < 1 || count > CALLS_MAX)
        problem ??= wrongValue(`${param}.max_uses`, `it must be an integer from 1 to ${CALLS_MAX}`);
      else callsMax = count;
    } else {
      if (key === DEFERRED) found.hasDeferred ||= cursor.bytes[cursor.at] === TRUE;
      noteHeldName(found, key, cursor.kind() === "null", param);
      cursor.skip();
    }
  }
  if (problem !== undefined) return problem;
  // Without a type it is a function, on every wire that allows that. All else is looked at as a whole.
  if (type === undefined || isDefinition(type)) return undefined;
  const tool = objectOf(parsed(cursor.bytes.toString("utf8", start, cursor.at))) ?? {};
  const where = { param, place: param.startsWith("tools[") ? place : undefined, callsMax, end: cursor.at - 1 };
  noteTool(tool, table, where, found);
  return undefined;
}

/** Noted where the upstream runs it, and so are the tools that stand in it. */
function noteTool(
  tool: JsonObject,
  table: ToolTable,
  where: Pick<HostedTool, "param" | "place" | "callsMax" | "end">,
  found: FoundTools,
): void {
  const type = textOf(tool["type"]);
  if (isDefinition(type)) return;
  found.definedToolCount += 1;
  const stem = stemOf(type);
  const rule = ruleOf(table, stem, tool);
  noteInnerTools(tool, table, where.param, found);
  found.held ??= heldIn(tool, where.param, rule?.kind !== "client");
  if (rule?.kind === "client") return;
  if (rule?.kind === "refused") {
    found.held ??= { param: `${where.param}.type`, problem: rule.instead };
    return;
  }
  found.hosted.push({
    ...where,
    name: rule?.kind === "priced" ? rule.name : stem,
    kind: rule?.kind ?? "unknown",
    isMember: false,
    isOfferedUnasked: rule?.isOfferedUnasked === true && where.place !== undefined,
  });
}

/** The tools of a namespace, and of whatever else holds tools of its own. */
function noteInnerTools(tool: JsonObject, table: ToolTable, param: string, found: FoundTools): void {
  for (const [place, value] of listOf(tool["tools"]).entries()) {
    const inner = objectOf(value);
    if (inner?.[DEFERRED] === true) found.hasDeferred = true;
    if (inner === undefined || inner["type"] === undefined) continue;
    const where = { param: `${param}.tools[${place}]`, place: undefined, callsMax: callsMaxIn(inner), end: 0 };
    noteTool(inner, table, where, found);
  }
}

function callsMaxIn(tool: JsonObject | undefined): number | undefined {
  const callsMax = tool?.["max_uses"];
  const isBound = typeof callsMax === "number" && Number.isSafeInteger(callsMax) && callsMax >= 1;
  return isBound ? Math.min(callsMax, CALLS_MAX) : undefined;
}

function ruleOf(table: ToolTable, stem: string, tool: Readonly<Record<string, unknown>>): ToolRule | undefined {
  const rule = table.get(stem);
  if (rule?.kind !== "client") return rule;
  // A shell runs where its environment is: at the client, or in a container of the upstream's.
  const environment = textOf(objectOf(tool["environment"])?.["type"]);
  if (environment === "" || environment === "local") return rule;
  return { kind: "priced", name: `${stem}_container` };
}

/** A tool of a wire's own, as its JSON has it, by the name that it has where it is left out. */
export function leftOutName(json: string): string {
  const tool = objectOf(parsed(json)) ?? {};
  return `tools.${stemOf(textOf(tool["type"]) || (Object.keys(tool)[0] ?? "")).slice(0, NAME_CHARACTERS_MAX)}`;
}

/** Nothing, before a pass. */
export function noToolsFound(): FoundTools {
  return { hosted: [], toolCount: 0, definedToolCount: 0, hasDeferred: false, held: undefined };
}

/** The tools without those at some places; undefined where none is left. */
export function toolsWithout(tools: Buffer, places: ReadonlySet<number>): string | undefined {
  const cursor = new JsonCursor(tools);
  const kept: string[] = [];
  cursor.enterArray();
  for (let place = 0; cursor.nextItem(); place++) {
    const start = cursor.at;
    cursor.skip();
    if (!places.has(place)) kept.push(tools.toString("utf8", start, cursor.at));
  }
  return kept.length === 0 ? undefined : `[${kept.join(",")}]`;
}

/** A tool by its own JSON; none where the client runs it. Throws PARAMETER_INVALID for one that may not pass. */
export function readTool(json: string, table: ToolTable, param: string): readonly HostedTool[] {
  const found = noToolsFound();
  const tool = objectOf(parsed(json)) ?? {};
  noteTool(tool, table, { param, place: undefined, callsMax: callsMaxIn(tool), end: 0 }, found);
  if (found.held !== undefined) throw refuseHeld(found.held);
  return found.hosted;
}

/** The tool with a bound of its calls, where it has none. */
export function boundedTool(json: string): string {
  const cursor = new JsonCursor(Buffer.from(json));
  const members = readMembers(cursor);
  if (members.some(({ key }) => key === "max_uses")) return json;
  return splice(cursor.bytes, 0, members, new Map([["max_uses", String(CALLS_MAX_DEFAULT)]])).toString();
}

/** How many rounds of reading calls of these tools may make; undefined where there are none, and it is read once. */
export function roundsMaxOf(hosted: readonly HostedTool[], otherwise = CALLS_MAX_DEFAULT): number | undefined {
  if (hosted.length === 0) return undefined;
  return hosted.reduce((rounds, { callsMax = otherwise }) => rounds + callsMax, 1);
}

/** The most calls of the tools that have a price, as the hold covers them; undefined where there are none. */
export function callsMaxOf(hosted: readonly HostedTool[], otherwise = CALLS_MAX_DEFAULT): ToolUse[] | undefined {
  const priced = hosted.filter(({ kind }) => kind === "priced");
  if (priced.length === 0) return undefined;
  return priced.map(({ name, callsMax }) => ({ name, calls: BigInt(callsMax ?? otherwise) }));
}
