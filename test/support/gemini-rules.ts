/**
 * What Google's Gemini API refuses, as far as a gateway could get it wrong. Built apart from the program's own code.
 */

type Json = Readonly<Record<string, unknown>>;

/** A signature that the fake takes for its own begins so. */
export const SIGNATURE = "R29vZ2xl";
/** What Google documents for a call whose signature is lost. */
export const SENTINEL = "skip_thought_signature_validator";

const TOP = ["contents", "systemInstruction", "tools", "toolConfig", "safetySettings", "generationConfig"];
const TOP_MORE = ["cachedContent", "serviceTier", "labels", "store", "continuationToken"];
const CONFIG = [
  "temperature",
  "topP",
  "topK",
  "candidateCount",
  "maxOutputTokens",
  "stopSequences",
  "seed",
  "presencePenalty",
  "frequencyPenalty",
  "responseLogprobs",
  "logprobs",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "responseModalities",
  "mediaResolution",
  "speechConfig",
  "imageConfig",
  "thinkingConfig",
];
const DATA = ["text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode"];
const FLAGS = ["thought", "thoughtSignature"];

/** The message of the refusal; undefined where nothing is wrong. */
export function geminiProblem(model: string, body: Json): string | undefined {
  return (
    unknownName(body, [...TOP, ...TOP_MORE], "") ??
    configProblem(model, object(body["generationConfig"])) ??
    toolsProblem(body) ??
    contentsProblem(model, objects(body["contents"])) ??
    objects(object(body["systemInstruction"])["parts"])
      .map((part) => partProblem(part))
      .find((found) => found !== undefined)
  );
}

function unknownName(value: Json, known: readonly string[], path: string): string | undefined {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  const at = path === "" ? "" : ` at '${path}'`;
  return unknown === undefined ? undefined : `Invalid JSON payload. Unknown name "${unknown}"${at}: Cannot find field.`;
}

function configProblem(model: string, config: Json): string | undefined {
  const unknown = unknownName(config, CONFIG, "generation_config");
  if (unknown !== undefined) return unknown;
  const isBound = "responseSchema" in config || "responseJsonSchema" in config;
  if ("responseSchema" in config && "responseJsonSchema" in config) return "only one of the two schemas may be set";
  if (isBound && config["responseMimeType"] !== "application/json")
    return "responseMimeType must be application/json where a schema is set";
  if (Array.isArray(config["stopSequences"]) && config["stopSequences"].length > 5) return "at most 5 stopSequences";
  const thinking = object(config["thinkingConfig"]);
  const more = unknownName(thinking, ["includeThoughts", "thinkingBudget", "thinkingLevel"], "thinking_config");
  if (more !== undefined) return more;
  if ("thinkingBudget" in thinking && "thinkingLevel" in thinking)
    return "You can only set one of thinking budget and thinking level.";
  if ("thinkingLevel" in thinking && !model.startsWith("gemini-3"))
    return "Thinking level is not supported for this model.";
  const levels = ["MINIMAL", "LOW", "MEDIUM", "HIGH"];
  if ("thinkingLevel" in thinking && !levels.includes(String(thinking["thinkingLevel"])))
    return "Invalid thinking level.";
  return undefined;
}

function toolsProblem(body: Json): string | undefined {
  const declared = objects(body["tools"]).flatMap((tool) => objects(tool["functionDeclarations"]));
  for (const declaration of declared) {
    const { name } = declaration;
    if (!/^[A-Za-z_][\w.:-]{0,127}$/.test(String(name))) return "Invalid function name.";
    if ("parameters" in declaration && "parametersJsonSchema" in declaration) return "only one of the two parameters";
    const { type, properties } = object(declaration["parameters"]);
    if (type === "OBJECT" && Object.keys(object(properties)).length === 0)
      return `parameters.properties: should be non-empty for OBJECT type`;
    const unknown = unknownName(
      declaration,
      ["name", "description", "parameters", "parametersJsonSchema", "response", "responseJsonSchema", "behavior"],
      "tools.function_declarations",
    );
    if (unknown !== undefined) return unknown;
  }
  const calling = object(object(body["toolConfig"])["functionCallingConfig"]);
  const allowed = calling["allowedFunctionNames"];
  if (allowed !== undefined && calling["mode"] !== "ANY" && calling["mode"] !== "VALIDATED")
    return "Allowed function names should be set only when mode is ANY or VALIDATED.";
  return undefined;
}

