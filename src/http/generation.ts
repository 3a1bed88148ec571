/** One request to a model: the client's body to the service, and the answer to the client, whole or as it comes. */
import { Cancellation } from "../base/cancellation.js";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type CallMetadata, type CallOptions, FORM_HEADER, type Sink } from "../api/channel.js";
import {
  FrontServiceService,
  InferenceServiceService,
  type StreamGenerateRequest,
  type StreamGenerateResponse,
} from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import type { Format, SourceBody, StreamFraming } from "../formats/format.js";
import { EventNumbers } from "./event-numbers.js";
import { type Front, HttpFormatRequest } from "./front.js";
import { askedClamp, askedTimeoutMs } from "./headers.js";
import type { ByteBudget } from "../base/bytes/byte-budget.js";
import { residentBytes } from "../base/bytes/own-copies.js";
import type { LostAnswers } from "./lost-answers.js";
import type { NamedItems } from "./named-items.js";
import { RESUMABLE_HEADER, RETRY_HEADER } from "./replay-headers.js";
import { answerInBytes } from "./piecewise.js";
import type { HeartbeatTimer } from "./heartbeat-timer.js";
import type { Running, RunningRequest } from "./running.js";
import { StreamReply } from "./stream-reply.js";
import { askedIn, isFinish, StreamedAnswer } from "./streamed-answer.js";
import type { ItemCache } from "./item-cache.js";
import { WholeAnswer } from "./whole-answer.js";

const NO_BYTES = Buffer.alloc(0);
/** A larger answer is not handed back, and how long that may take. */
/** What a request takes beside its bodies while its answer may be lost. */
const HELD_BYTES = 4_096;
const LOST_BYTES_MAX = 4 * 1024 * 1024;
const HAND_BACK_MS = 10_000;
const NO_SOURCE: SourceBody = { wire: "", body: NO_BYTES, headers: {} };
/** In the head of an answer that another request made first: under that one's id it is kept. */
const ORIGINAL_HEADER = "x-tollgate-original-request";

export interface GenerationParts {
  readonly front: Front;
  readonly running: Running;
  readonly lost: LostAnswers;
  /** The memory for what the ends of streams repeat. */
  readonly kept: ByteBudget;
  readonly timer: HeartbeatTimer;
  readonly blockedMsMax: number;
  /** What clients may name of earlier answers. */
  readonly told: ItemCache;
  readonly named: NamedItems;
}

/** A request of a client's format, with its body. */
export function clientGeneration(
  request: FastifyRequest,
  reply: FastifyReply,
  format: Format,
  parts: GenerationParts,
): Generation {
  const asked = new HttpFormatRequest(request);
  const generation = new Generation(request, reply, format, parts, format.streamFraming?.(asked));
  const body = Buffer.isBuffer(request.body) ? request.body : NO_BYTES;
  generation.adopt(format, { wire: format.wire.name, body, headers: format.wireHeaders(asked) });
  return generation;
}

