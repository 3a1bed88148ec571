/** What an upstream says to a framework's examples: a greeting, a call of the tool it was given, JSON where asked. */
import type { Saying } from "../agents/scenario.js";

export const GREETING = "Hello from the far side of the gate.";
export const REPORT = "It is 21 degrees in Oslo.";
/** How clients ask for JSON: by members of each wire, or in the prompt. */
const SHAPED = [
  ...["json_schema", "json_object", "responseSchema", "responseJsonSchema", "application/json"].map(
    (one) => `"${one}"`,
  ),
  "Output should be in JSON",
  "Return JSON",
  "Answer with a single JSON object",
  "Respond with a JSON object",
  "Use this JSON schema",
];
/** What every program asks. */
const QUESTION = "How is the weather in Oslo?";
/** The tool by which some agents end. */
const LAST_TOOL = "final_answer";
const CITY = "Oslo";
const DEGREES = 21;

export function sayingFor(body: unknown): Saying {
  const text = JSON.stringify(body);
  // What the tool told, in whatever form the history has it.
  if (text.includes("sunny-21")) {
    // A client that leaves the conversation to the server brings its last turn alone.
    if (!text.includes(QUESTION)) return { kind: "text", text: "The conversation is lost." };
    const last = toolIn(body, ({ name }) => name === LAST_TOOL);
    if (last === undefined) return { kind: "text", text: REPORT };
    return { kind: "call", name: last.name, arguments: JSON.stringify({ answer: REPORT }) };
  }
  // Agents bring tools of their own beside.
  const tool = toolIn(body, (one) => Object.keys(argumentsFor(one)).length > 0);
  if (tool !== undefined) return { kind: "call", name: tool.name, arguments: JSON.stringify(argumentsFor(tool)) };
  const isStructured = SHAPED.some((words) => text.includes(words));
  return { kind: "text", text: isStructured ? JSON.stringify({ city: CITY, degrees: DEGREES }) : GREETING };
}

interface Tool {
  readonly name: string;
  readonly properties: object;
}

function argumentsFor({ properties }: Tool): object {
  const all = { city: CITY, degrees: DEGREES, input: CITY };
  return Object.fromEntries(Object.entries(all).filter(([name]) => name in properties));
}

/** The first tool of a body that fits: an object with a name and a schema. */
function toolIn(value: unknown, fits: (tool: Tool) => boolean): Tool | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const members = value as Readonly<Record<string, unknown>>;
  const { name } = members;
  const isNamedSchema = "schema" in members;
  const schema = ["parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema"]
    .map((key) => members[key])
    .find((one) => typeof one === "object" && one !== null && "properties" in one);
  if (typeof name === "string" && schema !== undefined && !isNamedSchema) {
    const tool = { name, properties: Object(Reflect.get(Object(schema), "properties")) as object };
    if (fits(tool)) return tool;
  }
  for (const one of Object.values(members)) {
    const found = toolIn(one, fits);
    if (found !== undefined) return found;
  }
  return undefined;
}