interface Content {
  readonly role: unknown;
  readonly parts: readonly Json[];
}

/** Neighbours of one role are one turn, as the real API has it. */
function turnsOf(contents: readonly Json[]): Content[] {
  const turns: Content[] = [];
  for (const content of contents) {
    const last = turns.at(-1);
    const role = content["role"] ?? "user";
    const parts = objects(content["parts"]);
    if (last !== undefined && last.role === role) turns[turns.length - 1] = { role, parts: [...last.parts, ...parts] };
    else turns.push({ role, parts });
  }
  return turns;
}

function contentsProblem(model: string, contents: readonly Json[]): string | undefined {
  if (contents.length === 0) return "contents is not specified";
  for (const [place, content] of contents.entries()) {
    const unknown = unknownName(content, ["role", "parts"], `contents[${place}]`);
    if (unknown !== undefined) return unknown;
    const role = content["role"] ?? "user";
    if (role !== "user" && role !== "model") return "Please use a valid role: user, model.";
    const parts = objects(content["parts"]);
    if (parts.length === 0) return `contents[${place}].parts must not be empty.`;
    // Google's own client sends back the empty text that ends its streams.
    const isEmpty = role === "user" && parts.some((part) => part["text"] === "");
    if (isEmpty) return `contents[${place}]: Unable to submit an empty text.`;
    const problem = parts.map((part) => partProblem(part)).find((found) => found !== undefined);
    if (problem !== undefined) return `contents[${place}]: ${problem}`;
  }
  return turnsProblem(model, turnsOf(contents));
}

function turnsProblem(model: string, turns: readonly Content[]): string | undefined {
  const isUsersOwn = ({ role, parts }: Content): boolean =>
    role === "user" && parts.some((part) => "text" in part) && !parts.some((part) => "functionResponse" in part);
  const lastUser = turns.findLastIndex(isUsersOwn);
  for (const [place, turn] of turns.entries()) {
    const calls = turn.parts.filter((part) => "functionCall" in part);
    if (turn.role === "user" && calls.length > 0) return "a user cannot call functions";
    if (calls.length > 0 && place === 0) return "function call turn must come after a user turn";
    const results = (turns[place + 1]?.parts ?? []).filter((part) => "functionResponse" in part);
    if (turn.role === "model" && calls.length !== results.length)
      return "the number of function response parts must equal the number of function call parts of the turn before";
    const first = calls[0];
    if (!model.startsWith("gemini-3") || first === undefined || place < lastUser) continue;
    const signature = first["thoughtSignature"];
    if (signature === undefined) return "Function call is missing a thought_signature in functionCall parts.";
    if (signature !== SENTINEL && !String(signature).startsWith(SIGNATURE)) return "Thought signature is not valid.";
  }
  if (turns[0]?.parts.some((part) => "functionResponse" in part)) return "a function response without a call";
  return undefined;
}

function partProblem(part: Json): string | undefined {
  const unknown = unknownName(part, [...DATA, ...FLAGS], "parts");
  if (unknown !== undefined) return unknown;
  const held = DATA.filter((key) => key in part);
  if (held.length !== 1) return "required oneof field 'data' must have one initialized field";
  const signature = part["thoughtSignature"];
  if (signature !== undefined && !/^[A-Za-z0-9+/_-]*={0,2}$/.test(String(signature))) return "Base64 decoding failed";
  const call = part["functionCall"];
  if (call !== undefined && typeof object(call)["name"] !== "string") return "function_call.name: required";
  if (call !== undefined && "args" in object(call) && !isObject(object(call)["args"])) return "args: not an object";
  const result = part["functionResponse"];
  if (result !== undefined && typeof object(result)["name"] !== "string") return "function_response.name: required";
  if (result !== undefined && !isObject(object(result)["response"])) return "function_response.response: not an object";
  const data = part["inlineData"];
  if (data !== undefined && !/^[A-Za-z0-9+/]+={0,2}$/.test(String(object(data)["data"])))
    return "Base64 decoding failed";
  return undefined;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function object(value: unknown): Json {
  return isObject(value) ? (value as Json) : {};
}
