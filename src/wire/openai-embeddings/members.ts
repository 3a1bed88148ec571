/** What the gateway does with the members of a request for vectors. */
import { memberTable } from "../members.js";
import { ROUTED } from "../openai-members.js";

export const MEMBERS = memberTable({
  ...ROUTED,
  tiers: { service_tier: [] },
  owned: ["model", "input"],
  plain: ["encoding_format", "dimensions", "user", "input_type", "truncate", "task"],
});
