/** Members of a request that an upstream lacks: what to do with each. */
import { unsupported } from "../../error/refusals.js";
import { listOf, parsed } from "../../json/value.js";
import { isDefault } from "../../request/says-nothing.js";

/** Members without which the answer would be another one, and whether a value of theirs asks for that. */
const CHANGES_ANSWER: ReadonlyMap<string, { readonly asks: (json: string) => boolean; readonly problem: string }> =
  new Map([
    ["n", { asks: (json) => Number(json) > 1, problem: "it gives one answer" }],
    ["logprobs", { asks: (json) => json === "true", problem: "it tells no probabilities" }],
    ["top_logprobs", { asks: (json) => Number(json) > 0, problem: "it tells no probabilities" }],
    ["modalities", { asks: asksForMoreThanText, problem: "it answers in text" }],
    ["audio", { asks: () => true, problem: "it answers in text" }],
    ["response_format", { asks: (json) => !/"type"\s*:\s*"text"/.test(json), problem: "it answers in text" }],
  ]);

/**
 * Says whether the member must be named among those that were left out. Throws PARAMETER_UNSUPPORTED where it cannot be
 * left out.
 */
export function mustReportDropped(key: string, json: string, model: string): boolean {
  if (isDefault(key, parsed(json))) return false;
  const change = CHANGES_ANSWER.get(key);
  if (change === undefined) return true;
  if (change.asks(json)) throw unsupported(key, change.problem, { model });
  return false;
}

function asksForMoreThanText(json: string): boolean {
  return listOf(parsed(json)).some((modality) => modality !== "text");
}
