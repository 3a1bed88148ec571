/** Files that the upstream keeps, named in the text of a system message: its address could be of another tenant's. */
import { heldFile, refuseHeld } from "../../request/held-objects.js";
import { listOf, objectOf, parsed, textOf } from "../../json/value.js";

/** Who speaks, where text is text: the others' words are the upstream's instructions. */
const SPEAKERS: ReadonlySet<string> = new Set(["user", "assistant", "tool", "function"]);

/**
 * Throws PARAMETER_INVALID where instructions in the body name a file by an address of this scheme, such as `fileid:`.
 * What it says would also be read as input beyond what the hold covers.
 */
export function refuseNamedFiles(body: Buffer, scheme: string): void {
  // Most bodies have neither the word nor an escape that may hide a letter of it.
  if (!new RegExp(`${scheme.slice(0, -1)}|\\\\u00`, "i").test(body.toString("latin1"))) return;
  const messages = listOf(objectOf(parsed(body.toString()))?.["messages"]);
  for (const [index, message] of messages.entries()) {
    const { role, content } = objectOf(message) ?? {};
    if (SPEAKERS.has(textOf(role))) continue;
    const names = (text: unknown): boolean => textOf(text).toLowerCase().includes(`${scheme}//`);
    if (names(content) || listOf(content).some((part) => names(part) || names(objectOf(part)?.["text"])))
      throw refuseHeld(heldFile(`messages[${index}].content`));
  }
}
