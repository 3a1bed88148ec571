/** Log probabilities of tokens, both directions. */
import type { LogprobsDelta, TokenLogprob } from "../../../api/index.js";
import { type JsonObject, listOf, objectOf, textOf } from "../../json/value.js";

/** Undefined where there are none. */
export function decodeLogprobs(value: unknown, candidate: number): LogprobsDelta | undefined {
  const result = objectOf(value);
  const tops = listOf(result?.["topCandidates"]);
  const content = listOf(result?.["chosenCandidates"]).map((chosen, place): TokenLogprob => {
    const top = listOf(objectOf(tops[place])?.["candidates"]).map((item) => decodeToken(item));
    return Object.assign(decodeToken(chosen), { top });
  });
  return content.length === 0 ? undefined : { candidate, content, refusal: [] };
}

function decodeToken(value: unknown): TokenLogprob {
  const token = objectOf(value);
  const logprob = token?.["logProbability"];
  return {
    token: textOf(token?.["token"]),
    logprob: typeof logprob === "number" ? logprob : 0,
    rawBytes: undefined,
    top: [],
  };
}

export function encodeLogprobs({ content, refusal }: LogprobsDelta): JsonObject {
  const tokens = [...content, ...refusal];
  return {
    chosenCandidates: tokens.map(encodeToken),
    topCandidates: tokens.map(({ top }) => ({ candidates: top.map(encodeToken) })),
  };
}

function encodeToken({ token, logprob }: TokenLogprob): JsonObject {
  return { token, logProbability: logprob };
}
