/** Files that the upstream keeps, named by an address of its own: it could be of another tenant's. */
import { heldFile, refuseHeld } from "../../request/held-objects.js";
import { listOf, objectOf, parsed, textOf } from "../../json/value.js";
import { OWN_WORDS } from "./members.js";

/** Who speaks, where text is text: the others' words are the upstream's instructions. */
const SPEAKERS: ReadonlySet<string> = new Set(["user", "assistant", "tool", "function"]);
/** Members of messages and parts that are text, which may quote any address. */
const TEXTS: ReadonlySet<string> = new Set(
  ["content", "text", "refusal", "arguments", "name"].concat("reasoning", "reasoning_content", "thinking"),
);

/** What stands before the strokes of an address: in a text, and as a body writes it. */
const MARKS = [":/", ":\\/"];
const ESCAPE = "\\u00";
/** An escape of a letter, a colon or a stroke: what else is escaped is no part of such an address. */
const HIDDEN = /^(?:2f|3a|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])/i;

/**
 * Throws PARAMETER_INVALID where the body names a file by an address of one of the schemes: in the text of
 * instructions, such as `fileid://file-fe-1`, or as the whole of what is no text, such as the address of a picture.
 * What it says would also be read as input beyond what the hold covers.
 */
export function refuseNamedFiles(body: Buffer, schemes: readonly string[]): void {
  if (!mayName(body, schemes)) return;
  const scheme = `(?:${schemes.join("|")})://`;
  const look = { within: new RegExp(`(?<![a-z0-9+.-])${scheme}`, "i"), whole: new RegExp(`^\\s*${scheme}`, "i") };
  const { messages, ...beside } = objectOf(parsed(body.toString())) ?? {};
  for (const [index, message] of listOf(messages).entries()) {
    const { role, ...said } = objectOf(message) ?? {};
    const isText = SPEAKERS.has(textOf(role));
    for (const [key, value] of Object.entries(said)) {
      const names = namesFile(value, isText && TEXTS.has(key), isText, look);
      if (names) throw refuseHeld(heldFile(`messages[${index}].${key}`));
    }
  }
  for (const [key, value] of Object.entries(beside))
    if (!OWN_WORDS.beside.has(key) && namesFile(value, false, true, look)) throw refuseHeld(heldFile(key));
}

interface Look {
  readonly within: RegExp;
  readonly whole: RegExp;
}

/** `isText`: nothing reads the value as an address. `isSpoken`: nor what it has as text. */
function namesFile(value: unknown, isText: boolean, isSpoken: boolean, look: Look): boolean {
  if (typeof value === "string") return !isText && (isSpoken ? look.whole : look.within).test(value);
  if (Array.isArray(value))
    return value.some((item) => namesFile(item, isText && typeof item === "string", isSpoken, look));
  return Object.entries(objectOf(value) ?? {}).some(
    ([key, inner]) => !OWN_WORDS.anywhere.has(key) && namesFile(inner, isSpoken && TEXTS.has(key), isSpoken, look),
  );
}

/** False for nearly all bodies, after three looks over their bytes. */
function mayName(body: Buffer, schemes: readonly string[]): boolean {
  for (const mark of MARKS) {
    for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + 2)) {
      const before = body.toString("latin1", Math.max(0, at - SCHEME_CHARACTERS_MAX), at).toLowerCase();
      if (schemes.some((scheme) => before.endsWith(scheme))) return true;
    }
  }
  for (let at = body.indexOf(ESCAPE); at !== -1; at = body.indexOf(ESCAPE, at + ESCAPE.length)) {
    const start = at + ESCAPE.length;
    if (HIDDEN.test(body.toString("latin1", start, start + 2))) return true;
  }
  return false;
}

const SCHEME_CHARACTERS_MAX = 16;
