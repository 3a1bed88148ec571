/** Chat completions as a client without a library sends them, so that a test sees every byte and header. */
import type { GatewayProcess } from "./gateway-process.js";
import { says } from "./world.js";

/** The body of a request to `fake-1`; `content` may steer the fake upstream. */
export function chat(content: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { model: "fake-1", messages: says(content), ...more };
}

/** Sends one chat completion; a text goes out as it is, anything else as JSON. */
export function postChat(
  gateway: Pick<GatewayProcess, "url">,
  secret: string,
  body: unknown,
  init: { readonly signal?: AbortSignal; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", ...init.headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
    signal: init.signal ?? null,
  });
}

/** The text that the chunks of a stream carry so far, of all candidates, with what was thought and called. */
export function deliveredText(stream: string): string {
  let text = "";
  for (const line of stream.split("\n")) {
    if (!line.startsWith("data: {")) continue;
    const chunk = JSON.parse(line.slice("data: ".length)) as { choices?: { delta?: { content?: string | null } }[] };
    for (const choice of chunk.choices ?? []) text += choice.delta?.content ?? "";
  }
  return text;
}

/** Reads a stream until it ends, however it ends, and returns what came. */
export async function readAll(response: Response): Promise<string> {
  let text = "";
  try {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes as Uint8Array, { stream: true });
  } catch {
    // What came before the cut is what was delivered.
  }
  return text;
}
