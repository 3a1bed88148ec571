/** Reads judgements, which are handed on as they came: a gateway must not invent categories. */
import { NO_USAGE } from "../../../api/usage.js";
import { startOf } from "../../answer/start.js";
import { hasBrokenCount, tokenCount } from "../../answer/token-count.js";
import { upstreamFailed } from "../../error/refusals.js";
import { listOf, objectOf, parsed, textOf } from "../../json/value.js";
import type { DecodedAnswer, WireRequest } from "../../wire.js";

/** Reads an answer. Throws UPSTREAM_FAILED where it is none, or where it leaves an input without its judgement. */
export function decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer {
  const answer = objectOf(parsed(body.toString("utf8")));
  const results = listOf(answer?.["results"]);
  if (answer === undefined || results.length === 0) throw upstreamFailed("its answer holds no results");
  const expected = asked?.facts.inputCount ?? results.length;
  if (results.length !== expected) throw upstreamFailed(`it answered ${results.length} results for ${expected} inputs`);
  const usage = objectOf(answer["usage"]);
  const tokens = tokenCount(usage?.["total_tokens"]) ?? tokenCount(usage?.["prompt_tokens"]);
  return {
    report: {
      usage: tokens === undefined ? undefined : { ...NO_USAGE, inputTokens: BigInt(tokens) },
      usageBroken: hasBrokenCount(usage, ["prompt_tokens", "total_tokens"]),
      complete: true,
      text: "",
      made: "content",
      servedModel: textOf(answer["model"]),
    },
    events: () => [startOf(answer)],
  };
}
