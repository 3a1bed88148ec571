/** Which values of a member say no more than to leave it out. */
import { objectOf, parsed } from "../json/value.js";

/** Words that switch off what the member, or the object that they stand in, asks for. */
const OFF_WORDS: ReadonlySet<unknown> = new Set(["off", "none", "disabled"]);
/** Members of an object that mostly say whether any of it is asked for. */
const USUAL_SWITCHES = ["enabled", "mode", "type", "effort"] as const;
/**
 * Members whose objects are known to have a switch, and what switches each off. An upstream of any other may pass over
 * one that it does not know, and do what stands beside it.
 */
const SWITCHES: Readonly<Record<string, { readonly member: string; readonly off: unknown }>> = {
  search_parameters: { member: "mode", off: "off" },
  plugins: { member: "enabled", off: false },
};
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

/** True for a value that surely switches its member off. An empty object may switch one on. */
function isSwitchedOff(name: string, value: unknown): boolean {
  if (value === false || value === null) return true;
  const known = Object.hasOwn(SWITCHES, name) ? SWITCHES[name] : undefined;
  if (!Array.isArray(value)) return known !== undefined && objectOf(value)?.[known.member] === known.off;
  return value.every((item) => known !== undefined && objectOf(item)?.[known.member] === known.off);
}

/**
 * The same of the JSON that goes upstream, as every reader has it: of a member that stands twice some take the first,
 * some the last, and some heed no capitals.
 */
export function isSwitchedOffIn(name: string, json: string): boolean {
  const value = parsed(json);
  return isSwitchedOff(name, value) && isReadAlike(json, value);
}

/** True for a value by which this member surely asks for nothing, so that it may pass where it is refused otherwise. */
export function asksNothing(name: string, value: unknown): boolean {
  const neutral = Object.hasOwn(NEUTRAL, name) ? NEUTRAL[name] : undefined;
  return saysNothing(value) || isSwitchedOff(name, value) || neutral?.includes(value) === true;
}

/** The same of the JSON that goes upstream. */
export function asksNothingIn(name: string, json: string): boolean {
  const value = parsed(json);
  return asksNothing(name, value) && isReadAlike(json, value);
}

/** True where nobody can read something else in it. */
function isReadAlike(json: string, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  const compact = (text: string): string => text.replace(/[\t\n\r ]/g, "");
  return compact(json) === compact(JSON.stringify(value)) && !/"[^"]*[A-Z][^"]*":/.test(json);
}

/** True for one that nobody misses where it is left out: by its words it is off, or most upstreams do so unasked. */
export function isDefault(name: string, value: unknown): boolean {
  if (asksNothing(name, value) || saysOff(value) || value === 0 || value === "auto") return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).every(([key, member]) => isDefault(Array.isArray(value) ? name : key, member));
}

/** True for a value that is off by its words. What is to pass must be so for sure: `isSwitchedOff`. */
export function saysOff(value: unknown): boolean {
  const object = objectOf(value);
  if (object === undefined) return OFF_WORDS.has(value);
  return USUAL_SWITCHES.some((name) => object[name] === false || OFF_WORDS.has(object[name]));
}
