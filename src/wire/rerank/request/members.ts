/** What the gateway does with the members of a request to rank documents. */
import { ROUTED } from "../../openai/request/members.js";
import { ownWords } from "../../request/kept-ids.js";
import { memberTable } from "../../request/members.js";
import { CACHE_MEMBERS } from "../../request/prompt-cache.js";

/** What of a document is read: the most units follow from it, so no other spelling of it may pass. */
const LENGTHS = ["max_tokens_per_doc", "max_chunks_per_doc"] as const;
const READ = ["model", "query", "documents", "top_n", "top_k", "return_documents", ...LENGTHS] as const;
const PLAIN = ["truncation", "truncate_prompt_tokens", "rank_fields", "user"] as const;

export const MEMBERS = memberTable({ ...ROUTED, owned: [...READ, ...CACHE_MEMBERS], plain: PLAIN });

/** What no model reads beside the documents. */
export const NOT_READ: ReadonlySet<string> = new Set([...READ, ...PLAIN]);

/** A document's members are its writer's, whatever they are called. */
export const OWN_WORDS = ownWords({ anywhere: [], beside: ["documents", "query"] });
