/**
 * What the fake upstream says: answers and streams of the openai-chat wire, built apart from the program's own code.
 */

export interface AnswerScript {
  /** What to say; default `Hello from <model>.` */
  readonly text?: string;
  /** Say so many words instead: `word0 word1 ...`. */
  readonly words?: number;
  /** Think this first, as `reasoning_content`. */
  readonly thinking?: string;
  /** Call these tools instead of speaking. */
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
  readonly finish?: string;
  /** `final` (default): as OpenAI does. `every`: on each chunk. `late`: behind the end. `none`: nowhere. */
  readonly usage?: "final" | "every" | "late" | "none";
  /** Members of the usage that are told instead of the default ones. */
  readonly usageIs?: Readonly<Record<string, unknown>>;
  /** Members of the answer and of each chunk, such as a service tier or another model. */
  readonly members?: Readonly<Record<string, unknown>>;
}

const ID = "chatcmpl-fake";
const CREATED = 1_700_000_000;

export function answerJson(script: AnswerScript, body: unknown): string {
  const model = modelOf(body);
  const choices = Array.from({ length: countOf(body) }, (_, index) => ({
    index,
    message: {
      role: "assistant",
      content: script.calls ? null : textOf(script, model),
      refusal: null,
      ...(script.thinking === undefined ? {} : { reasoning_content: script.thinking }),
      ...(script.calls ? { tool_calls: script.calls.map((call, k) => toolCall(call, k)) } : {}),
    },
    logprobs: null,
    finish_reason: finishOf(script),
  }));
  const usage = script.usage === "none" ? {} : { usage: usageOf(script) };
  return JSON.stringify({
    id: ID,
    object: "chat.completion",
    created: CREATED,
    model,
    choices,
    ...usage,
    ...script.members,
  });
}

/** The events of a stream. Each word is one, so `cutAfter` and its like count words and the opening event. */
export function* streamEvents(script: AnswerScript, body: unknown): Generator<string, void> {
  const model = modelOf(body);
  const asked = Reflect.get(Object(Reflect.get(Object(body), "stream_options")), "include_usage") === true;
  const mode = script.usage ?? "final";
  const event = (choices: readonly unknown[], final: boolean): string => {
    let usage: object = {};
    if (mode === "every") usage = { usage: usageOf(script) };
    else if (mode === "final" && asked) usage = { usage: final ? usageOf(script) : null };
    const chunk = {
      id: ID,
      object: "chat.completion.chunk",
      created: CREATED,
      model,
      choices,
      ...usage,
      ...script.members,
    };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  };
  for (let index = 0; index < countOf(body); index++) {
    const choice = (delta: object, finish: string | null): unknown => ({ index, delta, finish_reason: finish });
    yield event([choice({ role: "assistant", content: script.calls ? null : "", refusal: null }, null)], false);
    for (const delta of deltas(script, model)) yield event([choice(delta, null)], false);
    yield event([choice({}, finishOf(script))], false);
  }
  if (mode === "final" && asked) yield event([], true);
  yield "data: [DONE]\n\n";
  if (mode === "late") yield event([], true).replace(/\}\n\n$/, `,"usage":${JSON.stringify(usageOf(script))}}\n\n`);
}

function* deltas(script: AnswerScript, model: string): Generator<object, void> {
  if (script.thinking !== undefined) yield { reasoning_content: script.thinking };
  for (const [index, call] of (script.calls ?? []).entries()) {
    yield { tool_calls: [{ index, ...toolCall({ ...call, arguments: "" }, index) }] };
    for (const part of call.arguments.match(/[^]{1,5}/g) ?? [])
      yield { tool_calls: [{ index, function: { arguments: part } }] };
  }
  if (script.calls === undefined)
    for (const word of textOf(script, model).match(/\s*\S+/g) ?? []) yield { content: word };
}

function toolCall(call: { readonly name: string; readonly arguments: string }, index: number): object {
  return { id: `call_fake_${index}`, type: "function", function: { name: call.name, arguments: call.arguments } };
}

function textOf(script: AnswerScript, model: string): string {
  if (script.words !== undefined) return Array.from({ length: script.words }, (_, i) => `word${i}`).join(" ");
  return script.text ?? `Hello from ${model}.`;
}

function finishOf(script: AnswerScript): string {
  return script.finish ?? (script.calls ? "tool_calls" : "stop");
}

function usageOf(script: AnswerScript): object {
  return { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14, ...script.usageIs };
}

function modelOf(body: unknown): string {
  const model: unknown = Reflect.get(Object(body), "model");
  return typeof model === "string" ? model : "fake-1";
}

function countOf(body: unknown): number {
  const n: unknown = Reflect.get(Object(body), "n");
  return typeof n === "number" ? n : 1;
}