export class Generation implements Sink<StreamGenerateResponse>, RunningRequest {
  rosterIndex: number | undefined = undefined;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  #format: Format;
  readonly #front: Front;
  readonly #running: Running;
  readonly #lost: LostAnswers;
  readonly #kept: ByteBudget;
  readonly #items: ItemCache;
  readonly #named: NamedItems;
  readonly #abort = new Cancellation();
  #source: SourceBody = NO_SOURCE;
  readonly #framing: StreamFraming | undefined;
  readonly #stream: StreamReply;
  #head: CallMetadata = {};
  #streams = false;
  #answer: StreamedAnswer | undefined;
  #whole: WholeAnswer | undefined;
  #finished = false;
  /** True once a whole answer is on its way. */
  #isAnswered = false;
  #over = false;
  #stopReason: GatewayError | undefined;

  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    format: Format,
    parts: GenerationParts,
    framing: StreamFraming | undefined,
  ) {
    this.#request = request;
    this.#reply = reply;
    this.#format = format;
    this.#front = parts.front;
    this.#running = parts.running;
    this.#lost = parts.lost;
    this.#kept = parts.kept;
    this.#items = parts.told;
    this.#named = parts.named;
    // Only a stream of the wire's own events has events that can be numbered.
    const isNumbered = framing === undefined && request.headers[RESUMABLE_HEADER] === "1";
    this.#framing = isNumbered ? new EventNumbers(format.wire.heartbeat, () => this.#requestId) : framing;
    this.#stream = new StreamReply({
      response: reply.raw,
      timer: parts.timer,
      heartbeat: this.#framing?.heartbeat ?? format.wire.heartbeat,
      blockedMsMax: parts.blockedMsMax,
    });
  }

  /** What was asked, and the format that it is answered in. Before the answer's first byte. */
  adopt(format: Format, source: SourceBody): void {
    this.#format = format;
    this.#source = source;
  }

  /** Answers it where there is room. Never rejects: what goes wrong is told to the client. */
  async run(): Promise<void> {
    try {
      this.#running.add(this);
    } catch (error) {
      return this.#front.refuse(this.#request, this.#reply, error);
    }
    this.#reply.raw.on("close", () => this.#close());
    try {
      const resolving = this.#named.resolved(this.#source, this.#format.memory, this.#holder);
      if (resolving !== this.#source) this.#source = await resolving;
      const preparing = this.#front.prepared(this.#source, this.#holder);
      // As a rule it is there, and the call begins in the turn in which its body came.
      this.#source = preparing instanceof Promise ? await preparing : preparing;
      await this.ask(this.#front.callOptions(this.#request, this.#abort, askedTimeoutMs(this.#request.headers)));
      this.#conclude();
    } catch (error) {
      this.#fail(this.#stopReason ?? error);
    }
    this.#over = true;
    if (this.#reply.raw.closed) this.#running.remove(this);
  }

  /** The call whose answer it is. */
  protected ask(options: CallOptions): Promise<void> {
    return this.#front.channel.stream(InferenceServiceService.streamGenerate, this.#call(), options, this);
  }

  #call(): StreamGenerateRequest {
    const generation = {
      model: "",
      input: { $case: "source" as const, value: this.#source },
      outputTokensMax: undefined,
      clamp: askedClamp(this.#request.headers),
    };
    return { generation, acceptWire: this.#format.wire.name };
  }

  /** A closed connection ends the call, and with it the upstream's. After the last byte there is nothing to end. */
  #close(): void {
    this.#answer?.end();
    if (!this.#reply.raw.writableFinished) this.#abort.abort(new GatewayError("ERROR_REASON_CANCELLED"));
    // It runs until its last byte is out: a stopping server must not cut a reader that is slow.
    if (this.#over) this.#running.remove(this);
  }

  stop(reason: GatewayError): void {
    this.#stopReason ??= reason;
    this.#abort.abort(reason);
  }

  head(metadata: CallMetadata): void {
    this.#head = metadata;
    this.#streams = metadata[FORM_HEADER] === "stream";
  }

  data(message: StreamGenerateResponse): boolean {
    try {
      return this.#streams ? this.#forward(message) : this.#collect(message);
    } catch (error) {
      // An answer that cannot be told is our fault; the call must not go on and must not take the error for its own.
      this.stop(GatewayError.from(error));
      return true;
    }
  }

  onDrain(callback: () => void): void {
    this.#stream.onDrain(callback);
  }

  /** A batch of a stream, in one piece. The first one takes the head along. */
  #forward(message: StreamGenerateResponse): boolean {
    if (this.#finished) return true;
    const answer = this.#told();
    const events = answer.push(message);
    this.#finished = answer.finished;
    if (this.#finished) this.#remember(events);
    const bytes = this.#framed(events);
    if (!this.#stream.begun) this.#begin();
    if (this.#finished) {
      this.#stream.end(bytes);
      return true;
    }
    return this.#stream.write(bytes);
  }

  /** Made with the first batch: until then the format may be another's. */
  #told(): StreamedAnswer {
    if (this.#answer !== undefined) return this.#answer;
    this.#answer = new StreamedAnswer(this.#format, this.#source, this.#kept, this.#holder);
    if (this.#reply.raw.closed) this.#answer.end();
    return this.#answer;
  }

  /** Whose request it is: names one key. */
  get #holder(): string {
    return this.#request.admission?.holder ?? "";
  }

  /** The bytes as the client wants its stream. */
  #framed(events: Buffer): Buffer {
    if (this.#framing === undefined) return events;
    const bytes = this.#framing.push(events);
    return this.#finished ? Buffer.concat([bytes, this.#framing.end()]) : bytes;
  }

  #collect(message: StreamGenerateResponse): boolean {
    this.#finished ||= isFinish(message.events.at(-1));
    this.#whole ??= new WholeAnswer(this.#format.wire, () => askedIn(this.#format, this.#source));
    this.#whole.push(message);
    // It is charged for: what the service has still to note of it, its client does not wait for.
    if (this.#finished) this.#answerWhole(this.#whole);
    return true;
  }

  /** Writes a whole answer. */
  #answerWhole(whole: WholeAnswer): void {
    if (this.#isAnswered || this.#stopReason !== undefined || this.#reply.raw.destroyed) return;
    const body = whole.body();
    this.#remember(body);
    const headers = this.#front.headers(this.#request, this.#head);
    this.#isAnswered = true;
    const response = answerInBytes(this.#reply, headers, body);
    if (this.#request.headers[RETRY_HEADER] === undefined) return;
    // Of one that is too large the service is told that it was lost: its retry pays again, and should know.
    const kept = body.length > LOST_BYTES_MAX ? NO_BYTES : body;
    const bytes = HELD_BYTES + residentBytes(kept) + residentBytes(this.#source.body);
    const { socket } = this.#request;
    this.#lost.wrote({ socket, response, holder: this.#holder, bytes, onLost: () => this.#handBack(kept) });
  }

  /** Keeps a good answer where its client may name it later. */
  #remember(bytes: Buffer): void {
    const { memory } = this.#format;
    if (memory === undefined || !memory.mayKeep(this.#source)) return;
    this.#items.keep(this.#holder, memory.toldIn(bytes, this.#streams));
  }

  /** The id under which the answer is kept. */
  get #requestId(): string {
    return this.#head[ORIGINAL_HEADER] ?? this.#head["x-request-id"] ?? "";
  }

  #begin(): void {
    this.#reply.hijack();
    const headers = this.#front.headers(this.#request, this.#head);
    headers["content-type"] = this.#framing?.contentType ?? "text/event-stream; charset=utf-8";
    headers["cache-control"] = "no-cache";
    headers["x-accel-buffering"] = "no";
    headers["x-content-type-options"] = "nosniff";
    this.#stream.begin(headers);
  }

  /** The call ended well. An answer without its finish is cut all the same. */
  #conclude(): void {
    if (this.#stopReason !== undefined) throw this.#stopReason;
    if (!this.#finished) throw new GatewayError("ERROR_REASON_INTERNAL", {}, { cause: new Error("no finish came") });
  }

  /** The client lost the answer on its way: the service keeps it for a retry, where it is not too large. */
  #handBack(body: Buffer): void {
    const requestId = this.#head["x-request-id"] ?? "";
    const options = this.#front.callOptions(this.#request, new Cancellation(), HAND_BACK_MS);
    const lost = { requestId, request: this.#call(), headers: { ...this.#head }, body };
    // Where the service cannot be told, the retry runs anew, as it would without all this.
    this.#front.channel.unary(FrontServiceService.reportUndelivered, lost, options).catch(() => undefined);
  }

  /** Before the first byte a refusal has a status; after it, it is told in the stream, which never ends well. */
  #fail(thrown: unknown): void {
    if (this.#reply.raw.destroyed) return;
    if (this.#isAnswered) {
      this.#front.logFault(GatewayError.from(thrown), this.#head["x-request-id"] ?? "", this.#request);
      return;
    }
    if (!this.#stream.begun) {
      this.#front.refuse(this.#request, this.#reply, thrown, this.#head);
      return;
    }
    const error = GatewayError.from(thrown);
    this.#front.logFault(error, this.#head["x-request-id"] ?? "", this.#request);
    try {
      this.#stream.end(this.#framed(this.#told().fail(error)));
    } catch {
      // The failure cannot even be told; a cut connection looks complete to nobody.
      this.#reply.raw.destroy();
    }
  }
}
