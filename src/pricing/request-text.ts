/** What of a request is read as text, whatever its wire. */
import type { Part } from "../api/index.js";
import type { EmbeddingQuestion, LongBody, LongText, WireRequest } from "../wire/wire.js";

/**
 * The text of a request of any length. Undefined where the typed form cannot hold it, and where the thread of long
 * bodies has no room: a settlement that asks must not fail.
 */
export function textOf(request: WireRequest): RequestText | undefined | Promise<LongText | undefined> {
  return request.long === undefined ? readableInput(request) : longText(request.long);
}

function longText(long: LongBody): Promise<LongText | undefined> {
  return long.text().catch(() => undefined);
}

/** The request as its client wrote it, or all texts of one that came typed. */
export function textBytesOf(request: WireRequest): Buffer {
  return request.source?.body ?? Buffer.from(readableInput(request)?.text ?? "");
}

export interface RequestText extends LongText {
  readonly text: string;
}

/** Undefined where the typed form cannot hold the request. */
export function readableInput(request: WireRequest): RequestText | undefined {
  try {
    return inputText(request);
  } catch {
    return undefined;
  }
}

/** Throws PARAMETER_* where the typed form cannot hold the request. */
export function inputText(request: WireRequest): RequestText {
  if (request.embedding !== undefined) return embeddingText(request.embedding);
  if (request.readText !== undefined) {
    const { texts, repeatedTokens } = request.readText();
    return { messages: 0, text: texts.join("\n"), tokens: repeatedTokens };
  }
  const { inputTokens } = request.facts;
  if (inputTokens !== undefined) return { messages: 0, text: "", tokens: inputTokens };
  const prompt = request.prompt();
  const texts: string[] = [];
  for (const message of prompt.messages) for (const part of message.parts) collectText(part, texts);
  for (const tool of prompt.tools) texts.push(JSON.stringify(tool.kind?.value ?? {}));
  if (prompt.outputFormat?.kind?.$case === "jsonSchema") texts.push(prompt.outputFormat.kind.value.schemaJson ?? "");
  return { messages: prompt.messages.length, text: texts.join("\n"), tokens: 0 };
}

function embeddingText(question: EmbeddingQuestion): RequestText {
  const texts: string[] = [];
  let tokens = 0;
  for (const input of question.inputs()) {
    if (typeof input === "string") texts.push(input);
    else tokens += input.length;
  }
  texts.push(...(question.beside?.() ?? []));
  return { messages: 0, text: texts.join("\n"), tokens };
}

function collectText(part: Part, texts: string[]): void {
  const kind = part.kind;
  switch (kind?.$case) {
    case "text":
    case "thinking":
    case "refusal":
      texts.push(kind.value.text);
      return;
    case "toolCall":
      texts.push(kind.value.name, kind.value.arguments);
      return;
    case "toolResult":
      for (const inner of kind.value.parts) collectText(inner, texts);
      return;
    case "opaque":
      texts.push(kind.value.json);
      return;
    case "redactedThinking":
    case "image":
    case "file":
    case "audio":
    case undefined:
      return;
    default:
      kind satisfies never;
  }
}
