/** What the gateway does with the members of a request for vectors. */
import { memberTable } from "../../request/members.js";
import { ROUTED } from "../../openai/request/members.js";

export const MEMBERS = memberTable({
  ...ROUTED,
  tiers: { service_tier: [] },
  owned: ["model", "input"],
  plain: ["encoding_format", "dimensions", "user", "input_type", "truncate", "task"],
});
