/** What a request asks for that no other wire can say, and without which its answer would be another. */
import type { Prompt } from "../../../api/index.js";
import { unsupported } from "../../error/refusals.js";
import { listOf, objectOf, parsed } from "../../json/value.js";

/** Throws PARAMETER_UNSUPPORTED. What else has no place on another wire is left out there. */
export function checkForeign(prompt: Prompt, model: string): void {
  const extra = objectOf(parsed(prompt.extra?.json ?? "{}"));
  const modalities = listOf(extra?.["modalities"]);
  if (modalities.every((modality) => modality === "text")) return;
  const problem = "only text output is supported";
  throw unsupported("modalities", problem, { model });
}
