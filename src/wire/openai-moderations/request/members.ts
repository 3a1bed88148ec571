/** What the gateway does with the members of a request to judge content. */
import { ROUTED } from "../../openai/request/members.js";
import { ownWords } from "../../request/kept-ids.js";
import { memberTable } from "../../request/members.js";
import { CACHE_MEMBERS } from "../../request/prompt-cache.js";

const READ = ["model", "input"] as const;
const PLAIN = ["user", "metadata"] as const;

export const MEMBERS = memberTable({ ...ROUTED, owned: [...READ, ...CACHE_MEMBERS], plain: PLAIN });

/** What no model reads beside the input. */
export const NOT_READ: ReadonlySet<string> = new Set([...READ, ...PLAIN]);

export const OWN_WORDS = ownWords({ anywhere: [], beside: ["metadata"] });
