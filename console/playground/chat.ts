/** One streamed answer in the form of OpenAI's chat completions, which the playground's route speaks. */
import { callHeaders, send } from "../api/client.ts";

export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
  | { readonly type: "file"; readonly file: { readonly filename: string; readonly file_data: string } };

export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

export type Turn =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly Part[] }
  | { readonly role: "assistant"; readonly content: string; readonly tool_calls?: readonly ToolCall[] }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

/** The model and the conversation, with parameters under the names that the API gives them. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly Turn[];
  readonly [parameter: string]: unknown;
}

export interface Heard {
  /** All of the answer's text so far. */
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly ToolCall[];
  readonly requestId: string;
  readonly firstMs: number | undefined;
  readonly totalMs: number | undefined;
}

export const SILENT: Heard = {
  text: "",
  thinking: "",
  calls: [],
  requestId: "",
  firstMs: undefined,
  totalMs: undefined,
};

/** The route under /api/v1 that sends requests as the person who is signed in; it takes and answers what /v1 does. */
function addressOf(account: string): string {
  return `/api/v1/accounts/${encodeURIComponent(account)}/playground/chat/completions`;
}

/** The body of a streamed request. */
export function bodyOf(request: ChatRequest): object {
  return { ...request, stream: true };
}

/** Reports the answer as it streams. Rejects where it is refused, not reached, or ends early. */
export async function chat(
  account: string,
  request: ChatRequest,
  signal: AbortSignal,
  onHeard: (heard: Heard) => void,
): Promise<Heard> {
  const startMs = performance.now();
  const answer = await send(addressOf(account), {
    method: "POST",
    headers: { ...callHeaders(account), "content-type": "application/json" },
    body: JSON.stringify(bodyOf(request)),
    signal,
  });
  let heard: Heard = { ...SILENT, requestId: answer.headers.get("x-request-id") ?? "" };
  let isDone = false;
  for await (const data of eventsOf(answer)) {
    isDone = data === "[DONE]";
    if (isDone) break;
    const delta = deltaOf(data);
    if (delta.text === "" && delta.thinking === "" && delta.calls.length === 0) continue;
    heard = {
      requestId: heard.requestId,
      totalMs: undefined,
      text: heard.text + delta.text,
      thinking: heard.thinking + delta.thinking,
      calls: withCalls(heard.calls, delta.calls),
      firstMs: heard.firstMs ?? performance.now() - startMs,
    };
    onHeard(heard);
  }
  if (!isDone) throw new Error("The answer ended before it was whole.");
  return { ...heard, totalMs: performance.now() - startMs };
}

/** The data of each event of a stream. */
async function* eventsOf(answer: Response): AsyncGenerator<string> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trim();
  }
}

interface CallDelta {
  readonly index?: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly reasoning_content?: string | null;
      readonly tool_calls?: readonly CallDelta[] | null;
    };
  }[];
  readonly error?: { readonly message?: string };
}

interface Delta {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly CallDelta[];
}

function deltaOf(data: string): Delta {
  // The edge to the stream: its form is OpenAI's.
  const chunk = JSON.parse(data) as Chunk;
  if (chunk.error !== undefined) throw new Error(chunk.error.message ?? "The answer broke off.");
  const delta = chunk.choices?.[0]?.delta;
  return {
    text: delta?.content ?? "",
    thinking: delta?.reasoning_content ?? "",
    calls: delta?.tool_calls ?? [],
  };
}

/** The first chunk of a call has its id and name; the next ones add to its arguments. */
function withCalls(calls: readonly ToolCall[], deltas: readonly CallDelta[]): readonly ToolCall[] {
  if (deltas.length === 0) return calls;
  const all = [...calls];
  for (const { index = 0, id, function: part } of deltas) {
    const before = all[index];
    all[index] = {
      id: before?.id ?? id ?? `call_${index}`,
      type: "function",
      function: {
        name: before?.function.name ?? part?.name ?? "",
        arguments: (before?.function.arguments ?? "") + (part?.arguments ?? ""),
      },
    };
  }
  return all;
}
