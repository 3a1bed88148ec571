/** Files that the upstream keeps, named in the text of a system message: its address could be of another tenant's. */
import { heldFile, refuseHeld } from "../../request/held-objects.js";
import { listOf, objectOf, parsed, textOf } from "../../json/value.js";

/** Who speaks, where text is text: the others' words are the upstream's instructions. */
const SPEAKERS: ReadonlySet<string> = new Set(["user", "assistant", "tool", "function"]);

const ADDRESS = /fileid:\/\//i;
/** What a body with such an address has: the word, or an escape that may hide a letter of it. Most have neither. */
const TRACE = /fileid|\\u00/i;

/**
 * Throws PARAMETER_INVALID where instructions in the body name a file by its address, such as `fileid://file-fe-1`.
 * What it says would also be read as input beyond what the hold covers.
 */
export function refuseNamedFiles(body: Buffer): void {
  if (!TRACE.test(body.toString("latin1"))) return;
  const messages = listOf(objectOf(parsed(body.toString()))?.["messages"]);
  for (const [index, message] of messages.entries()) {
    const { role, content } = objectOf(message) ?? {};
    if (SPEAKERS.has(textOf(role))) continue;
    const texts = [content, ...listOf(content).flatMap((part) => [part, objectOf(part)?.["text"]])];
    if (texts.some((text) => ADDRESS.test(textOf(text)))) throw refuseHeld(heldFile(`messages[${index}].content`));
  }
}
