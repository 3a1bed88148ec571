/** Log probabilities as the wire has them, in columns, both directions. */
import type { LogprobsDelta, TokenLogprob } from "../../../api/index.js";
import { type JsonObject, listOf, objectOf, textOf } from "../../json/value.js";

/** Undefined where there are none. */
export function decodeLogprobs(value: unknown, candidate: number): LogprobsDelta | undefined {
  const columns = objectOf(value);
  const tokens = listOf(columns?.["tokens"]);
  if (columns === undefined || tokens.length === 0) return undefined;
  const logprobs = listOf(columns["token_logprobs"]);
  const tops = listOf(columns["top_logprobs"]);
  const content = tokens.map((token, place): TokenLogprob => {
    const top = Object.entries(objectOf(tops[place]) ?? {}).map(([text, logprob]) => tokenOf(text, logprob, []));
    return tokenOf(textOf(token), logprobs[place], top);
  });
  return { candidate, content, refusal: [] };
}

function tokenOf(token: string, logprob: unknown, top: TokenLogprob[]): TokenLogprob {
  // The first token of an echoed prompt has none.
  return { token, logprob: typeof logprob === "number" ? logprob : 0, rawBytes: undefined, top };
}

/** `offset` is where the first token stands in the answer, in characters. */
export function encodeLogprobs({ content }: LogprobsDelta, offset: number): JsonObject {
  let at = offset;
  const offsets = content.map(({ token }) => {
    const start = at;
    at += token.length;
    return start;
  });
  const hasTop = content.some(({ top }) => top.length > 0);
  return {
    tokens: content.map(({ token }) => token),
    token_logprobs: content.map(({ logprob }) => logprob),
    top_logprobs: hasTop
      ? content.map(({ top }) => Object.fromEntries(top.map((one) => [one.token, one.logprob])))
      : null,
    text_offset: offsets,
  };
}
