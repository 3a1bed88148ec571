/** From typed messages to the contents of a body. */
import { type Message, Role } from "../../../api/index.js";
import { arrayText } from "../../json/text.js";
import { encodeParts, type PromptContext } from "./encode-parts.js";
import { SIGNATURE_SENTINEL } from "../answer/proof.js";
import { isInstruction } from "../../request/part.js";

const GO_ON = '{"text":"Continue."}';

export interface Contents {
  /** The instruction as JSON; undefined where there is none. */
  readonly system: string | undefined;
  readonly contents: string;
}

/**
 * What the system says first is the instruction; what it says later stands among the user's words. Results of one
 * step stand in one content, however many messages they came in.
 */
export function encodeContents(messages: readonly Message[], context: PromptContext): Contents {
  const names = new Map<string, string>();
  const nameOf = (callId: string): string | undefined => names.get(callId);
  const system: string[] = [];
  const contents: { role: string; parts: string[]; areResults: boolean }[] = [];
  messages.forEach((message, place) => {
    const { role } = message;
    const parts = encodeParts(message.parts, `messages[${place}].parts`, nameOf, context);
    for (const { kind } of message.parts) if (kind?.$case === "toolCall") names.set(kind.value.id, kind.value.name);
    if (parts.length === 0) return;
    if (isInstruction(role) && contents.length === 0) system.push(...parts);
    else if (role === Role.ROLE_ASSISTANT)
      contents.push({ role: "model", parts: withSentinel(message, parts, context), areResults: false });
    else {
      const last = contents.at(-1);
      const areResults = role === Role.ROLE_TOOL;
      if (areResults && last?.areResults === true) last.parts.push(...parts);
      else contents.push({ role: "user", parts, areResults });
    }
  });
  // The wire wants a content, and an instruction alone is none; a call may not stand before it.
  if (contents.length === 0 || (context.isForeign && contents[0]?.role === "model"))
    contents.unshift({ role: "user", parts: [GO_ON], areResults: false });
  const texts = contents.map(({ role, parts }) => `{"role":"${role}","parts":${arrayText(parts)}}`);
  return {
    system: system.length === 0 ? undefined : `{"parts":${arrayText(system)}}`,
    contents: arrayText(texts),
  };
}

/** The first call of a turn must bring its signature; a client that lost it says so with Google's own word for that. */
function withSentinel(message: Message, parts: string[], context: PromptContext): string[] {
  if (!context.isForeign || !context.rules.needsSignature) return parts;
  const first = message.parts.find((part) => part.kind?.$case === "toolCall")?.kind;
  if (first?.$case !== "toolCall" || first.value.signature !== undefined) return parts;
  const place = parts.findIndex((part) => part.startsWith('{"functionCall"'));
  return parts.map((part, at) =>
    at === place ? `${part.slice(0, -1)},"thoughtSignature":"${SIGNATURE_SENTINEL}"}` : part,
  );
}
