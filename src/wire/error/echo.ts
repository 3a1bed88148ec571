/** Whether words of an upstream's error are the client's own, repeated. */
import type { WireRequest } from "../wire.js";

/**
 * True where a request holds the words, in any case, and however its JSON spells their signs. They are of ASCII, as all
 * is that a wire's grammar knows.
 */
export function holdsWords(request: WireRequest, words: string): boolean {
  const signs = Array.from(words, (sign) => {
    const codes = [sign.toLowerCase(), sign.toUpperCase()].map((one) => one.charCodeAt(0).toString(16));
    return `(?:${/\w/.test(sign) ? sign : `\\${sign}`}|\\\\u00(?:${codes.join("|")}))`;
  });
  return new RegExp(signs.join(""), "i").test(textOf(request));
}

/** What a request says, as text. */
export function textOf(request: WireRequest): string {
  const { source, embedding } = request;
  if (source !== undefined) return source.body.toString("latin1");
  const said = embedding === undefined ? request.prompt() : embedding.inputs();
  return JSON.stringify(said, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}
