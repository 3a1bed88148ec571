/** Makes messages and their parts. */
import { type CacheMark, type Message, type Part, Role } from "../../api/index.js";

export function partOf(kind: NonNullable<Part["kind"]>, cacheMark?: CacheMark): Part {
  return { kind, cacheMark };
}

export function textPart(text: string, cacheMark?: CacheMark, citationsJson?: string): Part {
  return partOf({ $case: "text", value: { text, citationsJson } }, cacheMark);
}

/** What only its own wire understands, as that has it. */
export function opaquePart(wire: string, json: string): Part {
  return partOf({ $case: "opaque", value: { wire, json } });
}

export function messageOf(role: Role, parts: Part[]): Message {
  return { role, parts, name: undefined, extraJson: undefined };
}

/** True of who tells the model what to do, and is no part of the conversation. */
export function isInstruction(role: Role): boolean {
  return role === Role.ROLE_SYSTEM || role === Role.ROLE_DEVELOPER;
}

/** An instruction that stands among the user's words, told apart from what the user says. */
export function instructionAsText(text: string): string {
  return `<system>\n${text}\n</system>`;
}
