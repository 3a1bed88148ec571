/** Which values of a member say no more than to leave it out. */
import { objectOf } from "../json/value.js";

/** Words that switch off what the member, or the object that they stand in, asks for. */
const OFF_WORDS: ReadonlySet<unknown> = new Set(["off", "none", "disabled"]);
/** Members of an object that say whether any of it is asked for. */
const SWITCHES = ["enabled", "mode", "type", "effort"] as const;
/** Values that ask for what every server does unasked, by the members that have one. */
const NEUTRAL: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  n_cmpl: [1],
  best_of: [1],
  num_beams: [1],
  // Any slot, and no one's turn before another's.
  id_slot: [-1],
  slot_id: [-1],
  priority: [0],
  top_p: [1],
  top_k: [-1, 0],
  repetition_penalty: [1],
  modalities: ["text"],
  responseModalities: ["TEXT"],
  service_tier: ["auto", "default", "standard", "standard_only"],
  speed: ["standard"],
  inference_geo: ["global", "not_available"],
};

/** True for a value that says no more than to leave the member out; a number may be somebody's place. */
export function saysNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === false || value === "" || value === null;
}

/** True for a value that switches its member off, such as `{"mode": "off"}`. An empty object may switch one on. */
export function isSwitchedOff(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isSwitchedOff);
  const object = objectOf(value);
  if (object !== undefined) return SWITCHES.some((name) => object[name] === false || OFF_WORDS.has(object[name]));
  return value === false || value === null || OFF_WORDS.has(value);
}

/** True for a value by which this member asks for nothing. */
export function asksNothing(name: string, value: unknown): boolean {
  const neutral = Object.hasOwn(NEUTRAL, name) ? NEUTRAL[name] : undefined;
  return saysNothing(value) || isSwitchedOff(value) || neutral?.includes(value) === true;
}

/** True for one that asks for what most upstreams do unasked, too. */
export function isDefault(name: string, value: unknown): boolean {
  if (asksNothing(name, value) || value === 0 || value === "auto") return true;
  if (typeof value !== "object" || value === null) return false;
  const inner = Object.entries(value).map(([key, member]) => isDefault(Array.isArray(value) ? name : key, member));
  return inner.every((isSo) => isSo);
}
