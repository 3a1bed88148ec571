/** What a client may call the conversation, or session, that a request belongs to. */

/** What would break a line, or hides, is in no name: control and format characters, and separators of lines. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u;

/** The name without spaces around it; empty where it is none, and then it is as if none was given. */
export function conversationIn(text: unknown): string {
  const name = typeof text === "string" ? text.trim() : "";
  return NAME.test(name) ? name : "";
}
