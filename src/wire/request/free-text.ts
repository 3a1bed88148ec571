/** Tools that take free text, on wires and upstreams that know only arguments in an object: functions with one text. */
import type { CustomTool, Prompt } from "../../api/index.js";
import { objectOf, parsed } from "../json/value.js";

/** The arguments of such a function, as a schema. */
export const FREE_TEXT_SCHEMA = '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}';

/** What the tool is for, with the form that its text must have, which no schema can say. */
export function freeTextDescription({ description, formatJson }: CustomTool): string | undefined {
  const form = formatJson === undefined ? "" : `\n\nThe input has this form: ${formatJson}`;
  const told = `${description ?? ""}${form}`.trim();
  return told === "" ? undefined : told;
}

/** The text as the arguments of the function. */
export function wrappedText(text: string): string {
  return `{"input":${JSON.stringify(text)}}`;
}

/** The text of a call's arguments; arguments of another form are the text themselves. */
export function unwrappedText(json: string): string {
  const input = objectOf(parsed(json))?.["input"];
  return typeof input === "string" ? input : json;
}

/** The names of a prompt's tools that take free text. */
export function freeTextTools(prompt: Prompt): ReadonlySet<string> {
  return new Set(prompt.tools.flatMap(({ kind }) => (kind?.$case === "custom" ? [kind.value.name] : [])));
}
