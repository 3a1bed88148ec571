/**
 * What OpenAI's chat completions refuse, as far as a gateway could get it wrong. Built apart from the program's own
 * code.
 */

type Json = Readonly<Record<string, unknown>>;

/** How a family on the wire differs in what it refuses. */
export interface OpenAiStrictness {
  /** True for OpenAI itself: newer names and roles are known, and what is unknown is refused. */
  readonly isOpenAi: boolean;
  /** The member that every message of the assistant's must bring; empty where none. */
  readonly needsThinking: string;
  /** Members that it knows and OpenAI does not. */
  readonly ownMembers?: readonly string[];
}

const BOTH = [
  "model",
  "messages",
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "n",
  "stop",
  "seed",
  "logit_bias",
  "logprobs",
  "top_logprobs",
  "stream",
  "stream_options",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "response_format",
  "reasoning_effort",
  "max_tokens",
  "max_completion_tokens",
  "user",
];
const OPENAI_ONLY = [
  "verbosity",
  "modalities",
  "audio",
  "prediction",
  "web_search_options",
  "service_tier",
  "prompt_cache_key",
  "store",
  "metadata",
  "safety_identifier",
];

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** The message of the refusal; undefined where nothing is wrong. */
export function openAiProblem(body: Json, strictness: OpenAiStrictness): string | undefined {
  const { isOpenAi, needsThinking, ownMembers = [] } = strictness;
  const known = new Set([...BOTH, ...(isOpenAi ? OPENAI_ONLY : ownMembers)]);
  const unknown = Object.keys(body).find((key) => !known.has(key));
  if (unknown !== undefined) return `Unknown parameter: '${unknown}'.`;
  return (
    settingsProblem(body) ??
    (isOpenAi ? modelProblem(body) : undefined) ??
    toolsProblem(body) ??
    formatProblem(body["response_format"]) ??
    thinkingProblem(objects(body["messages"]), needsThinking) ??
    messagesProblem(objects(body["messages"]), isOpenAi)
  );
}

function settingsProblem(body: Json): string | undefined {
  if (typeof body["model"] !== "string") return "you must provide a model parameter";
  const isStream = body["stream"] === true;
  if (body["stream_options"] !== undefined && !isStream) return "'stream_options' only with 'stream'";
  const { stop } = body;
  if (Array.isArray(stop) && (stop.length === 0 || stop.length > 4)) return "Invalid 'stop': array of 1 to 4";
  for (const key of ["max_tokens", "max_completion_tokens"])
    if (key in body && !(Number.isInteger(body[key]) && Number(body[key]) >= 1)) return `Invalid '${key}': integer`;
  if ("max_tokens" in body && "max_completion_tokens" in body) return "setting both limits is not supported";
  return undefined;
}

function modelProblem(body: Json): string | undefined {
  const reasons = /^(o\d|gpt-5)/.test(String(body["model"]));
  if (!reasons && "reasoning_effort" in body) return "Unrecognized request argument supplied: reasoning_effort";
  const refused = ["max_tokens", "temperature", "top_p", "stop", "logit_bias"].find((key) => key in body);
  if (reasons && refused !== undefined) return `Unsupported parameter: '${refused}' is not supported with this model.`;
  return undefined;
}

function toolsProblem(body: Json): string | undefined {
  const { tools } = body;
  if (tools === undefined) {
    const alone = ["tool_choice", "parallel_tool_calls"].find((key) => key in body);
    return alone === undefined ? undefined : `'${alone}' is only allowed when 'tools' are specified.`;
  }
  if (!Array.isArray(tools) || tools.length === 0) return "Invalid 'tools': empty array";
  for (const [place, tool] of objects(tools).entries()) {
    const called = object(tool[String(tool["type"])]);
    if (!NAME.test(String(called["name"]))) return `Invalid 'tools[${place}].function.name'`;
    const { parameters } = called;
    if (parameters !== undefined && object(parameters)["type"] !== "object")
      return "Invalid schema for function: schema must be a JSON Schema of type object";
  }
  return undefined;
}

