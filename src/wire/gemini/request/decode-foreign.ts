/** What a request asks for that no other wire can say, and without which its answer would be another. */
import { type Prompt, ToolChoice_Mode } from "../../../api/index.js";
import { unsupported } from "../../error/refusals.js";
import { listOf, objectOf, parsed, textOf } from "../../json/value.js";

const ALLOWED = "toolConfig.functionCallingConfig.allowedFunctionNames";

/** Throws PARAMETER_UNSUPPORTED. What else has no place on another wire is left out there. */
export function checkForeign(prompt: Prompt, model: string): void {
  const extra = objectOf(parsed(prompt.extra?.json ?? "{}"));
  const refuse = (param: string, problem: string): never => {
    throw unsupported(param, problem, { model });
  };
  if (textOf(extra?.["continuationToken"]) !== "") refuse("continuationToken", "it cannot go on with Google's answer");
  const names = new Set(prompt.tools.flatMap(({ kind }) => (kind?.$case === "function" ? [kind.value.name] : [])));
  const unknown = prompt.toolChoice?.names.find((name) => !names.has(name));
  if (unknown !== undefined) refuse(ALLOWED, `there is no function '${unknown.slice(0, 64)}' among the tools`);
  if (prompt.toolChoice?.mode === ToolChoice_Mode.MODE_REQUIRED && names.size === 0)
    refuse("toolConfig.functionCallingConfig.mode", "there is no function among the tools that could be called");
  const modalities = listOf(objectOf(extra?.["generationConfig"])?.["responseModalities"]);
  if (modalities.some((modality) => modality !== "TEXT" && modality !== "MODALITY_UNSPECIFIED"))
    refuse("generationConfig.responseModalities", "only text output is supported");
}
