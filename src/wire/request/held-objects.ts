/** Objects that the upstream keeps under the operator's credential: an id could name another tenant's. */
import { GatewayError } from "../../errors.js";
import { foldedName } from "./folded-name.js";
import { wrongValue } from "../json/node.js";
import { objectOf, parsed, textOf } from "../json/value.js";

const INSTEAD = "what the upstream keeps is shared by all who use this gateway, so nothing is taken by its id";
const SEND_IT = `${INSTEAD}; send the content itself`;

/** Members that name such an object wherever they stand, folded, and what to do. */
const HELD: ReadonlyMap<string, string> = new Map([
  ["fileid", SEND_IT],
  ["fileids", SEND_IT],
  ["vectorstoreids", `${INSTEAD}; send what is to be searched in the prompt`],
  ["filesearchstorenames", `${INSTEAD}; send what is to be searched in the prompt`],
  ["containerid", `${INSTEAD}; leave it out, and a new container is made`],
  ["skillid", `${INSTEAD}; send its text in the prompt`],
]);

/** Members of a tool that steer which model runs it, or what it runs on. */
const STEERING: ReadonlyMap<string, string> = new Map([
  ["model", "the price of the tool is that of its own model; leave it out"],
  ["memorylimit", "the price of the tool is that of its smallest container; leave it out"],
]);

const RETOLD: ReadonlySet<string> = new Set([
  "code_execution_output",
  "bash_code_execution_output",
  "file_search_call",
  "file_citation",
  "container_file_citation",
]);

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
  return name === "container" && typeof value === "string" ? HELD.get("containerid") : undefined;
}

/** True of a tool that only defines what the client runs. */
export function isDefinition(type: string): boolean {
  return DEFINITIONS.has(type);
}

/** Throws PARAMETER_INVALID for JSON that names such an object. */
function checkHeld(json: string | undefined, path: string): void {
  const held = json === undefined ? undefined : heldIn(parsed(json), path);
  if (held !== undefined) throw refuseHeld(held);
}

/** Members by which a part of a conversation would ask for what only the request itself may ask. */
const ASKING = ["tools", "model", "service_tier", "max_output_tokens"];

/** Throws PARAMETER_INVALID for a part, as its own wire has it, that names such an object or asks for more. */
export function checkPart(json: string, path: string): void {
  const part = objectOf(parsed(json));
  const asking = ASKING.find((name) => (part?.[name] ?? null) !== null);
  if (asking !== undefined)
    throw wrongValue(`${path}.${asking}`, "a part cannot ask for it; say it once, in the prompt");
  checkHeld(json, path);
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
