/** Words of the protocol that pages offer as choices. */
export const REQUEST_STATES = ["held", "settled", "voided", "expired", "uncharged"] as const;
export const USAGE_GROUPS = ["model", "key", "upstream", "user", "tag", "tag_value", "day"] as const;
export const TRAFFIC_GROUPS = ["upstream", "model", "account", "key", "node", "reason"] as const;
export type TrafficGroup = (typeof TRAFFIC_GROUPS)[number];
export type UsageGroup = (typeof USAGE_GROUPS)[number];
export const AUDIT_RESULTS = ["done", "unchanged", "refused"] as const;
