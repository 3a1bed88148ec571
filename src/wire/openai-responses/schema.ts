/** Names and shapes of the wire: what the other side says, before any of it is believed. */

export const WIRE_NAME = "openai-responses";

/** One event: its name stands before its data and in it. `members` are JSON, each with its key. */
export function eventText(type: string, members: string): string {
  return `event: ${type}\ndata: {"type":"${type}",${members}}\n\n`;
}
