/** A server as providers have it: a list of models that it shows to everybody, and calls that need its key. */
import { createServer } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { streamEvents } from "./fake-answer.js";

export interface FakeVendor {
  /** The base URL that an upstream names. */
  readonly url: string;
  /** The credentials that came with calls, the newest last. */
  readonly seen: readonly string[];
  /** Takes this credential from now on, and no other. */
  accept(credential: string): void;
  close(): Promise<void>;
}

/** Known by its published price, and a model that nobody knows. */
export const VENDOR_MODELS = ["gpt-4o-mini", "own"];

const LIST = { object: "list", data: VENDOR_MODELS.map((id) => ({ id, object: "model" })) };
const REFUSED = { error: { message: "Incorrect API key provided", type: "invalid_request_error" } };
const ANSWER = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "gpt-4o-mini",
  choices: [
    { index: 0, message: { role: "assistant", content: "yes", refusal: null }, finish_reason: "stop", logprobs: null },
  ],
  usage: { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 },
};

export async function startFakeVendor(accepted: string): Promise<FakeVendor> {
  const seen: string[] = [];
  let key = accepted;
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    const credential = (request.headers.authorization ?? "").replace("Bearer ", "");
    const isList = request.url?.endsWith("/models") === true;
    if (!isList) seen.push(credential);
    const isIn = isList || credential === key;
    if (isIn && !isList && isStream(body)) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      return response.end([...streamEvents({ text: "yes" }, JSON.parse(body))].join(""));
    }
    response.writeHead(isIn ? 200 : 401, { "content-type": "application/json" });
    return response.end(JSON.stringify(isIn ? (isList ? LIST : ANSWER) : REFUSED));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the vendor has no address");
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    seen,
    accept: (credential) => {
      key = credential;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function isStream(body: string): boolean {
  return body !== "" && Reflect.get(Object(JSON.parse(body)), "stream") === true;
}