function formatProblem(format: unknown): string | undefined {
  if (format === undefined) return undefined;
  const { type, json_schema: schema } = object(format);
  if (type === "text" || type === "json_object") return undefined;
  if (type !== "json_schema") return "Invalid 'response_format.type'";
  if (!NAME.test(String(object(schema)["name"]))) return "Invalid 'response_format.json_schema.name'";
  const told = object(object(schema)["schema"]);
  if (object(schema)["strict"] === true && told["additionalProperties"] !== false)
    return "Invalid schema for response_format: 'additionalProperties' is required to be supplied and to be false.";
  return undefined;
}

function thinkingProblem(messages: readonly Json[], member: string): string | undefined {
  const lacks =
    member !== "" && messages.some(({ role, [member]: told }) => role === "assistant" && told === undefined);
  return lacks ? `Missing '${member}' field in an assistant message` : undefined;
}

function messagesProblem(messages: readonly Json[], isOpenAi: boolean): string | undefined {
  if (messages.length === 0) return "Invalid 'messages': empty array";
  let open: string[] = [];
  for (const [place, message] of messages.entries()) {
    const path = `messages.[${place}]`;
    const { role } = message;
    if (role === "tool") {
      const at = open.indexOf(String(message["tool_call_id"]));
      if (at === -1) return `${path}.role: 'tool' must answer a preceding message with 'tool_calls'`;
      open.splice(at, 1);
    } else if (open.length > 0) return `${path}.role: tool_call_ids did not have response messages: ${open.join()}`;
    const problem = messageProblem(message, isOpenAi);
    if (problem !== undefined) return `${path}: ${problem}`;
    if (role === "assistant") open = objects(message["tool_calls"]).map(({ id }) => String(id));
  }
  return open.length > 0 ? `tool_call_ids did not have response messages: ${open.join()}` : undefined;
}

function messageProblem(message: Json, isOpenAi: boolean): string | undefined {
  const { role, content } = message;
  const calls = message["tool_calls"];
  if (role === "developer" && !isOpenAi) return "unknown role 'developer'";
  if (!["system", "developer", "user", "assistant", "tool"].includes(String(role))) return "unknown role";
  if (calls !== undefined && (role !== "assistant" || objects(calls).length === 0)) return "tool_calls: empty array";
  for (const call of objects(calls)) {
    const id = String(call["id"]);
    if (id === "" || id.length > 64) return "tool_calls: id of 1 to 64 characters";
    const called = object(call["function"]);
    if (typeof called["arguments"] !== "string") return "tool_calls: arguments must be a string";
    if (!NAME.test(String(called["name"]))) return "tool_calls: name";
  }
  if (content === null || content === undefined) {
    const mayLack = role === "assistant" && (calls !== undefined || typeof message["refusal"] === "string");
    return mayLack ? undefined : "content: expected a string or an array, got null";
  }
  if (typeof content === "string") return undefined;
  if (!Array.isArray(content) || content.length === 0) return "content: empty array";
  const legal = LEGAL_PARTS[String(role)] ?? ["text"];
  return objects(content)
    .map((part) => partProblem(part, legal))
    .find((found) => found !== undefined);
}

const LEGAL_PARTS: Readonly<Record<string, readonly string[]>> = {
  user: ["text", "image_url", "input_audio", "file"],
  assistant: ["text", "refusal"],
};

function partProblem(part: Json, legal: readonly string[]): string | undefined {
  const type = String(part["type"]);
  if (!legal.includes(type)) return `content: '${type}' is not supported in this role`;
  if (type === "text" && typeof part["text"] !== "string") return "content: text is missing";
  if (type !== "image_url") return undefined;
  const url = String(object(part["image_url"])["url"]);
  return /^(https?:\/\/|data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$)/.test(url)
    ? undefined
    : "invalid_image_url";
}

function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}
