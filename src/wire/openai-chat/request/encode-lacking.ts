/** Members of a request that an upstream lacks: what to do with each. */
import { unsupported } from "../../error/refusals.js";
import { listOf, parsed } from "../../json/value.js";
import { isDefault } from "../../request/says-nothing.js";

/** Members without which the answer would be another one, and whether a value of theirs asks for that. */
const CHANGES_ANSWER: ReadonlyMap<string, { readonly asks: (json: string) => boolean; readonly problem: string }> =
  new Map([
    ["n", { asks: (json) => Number(json) > 1, problem: "only one answer is supported" }],
    ["logprobs", { asks: (json) => json === "true", problem: "log probabilities are not supported" }],
    ["top_logprobs", { asks: (json) => Number(json) > 0, problem: "log probabilities are not supported" }],
    ["modalities", { asks: asksForMoreThanText, problem: "only text output is supported" }],
    ["audio", { asks: () => true, problem: "only text output is supported" }],
    [
      "response_format",
      { asks: (json) => !/"type"\s*:\s*"text"/.test(json), problem: "only text output is supported" },
    ],
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
