/** One streamed answer in the form of OpenAI's chat completions, which the playground's route speaks. */
import { callHeaders, send } from "../api/client.ts";

export interface Turn {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly Turn[];
  readonly temperature?: number;
  readonly max_completion_tokens?: number;
}

export interface Heard {
  /** All of the answer's text so far. */
  readonly text: string;
  readonly thinking: string;
  readonly requestId: string;
  readonly firstMs: number | undefined;
}

/** The route under /api/v1 that asks as the person who is signed in; it takes and answers what /v1 does. */
function addressOf(account: string): string {
  return `/api/v1/accounts/${encodeURIComponent(account)}/playground/chat/completions`;
}

/** The body of a streamed request. */
export function bodyOf(asked: ChatRequest): object {
  return { ...asked, stream: true };
}

/** Asks, and tells what was heard as it comes. Rejects where it is refused, not reached, or ends early. */
export async function chat(
  account: string,
  asked: ChatRequest,
  signal: AbortSignal,
  onHeard: (heard: Heard) => void,
): Promise<Heard> {
  const startMs = performance.now();
  const answer = await send(addressOf(account), {
    method: "POST",
    headers: { ...callHeaders(account), "content-type": "application/json" },
    body: JSON.stringify(bodyOf(asked)),
    signal,
  });
  let heard: Heard = {
    text: "",
    thinking: "",
    requestId: answer.headers.get("x-request-id") ?? "",
    firstMs: undefined,
  };
  let isDone = false;
  for await (const data of eventsOf(answer)) {
    isDone = data === "[DONE]";
    if (isDone) break;
    const { text, thinking } = deltaOf(data);
    if (text === "" && thinking === "") continue;
    const firstMs = heard.firstMs ?? performance.now() - startMs;
    const { requestId } = heard;
    heard = { text: heard.text + text, thinking: heard.thinking + thinking, requestId, firstMs };
    onHeard(heard);
  }
  if (!isDone) throw new Error("The answer ended before it was whole.");
  return heard;
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

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null; readonly reasoning_content?: string | null };
  }[];
  readonly error?: { readonly message?: string };
}

function deltaOf(data: string): { readonly text: string; readonly thinking: string } {
  // The edge to the stream: its form is OpenAI's.
  const chunk = JSON.parse(data) as Chunk;
  if (chunk.error !== undefined) throw new Error(chunk.error.message ?? "The answer broke off.");
  const delta = chunk.choices?.[0]?.delta;
  return { text: delta?.content ?? "", thinking: delta?.reasoning_content ?? "" };
}
