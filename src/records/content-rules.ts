/** What is taken out of content before it is kept: credentials, and what the rules of its account describe. */
import { withoutSecrets } from "../base/redaction.js";
import { BODY_BYTES_DEFAULT } from "../base/account-bounds.js";
import { type GatheredContent, MARGIN_CHARACTERS } from "./content-tap.js";

const SIGNS = /[#*]|[^#*]+/gu;
const ESCAPED = /[\\^$.*+?()[\]{}|/]/g;
const DIGIT = "\\d";
/** Bounded, so that no text takes longer than its length times a few thousand steps. */
const WORD = "[\\p{L}\\p{N}_.%+-]{1,64}";

/** Rules as one pattern: `#` is a digit, `*` up to 64 characters of a word. Undefined without rules. */
export function patternOf(rules: readonly string[]): RegExp | undefined {
  if (rules.length === 0) return undefined;
  const sources = rules.map((rule) =>
    rule.replace(SIGNS, (part) => (part === "#" ? DIGIT : part === "*" ? WORD : part.replace(ESCAPED, "\\$&"))),
  );
  return new RegExp(sources.join("|"), "giu");
}

/** What is kept of content. */
export interface Redacted {
  readonly request: string;
  readonly requestCut: boolean;
  readonly answer: string;
  readonly answerCut: boolean;
}

export function redacted({ settings, request, requestCut, answer, answerCut }: GatheredContent): Redacted {
  const pattern = patternOf(settings.redactions);
  const most = settings.bodyBytesMax || BODY_BYTES_DEFAULT;
  const asked = clean(request, requestCut, most, pattern);
  const said = clean(answer, answerCut, most, pattern);
  return { request: asked.text, requestCut: asked.isCut, answer: said.text, answerCut: said.isCut };
}

function clean(
  body: Uint8Array | string,
  isCut: boolean,
  most: number,
  pattern: RegExp | undefined,
): { readonly text: string; readonly isCut: boolean } {
  const text = withoutSecrets(typeof body === "string" ? body : Buffer.from(body).toString("utf8"));
  const safe = pattern === undefined ? text : text.replace(pattern, "[redacted]");
  // Where a body was cut, the end may be half a secret, which has no shape any more.
  const whole = isCut ? safe.slice(0, Math.max(0, safe.length - MARGIN_CHARACTERS)) : safe;
  return { text: whole.slice(0, most), isCut: isCut || whole.length > most };
}
