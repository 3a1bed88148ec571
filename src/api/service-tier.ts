/** The names of service tiers, in one spelling. */

/** Names of the tier in which an upstream serves whoever asks for none: what it costs stands in the price itself. */
const ORDINARY: ReadonlySet<string> = new Set([
  "auto",
  "default",
  "on_demand",
  "ondemand",
  "standard",
  "standard_only",
  "unspecified",
]);

/** A service tier as a request or an answer says it, in one spelling; empty for the ordinary one. */
export function serviceTierOf(said: string | undefined): string {
  if (said === undefined || said === "") return "";
  const name = said.toLowerCase();
  return ORDINARY.has(name) ? "" : name;
}
