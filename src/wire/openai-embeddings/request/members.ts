/** What the gateway does with the members of a request for vectors. */
import { ownWords } from "../../request/kept-ids.js";
import { memberTable } from "../../request/members.js";
import { CACHE_MEMBERS } from "../../request/prompt-cache.js";
import { ROUTED } from "../../openai/request/members.js";

export const MEMBERS = memberTable({
  ...ROUTED,
  tiers: { service_tier: [] },
  owned: ["model", "input", ...CACHE_MEMBERS],
  plain: ["encoding_format", "dimensions", "user", "input_type", "truncate", "task"],
});

/** Where names of members are no ids: in schemas and calls, and in what a client notes for itself. */
export const OWN_WORDS = ownWords({ anywhere: [], beside: ["metadata"] });
