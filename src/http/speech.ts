/** One answer of sound to its client: bytes as they come, or events where the client asked for these. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { CallMetadata, Sink } from "../api/channel.js";
import { InferenceServiceService, type StreamSpeechRequest, type StreamSpeechResponse } from "../api/index.js";
import { Cancellation } from "../base/cancellation.js";
import { GatewayError } from "../base/errors.js";
import type { Format, SourceBody, SurfaceWire } from "../formats/format.js";
import { HttpFormatRequest } from "./front.js";
import type { GenerationParts } from "./generation.js";
import { askedTimeoutMs } from "./headers.js";
import type { RunningRequest } from "./running.js";
import { StreamReply } from "./stream-reply.js";

const NO_BYTES = Buffer.alloc(0);
/** The fields of a request whose client sent its own body. */
export const NO_SPEECH: Omit<StreamSpeechRequest, "source"> = {
  model: "",
  text: "",
  voice: "",
  instructions: "",
  format: "",
  speed: undefined,
};

/** Answers one request. Never rejects: the client gets every failure. */
export function answerSpeech(
  request: FastifyRequest,
  reply: FastifyReply,
  format: Format,
  parts: GenerationParts,
): Promise<void> {
  const wire = format.surfaces?.speech;
  if (wire === undefined) throw new Error(`the format ${format.name} has a route for speech and no wire for it`);
  return new Speech(request, reply, { format, wire }, parts).run();
}

class Speech implements Sink<StreamSpeechResponse>, RunningRequest {
  rosterIndex: number | undefined = undefined;
  readonly #stream: StreamReply;
  readonly #abort = new Cancellation();
  #source: SourceBody;
  #head: CallMetadata = {};
  #hasFinished = false;
  #isOver = false;
  #stopReason: GatewayError | undefined;

  constructor(
    private readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
    private readonly spoken: { readonly format: Format; readonly wire: SurfaceWire },
    private readonly parts: GenerationParts,
  ) {
    const body = Buffer.isBuffer(request.body) ? request.body : NO_BYTES;
    const headers = spoken.format.wireHeaders(new HttpFormatRequest(request));
    this.#source = { wire: spoken.wire.name, body, headers };
    // Nothing may stand between the bytes of a sound.
    const { timer, blockedMsMax } = parts;
    this.#stream = new StreamReply({ response: reply.raw, timer, heartbeat: NO_BYTES, blockedMsMax });
  }

  async run(): Promise<void> {
    const { request, reply, parts } = this;
    const { front, running } = parts;
    try {
      running.add(this);
    } catch (error) {
      return front.refuse(request, reply, error);
    }
    reply.raw.on("close", () => this.#close());
    try {
      this.#source = await front.prepared(this.#source, request.admission?.holder ?? "");
      const options = front.callOptions(request, this.#abort, askedTimeoutMs(request.headers));
      const call = { ...NO_SPEECH, source: this.#source };
      await front.channel.stream(InferenceServiceService.streamSpeech, call, options, this);
      if (this.#stopReason !== undefined) throw this.#stopReason;
      if (!this.#hasFinished)
        throw new GatewayError("ERROR_REASON_INTERNAL", {}, { cause: new Error("no finish came") });
    } catch (error) {
      this.#fail(this.#stopReason ?? error);
    }
    this.#isOver = true;
    if (reply.raw.closed) running.remove(this);
  }

  head(metadata: CallMetadata): void {
    this.#head = metadata;
  }

  data({ audio, finish }: StreamSpeechResponse): boolean {
    if (this.#hasFinished) return true;
    this.#hasFinished = finish !== undefined;
    // A head without sound may be followed by a refusal, which has a status only before the first byte.
    if (audio.length === 0 && finish === undefined) return true;
    if (!this.#stream.begun) this.#begin();
    if (finish === undefined) return this.#stream.write(audio);
    this.#stream.end(audio);
    return true;
  }

  onDrain(callback: () => void): void {
    this.#stream.onDrain(callback);
  }

  stop(reason: GatewayError): void {
    this.#stopReason ??= reason;
    this.#abort.abort(reason);
  }

  #begin(): void {
    const headers = this.parts.front.headers(this.request, this.#head);
    headers["content-type"] = this.spoken.wire.answerTypeOf?.(this.#source) ?? "application/octet-stream";
    headers["cache-control"] = "no-cache";
    headers["x-accel-buffering"] = "no";
    headers["x-content-type-options"] = "nosniff";
    this.reply.hijack();
    this.#stream.begin(headers);
  }

  /** A closed connection ends the call, and with it the upstream's. */
  #close(): void {
    if (!this.reply.raw.writableFinished) this.#abort.abort(new GatewayError("ERROR_REASON_CANCELLED"));
    if (this.#isOver) this.parts.running.remove(this);
  }

  /** Before the first byte an error has a status. After it, events say it, and a sound is cut. */
  #fail(thrown: unknown): void {
    const { request, reply, parts, spoken } = this;
    if (reply.raw.destroyed) return;
    if (!this.#stream.begun) return parts.front.refuse(request, reply, thrown, this.#head);
    const error = GatewayError.from(thrown);
    parts.front.logFault(error, this.#head["x-request-id"] ?? "", request);
    const event = spoken.wire.failureEvent?.(this.#source, error);
    if (event === undefined) reply.raw.destroy();
    else this.#stream.end(event);
  }
}
