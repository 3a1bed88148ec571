/** How requests are balanced among targets of the same priority. */
export const BALANCES = ["weight", "load", "latency", "cost"] as const;
export type Balance = (typeof BALANCES)[number];
