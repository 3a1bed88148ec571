/** Takes credentials out of text that leaves the process: the one table for the log and for what clients read. */

/** What credentials look like: of keys with a prefix, of tokens, and where headers and addresses carry them. */
export const SHAPES: Readonly<Record<string, RegExp>> = {
  "a private key": /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  // The hint of a key of ours, such as sk-tg12...34, tells which it was.
  "a key with a prefix":
    /\b(?!sk-[\w-]{0,4}\.{3}\S{0,2}(?![\w*.-]))(?:[spr]k|csk|gsk|xai|hf|r8|nvapi|pplx|fw|tgp|whsec)[-_][\w*.-]{6,}/g,
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

const SHAPES_TRACE = new RegExp(TRACES);

/** A shorter text is no secret, and would be found in half of all lines. */
const CHARACTERS_MIN = 8;
const CONFIGURED_MAX = 10_000;
/** An address within a JSON text within an address has as many layers of escapes. */
const LAYERS_MAX = 3;
const ESCAPE = /%(?:25)*([0-9a-f]{2})|\\+(?:u([0-9a-f]{4})|(["\\/bfnrt]))/gi;
const CONTROLS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** From where to where something is to be taken out of a text. */
type Range = readonly [start: number, end: number];

const configured = new Set<string>();
/** Whole secrets in their forms, by the characters that they begin with. */
const wholes = new Map<string, string[]>();
/** Parts of secrets, of as many characters, that no word has. */
const parts = new Set<string>();
/**
 * How far a look may go on from a place, by the hash of the signs that end there: no whole or part of a secret ends
 * before that. Nearly all signs of nearly all lines are passed over so, as Wu and Manber do.
 */
const BLOCK = 3;
const BLOCKS = CHARACTERS_MIN - BLOCK + 1;
const HASHES = 2 ** 16;
const steps = new Uint8Array(HASHES).fill(BLOCKS);

/**
 * Keeps these secrets out of all text that is redacted from now on, whatever their shape and whatever stands beside
 * them: in any case, with any of their signs escaped as JSON or an address does, in base64 and in hex; and of their
 * parts those of 8 characters and more that are no words. Secrets of fewer than 8 characters are left.
 */
export function protectSecrets(secrets: Iterable<string | undefined>): void {
  for (const secret of secrets) {
    if (secret === undefined || secret.length < CHARACTERS_MIN) continue;
    if (configured.has(secret) || configured.size >= CONFIGURED_MAX) continue;
    configured.add(secret);
    const texts = textsOf(secret);
    for (const form of new Set([...texts, ...encodingsOf(secret)].map(lowered))) {
      if (form.length < CHARACTERS_MIN) continue;
      const start = marked(form.slice(0, CHARACTERS_MIN));
      // The longest first: one secret may be the beginning of another.
      const all = [...(wholes.get(start) ?? []), form].toSorted((one, other) => other.length - one.length);
      wholes.set(start, all);
    }
    for (const text of new Set(valuesOf(secret).flatMap((value) => Array.from(textsOf(value)))))
      for (let start = 0; start <= text.length - CHARACTERS_MIN; start += 1) {
        const part = text.slice(start, start + CHARACTERS_MIN);
        if (!isWord(part)) parts.add(marked(lowered(part)));
      }
  }
}

/** The configured secrets so far, in the order in which they came: another thread has a table of its own. */
export function protectedSecrets(): readonly string[] {
  return [...configured];
}

/** The text without its credentials. */
export function withoutSecrets(text: string): string {
  const ranges = configuredIn(text);
  if (SHAPES_TRACE.test(text)) {
    for (const shape of Object.values(SHAPES))
      for (const { index, 0: found } of text.matchAll(shape)) ranges.push([index, index + found.length]);
  }
  return ranges.length === 0 ? text : without(text, ranges);
}

function without(text: string, ranges: readonly Range[]): string {
  let clean = "";
  let end = -1;
  for (const range of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (range[0] > end) clean += `${text.slice(Math.max(end, 0), range[0])}[redacted]`;
    end = Math.max(end, range[1]);
  }
  return clean + text.slice(end);
}

/** Where configured secrets stand in a text, also below its escapes. */
function configuredIn(text: string): Range[] {
  const ranges: Range[] = [];
  if (configured.size === 0) return ranges;
  look(lowered(text), (start, end) => ranges.push([start, end]));
  let view = { text, starts: undefined as Uint32Array | undefined };
  for (let layer = 0; layer < LAYERS_MAX && mayHaveEscapes(view.text); layer += 1) {
    const { text: below, starts } = unescaped(view.text);
    if (below === view.text) break;
    const above = view.starts;
    view = { text: below, starts: above === undefined ? starts : starts.map((start) => above[start] ?? 0) };
    const places = view.starts ?? starts;
    look(lowered(below), (start, end) => ranges.push([places[start] ?? 0, places[end] ?? 0]));
  }
  return ranges;
}

/** Tells each place of a lower-case text that a whole secret or a part of one takes. Linear in the text. */
function look(text: string, found: (start: number, end: number) => void): void {
  let end = CHARACTERS_MIN;
  while (end <= text.length) {
    const step = steps[blockHash(text, end)] ?? 0;
    if (step > 0) {
      end += step;
      continue;
    }
    const start = end - CHARACTERS_MIN;
    const part = text.slice(start, end);
    const whole = wholes.get(part)?.find((form) => text.startsWith(form, start));
    if (whole !== undefined) found(start, start + whole.length);
    else if (parts.has(part)) found(start, end);
    end += 1;
  }
}

function marked(part: string): string {
  for (let end = BLOCK; end <= CHARACTERS_MIN; end += 1) {
    const hash = blockHash(part, end);
    steps[hash] = Math.min(steps[hash] ?? 0, CHARACTERS_MIN - end);
  }
  return part;
}

/** Of the signs before a place. */
function blockHash(text: string, end: number): number {
  return (text.charCodeAt(end - 1) + text.charCodeAt(end - 2) * 31 + text.charCodeAt(end - BLOCK) * 961) & (HASHES - 1);
}

/** Looks for single signs, which is many times faster than an expression. */
function mayHaveEscapes(text: string): boolean {
  return text.includes("\\") || text.includes("%");
}

/** A secret as it is written, and as it reads where its escapes are taken for some. */
function textsOf(secret: string): ReadonlySet<string> {
  const texts = new Set<string>();
  // An address escapes bytes, one by one.
  for (const text of [secret, JSON.stringify(secret).slice(1, -1), Buffer.from(secret).toString("latin1")]) {
    let below = text;
    for (let layer = 0; layer <= LAYERS_MAX; layer += 1) {
      texts.add(below);
      below = unescaped(below).text;
    }
  }
  return texts;
}

/** What of a secret has parts that tell it: of a credential's file the values, since any JSON may have its names. */
function valuesOf(secret: string): readonly string[] {
  if (!secret.trimStart().startsWith("{")) return [secret];
  try {
    const values = Object.values(JSON.parse(secret) as object).filter((value) => typeof value === "string");
    return values.filter((value) => !value.startsWith("https://"));
  } catch {
    return [secret];
  }
}

/** The secret as its bytes are written. */
function* encodingsOf(secret: string): Iterable<string> {
  const bytes = Buffer.from(secret);
  yield bytes.toString("hex");
  // Of three bytes base64 makes four signs, so what stands before decides which signs are the secret's alone.
  for (let before = 0; before < 3; before += 1) {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const own = [Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6)] as const;
    for (const encoding of ["base64", "base64url"] as const) yield whole.toString(encoding).slice(...own);
  }
}

/** The text with its escapes of one layer read, and where each of its signs begins in what was given. */
function unescaped(text: string): { readonly text: string; readonly starts: Uint32Array } {
  const starts = new Uint32Array(text.length + 1);
  let below = "";
  let end = 0;
  const copyTo = (place: number): void => {
    for (let at = end; at < place; at += 1) starts[below.length + at - end] = at;
    below += text.slice(end, place);
  };
  for (const { index, 0: escape, 1: byte, 2: unit, 3: sign = "" } of text.matchAll(ESCAPE)) {
    copyTo(index);
    starts[below.length] = index;
    const code = byte ?? unit;
    below += code === undefined ? (CONTROLS[sign] ?? sign) : String.fromCharCode(Number.parseInt(code, 16));
    end = index + escape.length;
  }
  copyTo(text.length);
  starts[below.length] = text.length;
  return { text: below, starts: starts.subarray(0, below.length + 1) };
}

/** In lower case, and as long as it was. */
function lowered(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replaceAll(/[A-Z]+/g, (signs) => signs.toLowerCase());
}

/** True of what words, names and numbers may have: no digits among letters, and no capitals behind small ones. */
function isWord(part: string): boolean {
  return /^[\p{L}\d\s_.,:/-]*$/u.test(part) && !(/\d/.test(part) && /[a-z]/i.test(part)) && !/[a-z][A-Z]/.test(part);
}
