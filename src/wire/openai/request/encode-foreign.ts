/** A prompt of another wire, fitted to what OpenAI's wires take and to what the model refuses. */
import { createHash } from "node:crypto";
import type { Message, Part, Prompt } from "../../../api/index.js";
import { withAnsweredCalls } from "../../request/answered-calls.js";
import { PLAIN_NAMES, withFittedNames } from "../../request/fitted-names.js";
import { obeyFacts } from "../../request/obeyed-facts.js";
import type { ModelFacts } from "../../wire.js";

const CALL_ID_CHARACTERS_MAX = 64;
const HASH_CHARACTERS = 12;

/** The prompt as the model takes it. What is left out is named in `dropped`. */
export function fittedPrompt(prompt: Prompt, facts: ModelFacts, dropped: string[]): Prompt {
  const named = withFittedNames(
    obeyFacts(prompt, facts, (param) => void dropped.push(param)),
    PLAIN_NAMES,
  );
  return {
    ...named,
    messages: withAnsweredCalls(named.messages).map(fittedMessage),
    serviceTier: tierOf(prompt.serviceTier, dropped),
  };
}

/** Tiers of other wires by the names that they have here. */
const TIERS: ReadonlyMap<string, string> = new Map([
  ["auto", "auto"],
  ["default", "default"],
  ["standard", "default"],
  ["standard_only", "default"],
  ["flex", "flex"],
  ["priority", "priority"],
]);

function tierOf(tier: string | undefined, dropped: string[]): string | undefined {
  const known = TIERS.get(tier?.toLowerCase() ?? "auto");
  if (known === undefined) dropped.push("service_tier");
  return tier === undefined ? undefined : known;
}

/** An id of a call that is not too long. Two that differ stay two. */
function fittedCallId(id: string): string {
  if (id.length <= CALL_ID_CHARACTERS_MAX) return id;
  const hash = createHash("sha256").update(id).digest("hex").slice(0, HASH_CHARACTERS);
  return `${id.slice(0, CALL_ID_CHARACTERS_MAX - HASH_CHARACTERS - 1)}_${hash}`;
}

function fittedMessage(message: Message): Message {
  return { ...message, parts: message.parts.map(fittedPart) };
}

function fittedPart(part: Part): Part {
  const { kind } = part;
  switch (kind?.$case) {
    case "toolCall": {
      const value = { ...kind.value, id: fittedCallId(kind.value.id) };
      return { ...part, kind: { $case: "toolCall", value } };
    }
    case "toolResult": {
      const value = { ...kind.value, callId: fittedCallId(kind.value.callId), parts: kind.value.parts.map(fittedPart) };
      return { ...part, kind: { $case: "toolResult", value } };
    }
    case "file": {
      // Files of plain text are refused here, and say the same as text.
      const { source, filename } = kind.value;
      if (source?.$case !== "inline" || !source.value.mediaType.startsWith("text/")) return part;
      const title = filename === undefined ? "" : `${filename}\n\n`;
      const text = title + source.value.data.toString();
      return { ...part, kind: { $case: "text", value: { text, citationsJson: undefined } } };
    }
    default:
      return part;
  }
}
