/** Which values of a member say no more than to leave it out. */

/** True for a value that says no more than to leave the member out; a number may be somebody's place. */
export function saysNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === false || value === "" || value === null;
}

/** True for one that asks for what most upstreams do unasked, too. */
export function isDefault(value: unknown): boolean {
  return saysNothing(value) || value === 0 || value === "auto";
}
