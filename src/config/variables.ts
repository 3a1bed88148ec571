/** Every variable of the environment that people set, read off what reads it. */
import { z } from "zod";
import { COMMAND_VARIABLES } from "./command-variables.js";
import { SCHEMA } from "./environment.js";

/** A variable, as people read of it. */
export interface Variable {
  readonly name: string;
  /** As the environment would say it; undefined where it has none, or another than a plain text. */
  readonly default: string | undefined;
  readonly description: string;
  /** Who reads it. */
  readonly reader: "gateway" | "commands";
}

/** Every variable that people set. */
export function variables(): readonly Variable[] {
  const json = z.object(PROPERTIES).parse(z.toJSONSchema(SCHEMA, { io: "input", unrepresentable: "any" }));
  const gateway = Object.entries(json.properties).map(([name, said]): Variable => ({
    name,
    default: said.default,
    description: said.description ?? "",
    reader: "gateway",
  }));
  const commands = Object.entries(COMMAND_VARIABLES).map(([name, description]): Variable => ({
    name,
    default: undefined,
    description,
    reader: "commands",
  }));
  return [...gateway, ...commands];
}

const PROPERTIES = {
  properties: z.record(
    z.string(),
    z.object({ default: z.string().optional(), description: z.string().optional() }).loose(),
  ),
};
