/**
 * Members that keep what an upstream caches of prompts within one account: written by the gateway, and mixed with the
 * account where a client wrote them. Why: docs/decisions/0418-tenants-at-shared-upstreams.md.
 */
import { createHmac } from "node:crypto";
import type { MemberTexts } from "../json/text.js";
import type { Member } from "../json/splice.js";

/** Which member the gateway writes, as an operator says it. */
export const PROMPT_CACHE_SETTINGS = [
  "shared",
  "off",
  "cache_salt",
  "prompt_cache_key",
  "prompt_cache_isolation_key",
  "user_id",
] as const;
export type PromptCacheSetting = (typeof PROMPT_CACHE_SETTINGS)[number];

/** A member that carries the account's salt, or that turns the cache off. */
export type CacheMember = Exclude<PromptCacheSetting, "shared" | "off"> | typeof CACHE_SWITCH;

/** What turns the cache off for one request. */
const CACHE_SWITCH = "cache_prompt";
/** Members by which clients choose whose cache they read, whichever upstream knows them. `extra_key` is SGLang's. */
const CACHE_KEYS = ["cache_salt", "prompt_cache_key", "prompt_cache_isolation_key", "extra_key"] as const;

/** For the tables of the wires that have them. */
export const CACHE_MEMBERS: readonly string[] = [...CACHE_KEYS, CACHE_SWITCH];

/** What is written into a request. Plain data: it crosses to the thread that writes long bodies. */
export interface PromptCache {
  /** Of the account: 43 characters of base64url. */
  readonly salt: string;
  /** The member that is written whether the client wrote it or not; undefined where the upstream takes none. */
  readonly member: CacheMember | undefined;
}

const NAMES: ReadonlySet<string> = new Set(CACHE_KEYS);

/** The member that a setting writes; undefined where accounts share. `isChat` is false of completions and vectors. */
export function memberOf(setting: PromptCacheSetting, isChat: boolean): CacheMember | undefined {
  if (setting === "shared") return undefined;
  if (setting === "off") return CACHE_SWITCH;
  // Upstreams that know these refuse them beside chats.
  return isChat || (setting !== "prompt_cache_key" && setting !== "user_id") ? setting : undefined;
}

/** Adds to the edits of a client's own body what keeps the cache within the account. */
export function editCache(
  body: Buffer,
  members: readonly Member[],
  cache: PromptCache | undefined,
  edits: Map<string, Buffer | string | undefined>,
): void {
  if (cache === undefined) return;
  const { member } = cache;
  for (const { key, valueStart, end } of members) {
    if (key !== member && !NAMES.has(key)) continue;
    const value = valueOf(key, body.toString("utf8", valueStart, end), cache);
    if (value !== undefined) edits.set(key, value);
  }
  if (member !== undefined && !edits.has(member)) edits.set(member, valueOf(member, undefined, cache));
}

/** The same of members that are written anew. */
export function withCache(members: MemberTexts, cache: PromptCache | undefined): MemberTexts {
  if (cache === undefined) return members;
  const { member } = cache;
  const changed = members.map(([key, json]): MemberTexts[number] =>
    json !== undefined && (key === member || NAMES.has(key)) ? [key, valueOf(key, json, cache) ?? json] : [key, json],
  );
  if (member === undefined || changed.some(([key, json]) => key === member && json !== undefined)) return changed;
  return [...changed, [member, valueOf(member, undefined, cache)]];
}

/** The JSON of a member, of which a client said `said`; undefined leaves what it said, which is none. */
function valueOf(name: string, said: string | undefined, { salt, member }: PromptCache): string | undefined {
  if (name === CACHE_SWITCH) return "false";
  if (said !== undefined && said !== "null") return JSON.stringify(mixed(salt, name, said));
  return name === member ? JSON.stringify(salt) : undefined;
}

/** The client's own value, which groups its requests as before, and meets that of no other account. */
function mixed(salt: string, name: string, said: string): string {
  return createHmac("sha256", salt).update(`${name}\0${said}`).digest("base64url");
}
