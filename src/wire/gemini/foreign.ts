/** What a request asks for that no other wire can say, and without which its answer would be another. */
import type { Prompt } from "../../api/index.js";
import { GatewayError } from "../../errors.js";
import { listOf, objectOf, parsed, textOf } from "../json/value.js";

/** Throws PARAMETER_UNSUPPORTED. What else has no place on another wire is left out there. */
export function checkForeign(prompt: Prompt, model: string): void {
  const extra = objectOf(parsed(prompt.extra?.json ?? "{}"));
  const refuse = (param: string, problem: string): never => {
    throw new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param, problem, model });
  };
  if (textOf(extra?.["cachedContent"]) !== "") refuse("cachedContent", "it is not Google's, which alone holds it");
  if (textOf(extra?.["continuationToken"]) !== "") refuse("continuationToken", "it cannot go on with Google's answer");
  const modalities = listOf(objectOf(extra?.["generationConfig"])?.["responseModalities"]);
  if (modalities.some((modality) => modality !== "TEXT" && modality !== "MODALITY_UNSPECIFIED"))
    refuse("generationConfig.responseModalities", "it answers in text");
}
