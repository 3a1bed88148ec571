/**
 * A real HTTP server that speaks one wire as a strict upstream: it refuses what the real one refuses, notes what it
 * understood, and answers by a script. A request names its script by the word `cell-<number>` anywhere in its body.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Reply, Seen } from "../scenario.js";

/** What the upstreams of the matrix take for their credential, where it is a key. */
export const SECRET = "sk-upstream-secret-of-the-matrix";

export type Json = Readonly<Record<string, unknown>>;

/** A request as it arrived. */
export interface Received {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Json;
  /** The bytes of the body, for who must prove them. */
  readonly raw: Buffer;
}

/** One answer: its script, and what makes its ids differ from those of others. */
export interface Answering {
  readonly reply: Reply;
  readonly id: string;
  readonly model: string;
}

/** How one wire is spoken, built apart from the program's own code. */
export interface Speaker {
  /** Whether it is proven who asks, as the wire's clients prove it. */
  isProven(received: Received): boolean | Promise<boolean>;
  /** Why the real upstream would refuse it; undefined where it would not. */
  problem(received: Received): string | undefined;
  /** The body of a refusal. */
  refusal(status: number, message: string, received: Received): object;
  /** What else a refusal comes with; absent where its body says all. */
  readonly refusalHeaders?: Readonly<Record<string, string>>;
  model(received: Received): string;
  isStream(received: Received): boolean;
  read(body: Json): Seen;
  whole(answering: Answering): object;
  /** The bytes of a stream. */
  stream(answering: Answering, received: Received): string | Buffer;
  /** Absent: server-sent events. */
  readonly streamType?: string;
}

export interface ScriptedUpstream {
  /** The bare origin. */
  readonly url: string;
  /** Scripts the answers of a cell: one for each request, in order. */
  plan(cell: string, replies: readonly Reply[]): void;
  /** What was understood of the cell's requests so far. */
  seen(cell: string): readonly Seen[];
  /** Every refusal so far, with the cell that met it. */
  readonly refusals: readonly { readonly cell: string; readonly problem: string }[];
  close(): Promise<void>;
}

/** `speakerOf` tells who speaks on a path, where families of one wire differ. */
export async function startScriptedUpstream(speakerOf: (url: string) => Speaker): Promise<ScriptedUpstream> {
  const plans = new Map<string, readonly Reply[]>();
  const seen = new Map<string, Seen[]>();
  const refusals: { cell: string; problem: string }[] = [];

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const { url = "", headers } = request;
    const speaker = speakerOf(url);
    const isPost = request.method === "POST";
    const received: Received = { url, headers, body: isPost ? (JSON.parse(raw.toString()) as Json) : {}, raw };
    if (!isPost) return send(response, 404, speaker.refusal(404, "no such page", received));
    const cell = /\bcell-\d+\b/.exec(raw.toString())?.[0] ?? "";
    const problem = (await speaker.isProven(received)) ? speaker.problem(received) : "the credential is wrong";
    const before = seen.get(cell) ?? [];
    const reply = plans.get(cell)?.[before.length];
    if (problem !== undefined || reply === undefined) {
      refusals.push({ cell, problem: problem ?? "nothing was planned" });
      const refusal = speaker.refusal(400, problem ?? "nothing was planned", received);
      return send(response, 400, refusal, speaker.refusalHeaders);
    }
    seen.set(cell, [...before, speaker.read(received.body)]);
    const answering = { reply, id: `${cell}-${before.length}`, model: speaker.model(received) };
    if (!speaker.isStream(received)) return send(response, 200, speaker.whole(answering));
    const told = speaker.stream(answering, received);
    response.writeHead(200, { "content-type": speaker.streamType ?? "text/event-stream; charset=utf-8" });
    for (const piece of pieces(typeof told === "string" ? Buffer.from(told) : told))
      await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    response.end();
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    plan: (cell, replies) => void plans.set(cell, replies),
    seen: (cell) => seen.get(cell) ?? [],
    refusals,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A few pieces that end anywhere, amid characters too. */
function pieces(bytes: Buffer): Buffer[] {
  const cuts = [0, 1 / 7, 3 / 7, 5 / 7, 1].map((share) => Math.floor(share * bytes.length));
  return cuts.slice(1).map((end, place) => bytes.subarray(cuts[place], end));
}

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** Text in fragments of a few characters, as streams bring it. */
export function fragments(text: string): string[] {
  return text.match(/[^]{1,6}/gu) ?? [];
}

export function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

export function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** Arguments as JSON text, read; what is no JSON stands for itself, so that a comparison shows it. */
export function argumentsIn(text: unknown): Json {
  try {
    return JSON.parse(String(text)) as Json;
  } catch {
    return { unreadable: text };
  }
}
