/** Decides what the stand-in answers, as tokens: the same to the same request, each time. */
import { smallestInstance } from "./instance.js";
import { pieces } from "./pieces.js";
import { SimRefusal } from "./refusal.js";
import { callableTools, SIM_MODEL, textOf, type SimBody, type SimTool } from "./request.js";
import { readSteering, type Steering } from "./steering.js";

/** A call of a tool, its arguments in tokens. */
export interface ToolCall {
  readonly tool: SimTool;
  readonly id: string;
  readonly input: readonly string[];
}

/** One candidate. */
export interface Candidate {
  readonly thinking: readonly string[];
  readonly text: readonly string[];
  readonly calls: readonly ToolCall[];
  readonly finish: "stop" | "length" | "tool_calls";
}

export interface Reply {
  readonly candidates: readonly Candidate[];
  readonly promptTokens: number;
  readonly thinkingTokens: number;
  /** All tokens made, with those of thinking. */
  readonly outputTokens: number;
  readonly steering: Steering;
}

/** What a chat template adds to each message, and what a picture counts. */
const MESSAGE_TOKENS = 4;
const IMAGE_TOKENS = 85;
/** How much of a text is said back. */
const ECHO_CHARS_MAX = 400;

/** Answers a request. Throws a SimRefusal where the prompt is longer than the context. */
export function reply(body: SimBody): Reply {
  const promptTokens = countPrompt(body);
  if (promptTokens > SIM_MODEL.contextTokens) {
    const most = `This model's maximum context length is ${SIM_MODEL.contextTokens} tokens.`;
    const message = `${most} However, your messages resulted in ${promptTokens} tokens.`;
    throw new SimRefusal(400, message, "messages", "context_length_exceeded");
  }
  const asked = textOf(body.messages.findLast((message) => message.role === "user"));
  const steering = readSteering(asked);
  const limit = Math.min(body.max_completion_tokens ?? body.max_tokens ?? SIM_MODEL.outputTokensMax, 16_000);
  const candidates = Array.from({ length: body.n ?? 1 }, (_, i) => candidate(body, asked, steering, limit, i));
  const thinkingTokens = sum(candidates.map((one) => one.thinking.length));
  const outputTokens =
    thinkingTokens + sum(candidates.map((one) => one.text.length + sum(one.calls.map((call) => call.input.length))));
  return { candidates, promptTokens, thinkingTokens, outputTokens, steering };
}

function candidate(body: SimBody, asked: string, steering: Steering, limit: number, index: number): Candidate {
  const thought = steering.think ? pieces(`The user says: ${clip(asked)} I answer at once.`) : [];
  const thinking = thought.slice(0, limit);
  const left = limit - thinking.length;
  const tools = toolsToCall(body, asked);
  if (tools.length > 0) return callTools(tools, thinking, left, index);
  const stopped = cutAtStop(sayText(body, asked, steering, index), body.stop ?? []);
  const text = pieces(stopped);
  const whole = text.length <= left && thought.length <= limit;
  return { thinking, text: text.slice(0, left), calls: [], finish: whole ? "stop" : "length" };
}

function callTools(tools: readonly SimTool[], thinking: readonly string[], limit: number, index: number): Candidate {
  let left = limit;
  const calls: ToolCall[] = [];
  let whole = true;
  for (const [k, tool] of tools.entries()) {
    const input = pieces(tool.kind === "custom" ? "text" : JSON.stringify(argumentsFor(tool)));
    const kept = input.slice(0, left);
    left -= kept.length;
    whole &&= kept.length === input.length;
    if (kept.length > 0) calls.push({ tool, id: `call_sim_${index}_${k}`, input: kept });
  }
  return { thinking, text: [], calls, finish: whole ? "tool_calls" : "length" };
}

/** Arguments are an object whatever the schema says. */
function argumentsFor(tool: SimTool): unknown {
  const made = smallestInstance(tool.schema ?? { type: "object" });
  return typeof made === "object" && made !== null && !Array.isArray(made) ? made : {};
}

/** The tools that the user names, or the first where one must be called; none once a tool has answered. */
function toolsToCall(body: SimBody, asked: string): readonly SimTool[] {
  const last = body.messages.at(-1);
  if (last?.role === "tool" || last?.role === "function") return [];
  const { tools, must } = callableTools(body);
  const heard = asked.toLowerCase();
  const named = tools.filter((tool) => {
    const name = tool.name.toLowerCase();
    return heard.includes(name) || heard.includes(name.replaceAll(/[_-]/g, " "));
  });
  const chosen = named.length === 0 && must ? tools.slice(0, 1) : named;
  return body.parallel_tool_calls === false ? chosen.slice(0, 1) : chosen;
}

function sayText(body: SimBody, asked: string, steering: Steering, index: number): string {
  const format = body.response_format;
  if (format?.type === "json_schema") return JSON.stringify(smallestInstance(format.json_schema?.schema ?? {}));
  if (format?.type === "json_object") return JSON.stringify({ answer: clip(asked) });
  if (steering.words !== undefined) return Array.from({ length: steering.words }, (_, i) => `word${i + 1}`).join(" ");
  const last = body.messages.at(-1);
  if (last?.role === "tool" || last?.role === "function") return `The tool answered: ${clip(textOf(last))}`;
  const which = index === 0 ? "" : ` (answer ${index + 1})`;
  const echo = asked.trim() === "" ? "Hello!" : `You said: ${clip(asked)}`;
  return `${echo}\n\nI am ${SIM_MODEL.id}, a local stand-in${which}: add an upstream to reach a real model.`;
}

function cutAtStop(text: string, stop: string | readonly string[]): string {
  const stops = typeof stop === "string" ? [stop] : stop;
  const ends = stops.filter((one) => one !== "").map((one) => text.indexOf(one));
  const found = ends.filter((end) => end >= 0);
  return found.length === 0 ? text : text.slice(0, Math.min(...found));
}

function countPrompt(body: SimBody): number {
  let tokens = pieces(JSON.stringify(body.tools ?? "")).length;
  for (const message of body.messages) {
    tokens += MESSAGE_TOKENS + pieces(textOf(message)).length;
    if (message.tool_calls) tokens += pieces(JSON.stringify(message.tool_calls)).length;
    if (Array.isArray(message.content))
      tokens += message.content.filter((part) => part.type === "image_url").length * IMAGE_TOKENS;
  }
  return tokens;
}

function clip(text: string): string {
  const trimmed = text.trim();
  return trimmed.length <= ECHO_CHARS_MAX ? trimmed : `${trimmed.slice(0, ECHO_CHARS_MAX)}...`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
