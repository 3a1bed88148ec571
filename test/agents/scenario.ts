/** What an upstream says to an agent in each kind of run, told once and written for every fake upstream. */
import type { AnthropicScript } from "../support/fake-anthropic.js";
import type { GeminiScript } from "../support/fake-gemini.js";
import type { FakeScript } from "../support/fake-upstream.js";

export const CASES = ["answer", "tool round", "pretty-printed arguments", "long output", "error", "cut"] as const;
export type Case = (typeof CASES)[number];

/** What the agent's shell prints; the command itself does not hold it. */
const PRINTED = "tollgate-42";
const COMMAND = "printf 'tollgate-%d' 42";
/** What the last answer of a run ends with. */
export const LAST_WORDS = "The gate is green.";
export const REFUSAL = "The fake upstream refuses this prompt.";
const GATES = 750;
/** No two sentences alike: Gemini CLI ends an answer that repeats itself. */
const LONG = Array.from({ length: GATES }, (_, place) => `Gate ${place + 1} is well. `).join("");

/** One answer of an upstream. */
export type Saying =
  | { readonly kind: "text"; readonly text: string; readonly isCut?: boolean }
  | { readonly kind: "call"; readonly name: string; readonly arguments: string }
  | { readonly kind: "refusal" };

/** A run as the upstream sees it: what it answers depends on what came before. */
export class Scenario {
  readonly #kind: Case;
  #cuts = 0;
  /** How many requests of the agent itself came, without those for titles and the like. */
  asked = 0;

  constructor(kind: Case) {
    this.#kind = kind;
  }

  say(body: unknown): Saying {
    const shell = shellIn(body);
    // Agents ask for titles and summaries beside their work, without tools.
    if (shell === undefined) return { kind: "text", text: "A title" };
    this.asked++;
    switch (this.#kind) {
      case "answer":
        return { kind: "text", text: `Hello. ${LAST_WORDS}` };
      case "long output":
        return { kind: "text", text: LONG + LAST_WORDS };
      case "error":
        return { kind: "refusal" };
      case "cut":
        return { kind: "text", text: `Hello, this is said twice. ${LAST_WORDS}`, isCut: this.#cuts++ === 0 };
      default:
        if (JSON.stringify(body).includes(PRINTED)) return { kind: "text", text: `It ran. ${LAST_WORDS}` };
        return { kind: "call", ...callOf(shell, this.#kind === "pretty-printed arguments" ? 2 : 0) };
    }
  }
}

/** A tool as any wire tells it. */
interface Tool {
  readonly name: string;
  readonly properties: Readonly<Record<string, { readonly type?: unknown }>>;
  readonly required: readonly string[];
}

const SHELLS = /^(bash|exec_command|shell_command|shell|run_shell_command|run_commands)$/i;

/** The tool that runs a command, wherever in a body it is. */
function shellIn(value: unknown): Tool | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { name, ...rest } = value as Readonly<Record<string, unknown>>;
  const schema = ["parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema"]
    .map((key) => rest[key])
    .find(isObject);
  if (typeof name === "string" && SHELLS.test(name) && schema !== undefined)
    return { name, properties: {}, required: [], ...schema };
  for (const one of Object.values(value)) {
    const found = shellIn(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function callOf({ name, properties, required }: Tool, indent: number): { name: string; arguments: string } {
  const command = ["cmd", "commands"].find((one) => one in properties) ?? "command";
  const isList = String(properties[command]?.type).toLowerCase() === "array";
  // Several commands, or one with its arguments.
  const list = command === "commands" ? [COMMAND] : ["bash", "-c", COMMAND];
  const others = required.filter((one) => one !== command).map((one) => [one, "Prints."] as const);
  const told = { ...Object.fromEntries(others), [command]: isList ? list : COMMAND };
  return { name, arguments: JSON.stringify(told, null, indent) };
}

const REFUSED = 400;
/** Text in pieces, so that a cut comes between them. */
const PIECES = 3;

/** Histories tell answers apart by their ids. */
let answers = 0;

export function forOpenAi(saying: Saying): FakeScript {
  const members = { id: `chatcmpl-${++answers}` };
  if (saying.kind === "call") return { calls: [saying], members };
  if (saying.kind === "text")
    return { text: saying.text, members, ...(saying.isCut === true ? { cutAfter: PIECES } : {}) };
  const error = { message: REFUSAL, type: "invalid_request_error", param: null, code: "invalid_prompt" };
  return { status: REFUSED, body: JSON.stringify({ error }) };
}

export function forAnthropic(saying: Saying): AnthropicScript {
  const id = `msg_${++answers}`;
  if (saying.kind === "call") {
    const { name, arguments: text } = saying;
    return { id, blocks: [{ type: "tool_use", id: "toolu_0fake", name, input: JSON.parse(text), inputText: text }] };
  }
  if (saying.kind === "text")
    return {
      id,
      blocks: [{ type: "text", text: saying.text }],
      ...(saying.isCut === true ? { cutAfter: PIECES + 1 } : {}),
    };
  const error = { type: "invalid_request_error", message: REFUSAL };
  return { status: REFUSED, body: { type: "error", error, request_id: "req_fake" } };
}

export function forGoogle(saying: Saying): GeminiScript {
  const id = `response-${++answers}`;
  if (saying.kind === "call") {
    const { name, arguments: text } = saying;
    return { id, parts: [{ functionCall: { name, args: JSON.parse(text) as object }, thoughtSignature: "c2lnbmVk" }] };
  }
  if (saying.kind === "text") {
    const middle = Math.floor(saying.text.length / 2);
    const parts = [{ text: saying.text.slice(0, middle) }, { text: saying.text.slice(middle) }];
    return { id, parts, ...(saying.isCut === true ? { cutAfter: 1 } : {}) };
  }
  return { status: REFUSED, body: { error: { code: REFUSED, message: REFUSAL, status: "INVALID_ARGUMENT" } } };
}
