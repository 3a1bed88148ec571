/** A real HTTP server that speaks texts as OpenAI does, apart from the program's own code. Each letter is a byte. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";

export interface SpeechScript {
  /** Report this usage in the last event. Absent: as many tokens of sound as the text has letters. */
  readonly usage?: object;
  /** Send events although bytes were asked for, and the other way round. */
  readonly reversed?: boolean;
  /** End the stream with this in place of its last event. */
  readonly lastEvent?: object;
  /** Send the first half, and no more until the client left. */
  readonly halts?: boolean;
  /** Answer with this status and no sound. */
  readonly status?: number;
}

export interface FakeSpeech {
  /** The origin. */
  readonly url: string;
  readonly bodies: Readonly<Record<string, unknown>>[];
  override: SpeechScript;
  /** How many answers their client left. */
  left: number;
  close(): Promise<void>;
}

/** Tokens that the fake counts for each text. */
export const INPUT_TOKENS = 7;

export async function startFakeSpeech(): Promise<FakeSpeech> {
  const server: Server = createServer((request, response) => {
    serve(request, response, fake).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const fake: FakeSpeech = {
    url: `http://127.0.0.1:${port}`,
    bodies: [],
    override: {},
    left: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

async function serve(request: IncomingMessage, response: ServerResponse, fake: FakeSpeech): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as Readonly<Record<string, unknown>>;
  fake.bodies.push(body);
  response.on("close", () => {
    if (!response.writableFinished) fake.left++;
  });
  const { usage, reversed = false, lastEvent, halts = false, status } = fake.override;
  if (status !== undefined) return void response.writeHead(status).end('{"error":{"message":"no"}}');
  const sound = Buffer.from(String(body["input"]));
  const half = Math.ceil(sound.length / 2);
  const halves = [sound.subarray(0, half), sound.subarray(half)];
  const isEvents = (body["stream_format"] === "sse") !== reversed;
  response.writeHead(200, { "content-type": isEvents ? "text/event-stream" : "audio/mpeg" });
  for (const piece of halves) {
    const event = { type: "speech.audio.delta", audio: piece.toString("base64") };
    response.write(isEvents ? `data: ${JSON.stringify(event)}\n\n` : piece);
    if (halts) return void (await once(response, "close"));
  }
  const counts = { input_tokens: INPUT_TOKENS, output_tokens: sound.length };
  const told = usage ?? { ...counts, total_tokens: INPUT_TOKENS + sound.length };
  const last = lastEvent ?? { type: "speech.audio.done", usage: told };
  response.end(isEvents ? `data: ${JSON.stringify(last)}\n\n` : undefined);
}
