/** What the gateway does with each member of a request: a table for each wire, and what a family adds to it. */
import type { GatewayError } from "../../base/errors.js";
import type { Member } from "../json/splice.js";
import { parsed } from "../json/value.js";
import { EARLIER_TURNS, type EarlierTurns, turnsRefusal } from "./earlier-turns.js";
import { foldedName } from "./folded-name.js";
import { saysNothing } from "./says-nothing.js";

/** What is done with one member, by its name. */
export type MemberRule =
  /** The gateway reads it, and writes it where the upstream could take it otherwise. */
  | { readonly kind: "owned" }
  /** It changes neither model, limits nor price, and passes. */
  | { readonly kind: "plain" }
  /** It asks for a service tier, which must have a price. `ordinary` are its values that ask for none. */
  | { readonly kind: "tier"; readonly ordinary: readonly string[] }
  /** It asks for a tool that the upstream runs, which must have a price of this name. */
  | { readonly kind: "tool"; readonly tool: string }
  /** It names a container of the upstream's, which must have been made for the caller's account, and what it loads. */
  | { readonly kind: "container" }
  /** It says which models and upstreams may answer: the gateway obeys it, and no upstream gets it. */
  | { readonly kind: "route" }
  /** It never passes. `instead` tells what to do. */
  | { readonly kind: "refused"; readonly instead: string }
  /** It stands for earlier turns of the conversation: it never passes, and is never left out. */
  | ({ readonly kind: "earlierTurns" } & EarlierTurns)
  /** It is an object whose own members have rules. */
  | { readonly kind: "object"; readonly members: MemberTable };

/** The rules of one wire, or of one family on it. */
export interface MemberTable {
  readonly rules: ReadonlyMap<string, MemberRule>;
  /** Names that steer, by what is left of them where a lenient reader has folded them. */
  readonly folds: ReadonlyMap<string, string>;
  /** A member's one name, where the wire has several spellings. */
  readonly nameOf: ((key: string) => string) | undefined;
  /** Values of headers that change neither model, limits nor price, by the header's name. */
  readonly headers: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Rules as they are written down: names by what is done with them. */
export interface MemberRules {
  readonly owned?: readonly string[];
  readonly plain?: readonly string[];
  /** By the values that ask for no tier of its own price, beside those that every price knows. */
  readonly tiers?: Readonly<Record<string, readonly string[]>>;
  /** By the tool that they ask for. */
  readonly tools?: Readonly<Record<string, string>>;
  readonly containers?: readonly string[];
  readonly routes?: readonly string[];
  /** By what to do instead. */
  readonly refused?: Readonly<Record<string, string>>;
  readonly objects?: Readonly<Record<string, MemberRules>>;
  readonly headers?: Readonly<Record<string, readonly string[]>>;
  readonly nameOf?: (key: string) => string;
}

const OWNED: MemberRule = { kind: "owned" };
const PLAIN: MemberRule = { kind: "plain" };
const ROUTE: MemberRule = { kind: "route" };
const NONE: ReadonlyMap<string, MemberRule> = new Map();

/**
 * The table of the rules, over those of `base`: of a name that both have, the rule given here holds. Every table knows
 * the members that stand for earlier turns, where none of its rules says otherwise.
 */
export function memberTable(says: MemberRules, base?: MemberTable): MemberTable {
  return tableOf(says, base === undefined ? turnsRules(says.nameOf) : base.rules, base);
}

function turnsRules(nameOf: (key: string) => string = (key) => key): ReadonlyMap<string, MemberRule> {
  const rules = Object.entries(EARLIER_TURNS);
  return new Map(rules.map(([name, turns]) => [nameOf(name), { kind: "earlierTurns", ...turns }]));
}

function tableOf(says: MemberRules, before: ReadonlyMap<string, MemberRule>, base?: MemberTable): MemberTable {
  const rules = new Map(before);
  const nameOf = says.nameOf ?? base?.nameOf;
  for (const name of says.plain ?? []) rules.set(name, PLAIN);
  for (const name of says.owned ?? []) rules.set(name, OWNED);
  for (const [name, ordinary] of Object.entries(says.tiers ?? {})) rules.set(name, { kind: "tier", ordinary });
  for (const [name, tool] of Object.entries(says.tools ?? {})) rules.set(name, { kind: "tool", tool });
  for (const name of says.containers ?? []) rules.set(name, { kind: "container" });
  for (const [name, instead] of Object.entries(says.refused ?? {})) rules.set(name, { kind: "refused", instead });
  for (const name of says.routes ?? []) rules.set(name, ROUTE);
  for (const [name, inner] of Object.entries(says.objects ?? {}))
    rules.set(name, { kind: "object", members: tableOf(nameOf === undefined ? inner : { nameOf, ...inner }, NONE) });
  const folds = new Map<string, string>();
  for (const [name, { kind }] of rules) if (kind !== "plain") folds.set(foldedName(name), name);
  const headers = new Map(base?.headers);
  for (const [name, values] of Object.entries(says.headers ?? {})) headers.set(name, new Set(values));
  return { rules, folds, nameOf, headers };
}

/**
 * The refusal of a member at the top of a body that stands for earlier turns, in any spelling that a reader takes;
 * undefined for any other, and for one that says nothing.
 */
export function earlierTurns(table: MemberTable, name: string, value: () => unknown): GatewayError | undefined {
  const rule = table.rules.get(name) ?? table.rules.get(table.folds.get(foldedName(name)) ?? "");
  return rule?.kind === "earlierTurns" && !saysNothing(value()) ? turnsRefusal(name, rule) : undefined;
}

/** Throws the refusal of the first such member among those at the top of a body. */
export function refuseEarlierTurns(body: Buffer, members: readonly Member[], table: MemberTable): void {
  for (const { key, valueStart, end } of members) {
    const refusal = earlierTurns(table, key, () => parsed(body.toString("utf8", valueStart, end)));
    if (refusal !== undefined) throw refusal;
  }
}
