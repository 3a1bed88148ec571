/** The names of media types that upstreams take, for the many that clients give them. */
import type { Message, Part, Prompt } from "../../api/index.js";

/** Other names of a type: of older standards, of browsers, and of whoever made it of a file's ending. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["image/jfif", "image/jpeg"],
  ["image/x-png", "image/png"],
  ["image/apng", "image/png"],
  ["audio/x-wav", "audio/wav"],
  ["audio/wave", "audio/wav"],
  ["audio/vnd.wave", "audio/wav"],
  ["application/x-pdf", "application/pdf"],
  ["text/x-markdown", "text/markdown"],
]);

/** The registered name alone: in small letters, without parameters such as a charset. */
export function plainMediaType(told: string): string {
  const plain = (told.split(";")[0] ?? "").trim().toLowerCase();
  return ALIASES.get(plain) ?? plain;
}

/** The prompt whose media are called so, wherever they stand. The very same one where all are already. */
export function withPlainMediaTypes(prompt: Prompt): Prompt {
  return prompt.messages.some(({ parts }) => parts.some(isOddlyNamed))
    ? { ...prompt, messages: prompt.messages.map(plainMessage) }
    : prompt;
}

function plainMessage(message: Message): Message {
  return message.parts.some(isOddlyNamed) ? { ...message, parts: message.parts.map(plainPart) } : message;
}

function plainPart(part: Part): Part {
  const { kind } = part;
  if (kind?.$case === "toolResult") {
    const value = { ...kind.value, parts: kind.value.parts.map(plainPart) };
    return { ...part, kind: { $case: "toolResult", value } };
  }
  if (kind?.$case !== "image" && kind?.$case !== "audio" && kind?.$case !== "file") return part;
  const { source } = kind.value;
  if (source?.$case !== "inline") return part;
  const inline = { ...source.value, mediaType: plainMediaType(source.value.mediaType) };
  const plain = { $case: "inline" as const, value: inline };
  switch (kind.$case) {
    case "image":
      return { ...part, kind: { $case: "image", value: { ...kind.value, source: plain } } };
    case "audio":
      return { ...part, kind: { $case: "audio", value: { ...kind.value, source: plain } } };
    case "file":
      return { ...part, kind: { $case: "file", value: { ...kind.value, source: plain } } };
    default:
      return kind satisfies never;
  }
}

function isOddlyNamed({ kind }: Part): boolean {
  switch (kind?.$case) {
    case "toolResult":
      return kind.value.parts.some(isOddlyNamed);
    case "image":
    case "audio":
    case "file": {
      const { source } = kind.value;
      return source?.$case === "inline" && plainMediaType(source.value.mediaType) !== source.value.mediaType;
    }
    default:
      return false;
  }
}
