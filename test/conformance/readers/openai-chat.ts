/** Reads OpenAI's chat completions, with the spellings of those that follow it. */
import type { Tokens } from "../scenario.js";
import { check, Hearing, type Json, number, object, objects, payloads, type Reader, string } from "./heard.js";

/** `isStrict`: as the official client's helper of streams wants it, which real upstreams do not all follow. */
function streamReader(isStrict: boolean): Reader["stream"] {
  return (text) => {
    const hearing = new Hearing();
    const events = payloads(text);
    check(events.at(-1)?.data === "[DONE]", "it is not done");
    let hasRole = false;
    for (const { data } of events.slice(0, -1)) {
      check(data !== "[DONE]", "it goes on when it is done");
      const chunk = JSON.parse(data) as Json;
      check(chunk["error"] === undefined, `it tells an error: ${data}`);
      check(!isStrict || chunk["object"] === "chat.completion.chunk", "it is no chunk");
      for (const choice of objects(chunk["choices"])) {
        const delta = object(choice["delta"]);
        check(!isStrict || choice["index"] === 0, "a choice without its index");
        check(!isStrict || hasRole || delta["role"] === "assistant", "the first delta has no role");
        hasRole = true;
        readMessage(hearing, delta, isStrict);
        const reason = choice["finish_reason"];
        if (typeof reason === "string" && reason !== "") hearing.ended(reason);
        else check(!isStrict || hearing.end === "", "it goes on after its end");
      }
      readUsage(hearing, chunk);
    }
    return hearing.heard();
  };
}

function readAnswer(text: string): ReturnType<Reader["answer"]> {
  const hearing = new Hearing();
  const answer = JSON.parse(text) as Json;
  const [choice, ...others] = objects(answer["choices"]);
  check(choice !== undefined && others.length === 0, "not one choice");
  readMessage(hearing, object(choice["message"]), false);
  hearing.ended(choice["finish_reason"]);
  readUsage(hearing, answer);
  return hearing.heard();
}

function readMessage(hearing: Hearing, message: Json, isStrict: boolean): void {
  const { content } = message;
  hearing.text += string(content);
  hearing.refusal += string(message["refusal"]);
  hearing.thinking += string(message["reasoning_content"]) || string(message["reasoning"]);
  // Mistral's content is a list of pieces.
  for (const piece of objects(content)) {
    if (piece["type"] === "text") hearing.text += string(piece["text"]);
    for (const thought of objects(piece["thinking"])) hearing.thinking += string(thought["text"]);
  }
  for (const [place, told] of objects(message["tool_calls"]).entries()) {
    const isCustom = told["custom"] !== undefined;
    const { name, input, arguments: json = input } = object(told["custom"] ?? told["function"]);
    const index = typeof told["index"] === "number" ? told["index"] : place;
    const known = hearing.calls[index];
    const more = typeof json === "string" ? json : (JSON.stringify(json) ?? "");
    if (known === undefined) {
      check(index === hearing.calls.length, "a call out of turn");
      check(string(told["id"]) !== "" && string(name) !== "", "a call without its name");
      hearing.calls.push({ name: string(name), arguments: more, custom: isCustom });
    } else {
      check(!isStrict || (told["id"] === undefined && name === undefined), "a call that changes");
      known.arguments += more;
    }
  }
}

function readUsage(hearing: Hearing, told: Json): void {
  const usage = object(told["usage"] ?? object(told["x_groq"])["usage"]);
  if (usage["prompt_tokens"] === undefined) return;
  hearing.tokens = tokensOf(usage);
}

function tokensOf(usage: Json): Tokens {
  const details = object(usage["prompt_tokens_details"]);
  const cacheRead = number(details["cached_tokens"] ?? usage["prompt_cache_hit_tokens"]);
  const reasoning = number(object(usage["completion_tokens_details"])["reasoning_tokens"]);
  const input = number(usage["prompt_tokens"]) - cacheRead;
  return { input, cacheRead, output: number(usage["completion_tokens"]) - reasoning, reasoning };
}

/** Reads what we tell. */
export const chatReader: Reader = { wire: "openai-chat", stream: streamReader(true), answer: readAnswer };
/** Reads what upstreams tell. */
export const looseChatReader: Reader = { wire: "openai-chat", stream: streamReader(false), answer: readAnswer };
