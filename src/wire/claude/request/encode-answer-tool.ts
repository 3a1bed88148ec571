/** Answers that are bound to a schema by a tool, on models that bind them in no other way. */
import type { Prompt } from "../../../api/index.js";
import { changedNames, PLAIN_NAMES } from "../../request/fitted-names.js";
import { freeTextTools } from "../../request/free-text.js";

/** The name of the tool whose arguments are the answer: one that no tool of the client's has. */
export function jsonToolName(prompt: Prompt): string {
  const taken = new Set(prompt.tools.map(({ kind }) => (kind?.$case === "function" ? kind.value.name : "")));
  let name = "json";
  while (taken.has(name)) name += "_";
  return name;
}

/** What a request made of its tools, so that the answer can be told in the client's terms. */
export interface AskedTools {
  /** Tools that take free text, which the wire knows only inside an object. */
  readonly custom: ReadonlySet<string>;
  /** The tool whose arguments are the answer; undefined where no schema was asked for. */
  readonly json: string | undefined;
  /** The client's own names of tools whose names did not fit, by what became of them. */
  readonly names: ReadonlyMap<string, string>;
}

export function askedTools(prompt: Prompt): AskedTools {
  const isBound = prompt.outputFormat?.kind?.$case === "jsonSchema";
  const names = changedNames(prompt, PLAIN_NAMES);
  return { custom: freeTextTools(prompt), json: isBound ? jsonToolName(prompt) : undefined, names };
}
