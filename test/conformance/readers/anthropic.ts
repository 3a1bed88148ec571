/** Reads Anthropic's messages. */
import { check, Hearing, type Json, number, object, objects, payloads, type Reader, string } from "./heard.js";

const ONCE: ReadonlySet<string> = new Set(["message_start", "message_delta", "message_stop"]);

function readStream(text: string): ReturnType<Reader["stream"]> {
  const hearing = new Hearing();
  const blocks: string[] = [];
  let isOpen = false;
  let usage: Json = {};
  const told: string[] = [];
  for (const { name, data } of payloads(text)) {
    const event = JSON.parse(data) as Json;
    check(event["type"] === name, `an event that is named ${name} and is ${string(event["type"])}`);
    if (name === "ping") continue;
    check(name !== "error", `it tells an error: ${data}`);
    check(told.at(-1) !== "message_stop", "it goes on when it stopped");
    if (ONCE.has(name)) check(!isOpen && !told.includes(name), `${name} out of place`);
    else check(told.length > 0 && !told.includes("message_delta"), `${name} out of place`);
    told.push(name);
    if (name === "content_block_start") {
      check(!isOpen && event["index"] === blocks.length, `a block out of place: ${data}`);
      isOpen = true;
      const block = object(event["content_block"]);
      blocks.push(string(block["type"]));
      readBlock(hearing, Object.assign({}, block, { input: undefined }));
    } else if (name === "content_block_delta" || name === "content_block_stop") {
      check(isOpen && event["index"] === blocks.length - 1, `${name} of a block that is not open`);
      readDelta(hearing, object(event["delta"]));
      if (name === "content_block_stop") isOpen = false;
    } else if (name === "message_start") usage = object(object(event["message"])["usage"]);
    else if (name === "message_delta") {
      check(event["usage"] !== undefined, "an end without usage");
      const counted = Object.entries(object(event["usage"])).filter(([, value]) => value !== null);
      usage = { ...usage, ...Object.fromEntries(counted) };
      readEnd(hearing, object(event["delta"]));
    }
  }
  check(told[0] === "message_start" && told.at(-1) === "message_stop", "it is not whole");
  hearing.tokens = tokensOf(usage);
  return hearing.heard();
}

function readAnswer(text: string): ReturnType<Reader["answer"]> {
  const hearing = new Hearing();
  const message = JSON.parse(text) as Json;
  check(message["type"] === "message", "it is no message");
  for (const block of objects(message["content"])) readBlock(hearing, block);
  readEnd(hearing, message);
  hearing.tokens = tokensOf(object(message["usage"]));
  return hearing.heard();
}

function readEnd(hearing: Hearing, told: Json): void {
  hearing.ended(told["stop_reason"]);
  hearing.refusal += string(object(told["stop_details"])["explanation"]);
}

function readBlock(hearing: Hearing, block: Json): void {
  if (block["type"] === "text") hearing.text += string(block["text"]);
  if (block["type"] === "thinking") {
    check(typeof block["signature"] === "string", "a thought without its proof");
    hearing.thinking += string(block["thinking"]);
  }
  if (block["type"] !== "tool_use") return;
  check(/^[a-zA-Z0-9_-]+$/.test(string(block["id"])), "a call without its id");
  const input = block["input"] === undefined ? "" : JSON.stringify(block["input"]);
  hearing.calls.push({ name: string(block["name"]), arguments: input });
}

function readDelta(hearing: Hearing, delta: Json): void {
  hearing.text += string(delta["text"]);
  hearing.thinking += string(delta["thinking"]);
  const call = hearing.calls.at(-1);
  if (delta["type"] === "input_json_delta" && call !== undefined) call.arguments += string(delta["partial_json"]);
}

function tokensOf(usage: Json): Hearing["tokens"] {
  const reasoning = number(object(usage["output_tokens_details"])["thinking_tokens"]);
  return {
    input: number(usage["input_tokens"]),
    cacheRead: number(usage["cache_read_input_tokens"]),
    output: number(usage["output_tokens"]) - reasoning,
    reasoning,
  };
}

export const messagesReader: Reader = { wire: "anthropic", stream: readStream, answer: readAnswer };
