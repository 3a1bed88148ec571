/** The edges where a request to a model is refused: how a row of the error table is asked at each. */
import type { InferenceServiceClient } from "../../support/grpc-clients.js";
import { type GrpcFailure, embedOverGrpc, generateOverGrpc } from "../../support/grpc-refusal.js";
import { SocketClient } from "../../support/websocket-client.js";
import type { World } from "../../support/world.js";
import type { Row } from "./error-rows.js";

/** What a client reads of its refusal. */
export interface Refused {
  readonly id: string;
  readonly reason: string;
  /** Undefined over gRPC, which has its own. */
  readonly status: number | undefined;
}

export interface Edge {
  readonly name: string;
  /** The row's body in the words of this edge; undefined where it cannot be asked there. */
  readonly body: (row: Row) => object | undefined;
  readonly ask: (world: World, grpc: InferenceServiceClient, secret: string, body: unknown) => Promise<Refused>;
}

/** Lines of the settings file: what is asked for vectors. */
export const VECTOR_MODELS = ["fake", "gone"]
  .map(
    (upstream) =>
      `  ${upstream}-vectors: { targets: [{ upstream: ${upstream} }], kind: embedding, context_tokens: 1000, price: { input: "1", output: "0" } }\n`,
  )
  .join("");

/** What is wrong in the words of an edge, where the error table says it in those of chat completions. */
const WRONG: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  messages: { "a wrong parameter": { max_tokens: "many" } },
  responses: { "a wrong parameter": { max_output_tokens: 0 } },
  vectors: { "a wrong parameter": { dimensions: 0 } },
};

function textOf({ body }: Row): string | undefined {
  const { messages } = body as { messages?: readonly { content: string }[] };
  return messages?.[0]?.content;
}

function modelOf({ body }: Row): string {
  return (body as { model: string }).model;
}

/** `input` is what the edge writes in place of `messages`. */
function translated(edge: string, row: Row, input: (text: string) => object): object | undefined {
  const model = modelOf(row);
  const text = textOf(row);
  if (text === undefined) return { model };
  const wrong = WRONG[edge]?.[row.name];
  if (wrong === undefined && row.reason === "PARAMETER_INVALID") return undefined;
  return { model, ...input(text), ...wrong };
}

const chatBody = ({ body }: Row): object => body as object;
const responsesBody = (row: Row): object | undefined => translated("responses", row, (input) => ({ input }));
const messagesBody = (row: Row): object | undefined =>
  translated("messages", row, (content) => ({ max_tokens: 50, messages: [{ role: "user", content }] }));

/** Balances of this world cannot pay a chat of 1,000 tokens, and can pay a vector: of those rows none is asked. */
const DEAR = new Set(["a balance that is too low"]);

function vectorsBody(row: Row): object | undefined {
  if (DEAR.has(row.name)) return undefined;
  const body = translated("vectors", row, (input) => ({ input }));
  const model = modelOf(row).replace(/^(fake|gone)-1$/, "$1-vectors");
  return body && { ...body, model };
}

/** Asks over HTTP. */
export async function post(
  world: World,
  path: string,
  secret: string,
  body: unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<Refused> {
  const headers = { "content-type": "application/json", ...more };
  const authorization = secret === "" ? {} : { authorization: `Bearer ${secret}` };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(world.front.url + path, {
    method: "POST",
    headers: { ...headers, ...authorization },
    body: text,
  });
  await response.text();
  return refusedBy(response);
}

export function refusedBy({ headers, status }: Pick<Response, "headers" | "status">): Refused {
  return { id: headers.get("x-request-id") ?? "", reason: headers.get("x-tollgate-reason") ?? "", status };
}

export function refusedOverGrpc({ requestId, reason }: GrpcFailure): Refused {
  return { id: requestId, reason, status: undefined };
}

/** The first message, or the connection itself, is refused. */
export async function overSocket(world: World, secret: string, body: unknown): Promise<Refused> {
  let client: SocketClient;
  try {
    client = await SocketClient.open(world.front.url, secret);
  } catch {
    const { headers, status } = await SocketClient.refused(world.front.url, secret);
    return { id: String(headers["x-request-id"]), reason: String(headers["x-tollgate-reason"]), status };
  }
  try {
    if (typeof body === "string") client.webSocket.send(body);
    else client.create(body as Record<string, unknown>);
    const { headers, status } = (await client.answer()).at(-1) as {
      headers?: Record<string, string>;
      status?: number;
    };
    return { id: headers?.["x-request-id"] ?? "", reason: headers?.["x-tollgate-reason"] ?? "", status };
  } finally {
    client.close();
  }
}

/** An upstream of vectors reads no script in its input. */
async function withScript<Result>(world: World, body: unknown, ask: () => Promise<Result>): Promise<Result> {
  const { input } = body as { input?: unknown };
  const told = typeof input === "string" && input.startsWith("{") ? (JSON.parse(input) as { fake: object }) : undefined;
  world.upstream.override = told?.fake;
  try {
    return await ask();
  } finally {
    world.upstream.override = undefined;
  }
}

const bytes = (body: unknown): Buffer => Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
const ANTHROPIC = { "anthropic-version": "2023-06-01" };

export const EDGES: readonly Edge[] = [
  {
    name: "chat completions",
    body: chatBody,
    ask: (world, _grpc, secret, body) => post(world, "/v1/chat/completions", secret, body),
  },
  {
    name: "Anthropic's messages",
    body: messagesBody,
    ask: (world, _grpc, secret, body) => post(world, "/v1/messages", secret, body, ANTHROPIC),
  },
  {
    name: "responses",
    body: responsesBody,
    ask: (world, _grpc, secret, body) => post(world, "/v1/responses", secret, body),
  },
  {
    name: "a WebSocket",
    body: responsesBody,
    ask: (world, _grpc, secret, body) => overSocket(world, secret, body),
  },
  {
    name: "embeddings",
    body: vectorsBody,
    ask: (world, _grpc, secret, body) => withScript(world, body, () => post(world, "/v1/embeddings", secret, body)),
  },
  {
    name: "gRPC",
    body: chatBody,
    ask: async (_world, grpc, secret, body) => refusedOverGrpc(await generateOverGrpc(grpc, bytes(body), secret)),
  },
  {
    name: "vectors over gRPC",
    body: vectorsBody,
    ask: (world, grpc, secret, body) =>
      withScript(world, body, async () => refusedOverGrpc(await embedOverGrpc(grpc, bytes(body), secret))),
  },
];
