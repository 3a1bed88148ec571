/** Log probabilities of tokens as OpenAI writes them, both directions. */
import type { LogprobsDelta, TokenLogprob } from "../../../api/index.js";
import { type JsonObject, listOf, objectOf, textOf } from "../../json/value.js";

/** Undefined where there are none. */
export function decodeLogprobs(value: unknown, candidate: number): LogprobsDelta | undefined {
  const logprobs = objectOf(value);
  if (logprobs === undefined) return undefined;
  const content = decodeTokens(logprobs["content"]);
  const refusal = decodeTokens(logprobs["refusal"]);
  return content.length + refusal.length === 0 ? undefined : { candidate, content, refusal };
}

export function decodeTokens(value: unknown): TokenLogprob[] {
  return listOf(value).flatMap((item) => {
    const token = objectOf(item);
    return token === undefined ? [] : [decodeToken(token)];
  });
}

function decodeToken(token: JsonObject): TokenLogprob {
  const text = textOf(token["token"]);
  const { logprob, bytes } = token;
  const rawBytes = Array.isArray(bytes) ? Buffer.from(bytes.map(Number)) : undefined;
  return {
    token: text,
    logprob: typeof logprob === "number" ? logprob : 0,
    // Bytes that only repeat the text say nothing new.
    rawBytes: rawBytes?.equals(Buffer.from(text)) === true ? undefined : rawBytes,
    top: decodeTokens(token["top_logprobs"]),
  };
}

export function encodeLogprobs(logprobs: LogprobsDelta): JsonObject {
  const { content, refusal } = logprobs;
  return {
    content: content.length === 0 && refusal.length > 0 ? null : content.map(encodeToken),
    refusal: refusal.length === 0 ? null : refusal.map(encodeToken),
  };
}

export function encodeToken(token: TokenLogprob): JsonObject {
  return { ...encodeAlone(token), top_logprobs: token.top.map(encodeAlone) };
}

function encodeAlone({ token, logprob, rawBytes = Buffer.from(token) }: TokenLogprob): JsonObject {
  return { token, logprob, bytes: [...rawBytes] };
}
