/** Reads OpenAI's responses. */
import { check, Hearing, type Json, number, object, objects, payloads, type Reader, string } from "./heard.js";

/** Events that grow an item, and the member of the item that holds what grew. */
const GROWING: Readonly<Record<string, string>> = {
  "response.output_text.delta": "text",
  "response.refusal.delta": "refusal",
  "response.reasoning_summary_text.delta": "thinking",
  "response.reasoning_text.delta": "thinking",
  "response.function_call_arguments.delta": "arguments",
  "response.custom_tool_call_input.delta": "arguments",
};
const ENDS: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** `isStrict`: as the official client's helper of streams wants it, with every number in its place. */
function streamReader(isStrict: boolean): Reader["stream"] {
  return (text) => {
    // Deltas must tell what the end tells again.
    const grown = { text: "", refusal: "", thinking: "", arguments: "" };
    const items: { readonly id: unknown; isOpen: boolean }[] = [];
    let last: Json = {};
    for (const [place, { name, data }] of payloads(text).entries()) {
      if (data === "[DONE]") continue;
      const event = JSON.parse(data) as Json;
      const type = string(event["type"]);
      check(name === "" || name === type, `an event that is named ${name} and is ${type}`);
      check(!isStrict || event["sequence_number"] === place, `out of sequence: ${data}`);
      check((type === "response.created") === (place === 0), `${type} at ${place}`);
      check(!ENDS.has(string(last["type"])) && type !== "error", `${type} after its end, or an error`);
      const index = number(event["output_index"]);
      if (type === "response.output_item.added") {
        check(index === items.length, "an item out of place");
        items.push({ id: object(event["item"])["id"], isOpen: true });
      } else if (event["output_index"] !== undefined) {
        const item = items[index];
        const id = event["item_id"] ?? object(event["item"])["id"];
        check(item?.isOpen === true && item.id === id, `of an item that is not open: ${data}`);
        if (type === "response.output_item.done") item.isOpen = false;
      }
      const member = GROWING[type];
      if (member !== undefined) Reflect.set(grown, member, String(Reflect.get(grown, member)) + string(event["delta"]));
      last = event;
    }
    check(ENDS.has(string(last["type"])) && items.every(({ isOpen }) => !isOpen), "it is not whole");
    const hearing = readResponse(object(last["response"]));
    const told = hearing.calls.map(({ arguments: json }) => json).join("");
    check(hearing.text === grown.text && hearing.refusal === grown.refusal, "the end tells other words");
    check(hearing.thinking === grown.thinking, "the end tells other thoughts");
    check(told === grown.arguments, "the end tells other arguments");
    return hearing.heard();
  };
}

function readAnswer(text: string): ReturnType<Reader["answer"]> {
  return readResponse(JSON.parse(text) as Json).heard();
}

function readResponse(response: Json): Hearing {
  const hearing = new Hearing();
  check(response["object"] === "response", "it is no response");
  for (const item of objects(response["output"])) readItem(hearing, item);
  const { reason } = object(response["incomplete_details"]);
  hearing.ended(response["status"] === "incomplete" ? reason : response["status"]);
  const usage = object(response["usage"]);
  const cacheRead = number(object(usage["input_tokens_details"])["cached_tokens"]);
  const reasoning = number(object(usage["output_tokens_details"])["reasoning_tokens"]);
  const input = number(usage["input_tokens"]) - cacheRead;
  hearing.tokens = { input, cacheRead, output: number(usage["output_tokens"]) - reasoning, reasoning };
  return hearing;
}

function readItem(hearing: Hearing, item: Json): void {
  const name = string(item["name"]);
  if (item["type"] === "function_call") hearing.calls.push({ name, arguments: string(item["arguments"]) });
  if (item["type"] === "custom_tool_call") hearing.calls.push({ name, arguments: string(item["input"]), custom: true });
  for (const part of objects(item["summary"])) hearing.thinking += string(part["text"]);
  for (const part of objects(item["content"])) {
    if (part["type"] === "output_text") hearing.text += string(part["text"]);
    if (part["type"] === "refusal") hearing.refusal += string(part["refusal"]);
    if (part["type"] === "reasoning_text") hearing.thinking += string(part["text"]);
  }
}

/** Reads what we tell. */
export const responsesReader: Reader = { wire: "openai-responses", stream: streamReader(true), answer: readAnswer };
/** Reads what upstreams tell. */
export const looseResponsesReader: Reader = {
  wire: "openai-responses",
  stream: streamReader(false),
  answer: readAnswer,
};
