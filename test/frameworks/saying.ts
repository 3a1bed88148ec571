/** What an upstream says to a framework's examples: a greeting, a call of the tool it was given, JSON where asked. */
import type { Saying } from "../agents/scenario.js";

export const GREETING = "Hello from the far side of the gate.";
export const REPORT = "It is 21 degrees in Oslo.";
const CITY = "Oslo";
const DEGREES = 21;

export function sayingFor(body: unknown): Saying {
  const text = JSON.stringify(body);
  // What the tool told, in whatever form the history has it.
  if (text.includes("sunny-21")) return { kind: "text", text: REPORT };
  const tool = toolIn(body);
  if (tool !== undefined) return { kind: "call", name: tool.name, arguments: JSON.stringify(argumentsFor(tool)) };
  const isStructured =
    /"(json_schema|json_object|responseSchema|responseJsonSchema|application\/json)"|Output should be in JSON/.test(
      text,
    );
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

/** The first tool of a body: an object with a name and a schema. */
function toolIn(value: unknown): Tool | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const members = value as Readonly<Record<string, unknown>>;
  const { name } = members;
  const isNamedSchema = "schema" in members;
  const schema = ["parameters", "input_schema", "parametersJsonSchema"]
    .map((key) => members[key])
    .find((one) => typeof one === "object" && one !== null && "properties" in one);
  if (typeof name === "string" && schema !== undefined && !isNamedSchema)
    return { name, properties: Object(Reflect.get(Object(schema), "properties")) as object };
  for (const one of Object.values(members)) {
    const found = toolIn(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
