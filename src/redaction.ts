/** Takes credentials out of text that leaves the process: the one table for the log and for what clients read. */

/** What credentials look like: of keys with a prefix, of tokens, and where headers and addresses carry them. */
export const SHAPES: Readonly<Record<string, RegExp>> = {
  "a private key": /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  "a key with a prefix": /\b(?:[spr]k|csk|gsk|xai|hf|r8|nvapi|pplx|fw|tgp|whsec)[-_][A-Za-z0-9_*.-]{6,}/g,
  "an access key of Amazon": /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g,
  "a key of Google": /\bAIza[A-Za-z0-9_-]{10,}/g,
  "a token of Google": /\bya29\.[A-Za-z0-9._-]{8,}/g,
  "a token of GitHub": /\b(?:gh[opsur]_|github_pat_)[A-Za-z0-9_]{16,}/g,
  "a token of Slack": /\bxox[a-z]-[A-Za-z0-9-]{8,}/g,
  "a JSON Web Token": /\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,2}/g,
  "a header's credential": /\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  "an address's credential": /(?<=:\/\/)[^/\s:@"]*:[^/\s@"]+(?=@)/g,
  "a query's credential": /(?<=[?&](?:key|api[_-]?key|access_token|token|secret|signature|x-amz-[a-z-]+)=)[^&\s"]+/gi,
};

// What each of them has, by a character that few lines have: nearly every line has none of it, and one look costs less
// than all replacements. Where a rare character follows common ones the look begins there and goes back.
const TRACES = [
  "-----BEGIN",
  "[-_](?<=(?:[spr]k|xai|hf|r8|nvapi|pplx|fw|tgp|whsec|gh[opsur]|github_pat|xox[a-z])[-_])",
  "A(?:KIA|SIA|Iza)",
  "\\.(?<=ya29\\.)",
  "J(?<=eyJ)",
  "\\s(?<=(?:[bB][eE][aA][rR][eE][rR]|[bB][aA][sS][iI][cC])\\s)",
  "\\/(?<=:\\/\\/)",
  "[?&][\\w-]+=",
].join("|");

/** A shorter text is no secret, and would be found in half of all lines. */
const CHARACTERS_MIN = 8;
const CONFIGURED_MAX = 10_000;

const SHAPES_TRACE = new RegExp(TRACES);

const configured = new Set<string>();
let exact: RegExp | undefined;
/** Finds no less than the shapes and the configured secrets together. */
let trace = SHAPES_TRACE;

/**
 * Keeps these secrets out of all text that is redacted from now on, whatever their shape and whatever stands beside
 * them: as they are, as JSON writes them, and as an address does. Those of fewer than 8 characters are left.
 */
export function protectSecrets(secrets: Iterable<string | undefined>): void {
  for (const secret of secrets) {
    if (secret === undefined || secret.length < CHARACTERS_MIN || configured.size >= CONFIGURED_MAX) continue;
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) configured.add(form);
  }
  // The longest first: one secret may be the beginning of another.
  const forms = [...configured].toSorted((a, b) => b.length - a.length);
  const sources = forms.map(escaped);
  exact = sources.length === 0 ? undefined : new RegExp(sources.join("|"), "g");
  // A line with one that has a trace of a shape is looked at anyway.
  const traceless = forms.filter((form) => !SHAPES_TRACE.test(form)).map(escaped);
  trace = new RegExp([...traceless, TRACES].join("|"));
}

/** The configured secrets so far, in the order in which they came: another thread has a table of its own. */
export function protectedSecrets(): readonly string[] {
  return [...configured];
}

/** The text without its credentials. */
export function withoutSecrets(text: string): string {
  if (!trace.test(text)) return text;
  return byShape(exact === undefined ? text : text.replace(exact, "[redacted]"));
}

function byShape(text: string): string {
  let clean = text;
  for (const name in SHAPES) {
    const shape = SHAPES[name];
    if (shape !== undefined) clean = clean.replace(shape, "[redacted]");
  }
  return clean;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
