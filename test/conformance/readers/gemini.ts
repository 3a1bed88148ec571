/** Reads answers of Google's Gemini API. */
import { check, Hearing, type Json, number, object, objects, payloads, type Reader, string } from "./heard.js";

/** `isStrict`: as Google's own chats want it: each chunk an answer, and one end. */
function streamReader(isStrict: boolean): Reader["stream"] {
  return (text) => {
    const hearing = new Hearing();
    for (const { data } of payloads(text)) {
      const chunk = JSON.parse(data) as Json;
      check(!isStrict || hearing.end === "", "it goes on after its end");
      const [candidate] = objects(chunk["candidates"]);
      check(!isStrict || objects(object(candidate?.["content"])["parts"]).length > 0, `no answer: ${data}`);
      readChunk(hearing, chunk);
    }
    return hearing.heard();
  };
}

function readAnswer(text: string): ReturnType<Reader["answer"]> {
  const hearing = new Hearing();
  readChunk(hearing, JSON.parse(text) as Json);
  return hearing.heard();
}

function readChunk(hearing: Hearing, chunk: Json): void {
  check(chunk["error"] === undefined, `it tells an error: ${JSON.stringify(chunk)}`);
  const [candidate, ...others] = objects(chunk["candidates"]);
  check(others.length === 0, "more than one candidate");
  for (const part of objects(object(candidate?.["content"])["parts"])) {
    check(Object.keys(part).length > 0, "a part that holds nothing");
    const call = object(part["functionCall"]);
    if (part["functionCall"] !== undefined)
      hearing.calls.push({ name: string(call["name"]), arguments: JSON.stringify(call["args"] ?? {}) });
    else if (part["thought"] === true) hearing.thinking += string(part["text"]);
    else hearing.text += string(part["text"]);
  }
  if (candidate?.["finishReason"] !== undefined) hearing.ended(candidate["finishReason"]);
  const usage = object(chunk["usageMetadata"]);
  if (chunk["usageMetadata"] === undefined) return;
  const cacheRead = number(usage["cachedContentTokenCount"]);
  hearing.tokens = {
    input: number(usage["promptTokenCount"]) - cacheRead,
    cacheRead,
    output: number(usage["candidatesTokenCount"]),
    reasoning: number(usage["thoughtsTokenCount"]),
  };
}

/** Reads what we tell. */
export const geminiReader: Reader = { wire: "gemini", stream: streamReader(true), answer: readAnswer };
/** Reads what upstreams tell. */
export const looseGeminiReader: Reader = { wire: "gemini", stream: streamReader(false), answer: readAnswer };
