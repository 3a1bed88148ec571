/** Objects that the upstream keeps under the operator's credential: an id could name another tenant's. */
import { GatewayError } from "../../base/errors.js";
import { EARLIER_TURNS } from "./earlier-turns.js";
import { foldedName } from "./folded-name.js";
import { HELD, LETTERS_MIN, NEW_CONTAINER, SEND_IT, SEND_TEXT } from "./kept-names.js";
import { wrongValue } from "../json/node.js";
import { checkedJson } from "../json/text.js";
import { objectOf, parsed, textOf } from "../json/value.js";

/** Beside the members of a request these name such an object too; elsewhere they are words as others are. */
const HELD_BESIDE: ReadonlyMap<string, string> = new Map([
  ...Object.entries(EARLIER_TURNS).map(([name, { instead }]) => [foldedName(name), instead] as const),
  ["containerids", NEW_CONTAINER],
  ["batchid", SEND_IT],
  ["agentid", SEND_TEXT],
]);

/** What a member that no table knows names of what an upstream keeps; undefined where it names nothing. */
export function heldBeside(key: string, value: unknown, param: string): Held | undefined {
  const name = foldedName(key);
  const problem = HELD.get(name) ?? HELD_BESIDE.get(name) ?? promptProblem(name, value);
  if (problem !== undefined) return { param, problem };
  return heldIn(value, param);
}

/** A text is one; an object with an id is what the upstream has under it. */
function promptProblem(name: string, value: unknown): string | undefined {
  return name === "prompt" && objectOf(value)?.["id"] !== undefined ? SEND_TEXT : undefined;
}

/** Notes a member of a message, a part or a tool that names such an object; null names none. */
export function noteHeldName(found: { held: Held | undefined }, key: string, isNull: boolean, path: string): void {
  if (found.held !== undefined || isNull || key.length < LETTERS_MIN || USUAL.has(key)) return;
  const problem = HELD.get(foldedName(key));
  if (problem !== undefined) found.held = { param: `${path}.${key.slice(0, NAME_CHARACTERS_MAX)}`, problem };
}

/** Members of a tool that steer which model runs it, or what it runs on. */
const STEERING: ReadonlyMap<string, string> = new Map([
  ["model", "the price of the tool is that of its own model; leave it out"],
  ["memorylimit", "the price of the tool is that of its smallest container; leave it out"],
]);

const NAME_CHARACTERS_MAX = 64;
/** Names that nearly every message has, of which none is held: cheaper to know than to fold. */
const USUAL: ReadonlySet<string> = new Set(
  ["content", "parts", "tool_calls", "tool_call_id", "tool_use_id", "cache_control", "image_url", "is_error", "input"]
    .concat(
      "signature",
      "citations",
      "thinking",
      "reasoning_content",
      "description",
      "parameters",
      "function",
      "strict",
    )
    .concat("input_schema", "functionCall", "functionResponse", "thoughtSignature", "status", "phase", "summary")
    .concat("call_id", "arguments", "annotations", "refusal"),
);

const RETOLD: ReadonlySet<string> = new Set([
  "code_execution_output",
  "bash_code_execution_output",
  "file_search_call",
  "file_citation",
  "container_file_citation",
]);

/** True of what was found and written, and is told again by whoever goes on with a conversation. */
export function isRetold(type: string): boolean {
  return RETOLD.has(type);
}

/** Tools that only define what the client runs. */
const DEFINITIONS: ReadonlySet<string> = new Set(["function", "custom"]);
/** Their schemas, which are text to the model, whatever the members of these are called. */
const SCHEMAS: ReadonlySet<string> = new Set(["function", "parameters", "input_schema", "format"]);

export interface Held {
  readonly param: string;
  readonly problem: string;
}

/** The first member in the value that names such an object; undefined where none does. `isTool`: of a hosted tool. */
export function heldIn(value: unknown, path: string, isTool = false): Held | undefined {
  if (Array.isArray(value)) {
    for (const [place, item] of value.entries()) {
      const held = heldIn(item, `${path}[${place}]`, isTool);
      if (held !== undefined) return held;
    }
    return undefined;
  }
  const object = objectOf(value) ?? {};
  const type = textOf(object["type"]);
  // What was found and written is told again by whoever goes on with a conversation, and brings nobody anything.
  if (RETOLD.has(type)) return undefined;
  for (const [key, inner] of Object.entries(object)) {
    if (DEFINITIONS.has(type) && SCHEMAS.has(key)) continue;
    const param = path === "" ? key : `${path}.${key}`;
    const name = foldedName(key);
    const problem = HELD.get(name) ?? (isTool ? (STEERING.get(name) ?? containerProblem(name, inner)) : undefined);
    if (problem !== undefined && inner !== null) return { param, problem };
    const held = heldIn(inner, param, isTool);
    if (held !== undefined) return held;
  }
  return undefined;
}

function containerProblem(name: string, value: unknown): string | undefined {
  return name === "container" && typeof value === "string" ? NEW_CONTAINER : undefined;
}

/** True of a tool that only defines what the client runs. */
export function isDefinition(type: string): boolean {
  return DEFINITIONS.has(type);
}

/** Members by which a part of a conversation would ask for what only the request itself may ask. */
const ASKING = ["tools", "model", "service_tier", "max_output_tokens"];

/** Throws PARAMETER_INVALID for a part, as its own wire has it, that names such an object or asks for more. */
export function checkPart(json: string, path: string): void {
  if (json === "") return;
  const value = parsed(checkedJson(json, path) ?? "");
  const part = objectOf(value);
  const asking = ASKING.find((name) => (part?.[name] ?? null) !== null);
  if (asking !== undefined)
    throw wrongValue(`${path}.${asking}`, "a part cannot ask for it; say it once, in the prompt");
  const held = heldIn(value, path);
  if (held !== undefined) throw refuseHeld(held);
}

export function refuseHeld({ param, problem }: Held): GatewayError {
  return wrongValue(param, problem);
}

/** A file that is named by its id. */
export function heldFile(param: string): Held {
  return { param, problem: SEND_IT };
}

/** True where the object names a file by its id. Most are told by their bytes. */
export function namesFile(json: Buffer): boolean {
  return (json.includes("_id") || json.includes("\\u")) && heldIn(parsed(json.toString()), "") !== undefined;
}
