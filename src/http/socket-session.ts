/** One WebSocket: its client's messages, answered one after the other, for as long as its key may ask. */
import type { Socket } from "node:net";
import { setImmediate as endOfTurn } from "node:timers/promises";
import type { RawData, WebSocket } from "ws";
import type { ByteBudget } from "../base/bytes/byte-budget.js";
import { Cancellation } from "../base/cancellation.js";
import type { Admission, CallMetadata, Channel } from "../api/channel.js";
import { FrontServiceService } from "../api/index.js";
import { type Allowance, type Allowances, CALLS_PACE, requireLeft } from "../base/event-loop/pace.js";
import { GatewayError } from "../base/errors.js";
import type { Format, FormatSocket, SocketTurn, SourceBody } from "../formats/format.js";
import { bodyTooLarge } from "../base/bytes/body-limit.js";
import { LONG_BYTES } from "./body-check.js";
import { stopping } from "./drain.js";
import { errorHeaders } from "./error-reply.js";
import type { FrontRefusal } from "./front.js";
import { answerHeaders } from "./headers.js";
import type { NamedItems } from "./named-items.js";
import type { HeartbeatTimer, Ticking } from "./heartbeat-timer.js";
import type { Running } from "./running.js";
import { SocketResponse } from "./socket-response.js";
import { SocketWriter } from "./socket-writer.js";
import type { ItemCache } from "./item-cache.js";
import { warmUp } from "./warm-up.js";
import { plainCode } from "../formats/plain-envelope.js";

/**
 * The longest message, and the longest conversation that the next one may go on from. A message comes in one piece on
 * the event loop, unmasked and checked there; what is longer has HTTP, where a thread puts it together.
 */
export const MESSAGE_BYTES_MAX = 2 * 1024 * 1024;
/** Close codes of RFC 6455 and of its registry. */
const CLOSE = { done: 1000, unsupported: 1003, policy: 1008, restart: 1012, tryLater: 1013 } as const;
/** Whoever answers so many pings in a row with nothing at all is gone. */
const UNANSWERED_MAX = 2;
/** Messages that wait behind the one that is answered. */
const QUEUED_MAX = 16;
/** Of a message that is not whole yet, so many bytes a second must come once it took as long as a slow body may. */
const BYTES_PER_SECOND_MIN = 16 * 1024;
/** Before what a client's ping or pong says: a short length, and the mask. */
const CONTROL_HEADER_BYTES = 6;
/** Shorter ones are not counted while they come: they are there at once. */
const COUNTED_BYTES_MIN = 65_536;

export interface SocketRules {
  readonly bodyBytesMax: number;
  /** A reader that takes nothing for so long is cut. */
  readonly blockedMsMax: number;
  /** How long a message may take before it must come at a least rate. */
  readonly slowMs: number;
  /** An older connection takes no more messages. */
  readonly ageMsMax: number;
}

export interface SocketParts extends SocketRules {
  readonly channel: Channel;
  readonly running: Running;
  readonly kept: ByteBudget;
  readonly told: ItemCache;
  readonly named: NamedItems;
  /** The source as it is called with and answered by: itself where it is short. */
  readonly prepared: (source: SourceBody, holder: string) => SourceBody | Promise<SourceBody>;
  /** The memory for messages that are answered. Absent: unbounded. */
  readonly bodies: ByteBudget | undefined;
  /** The memory for what clients may go on from. */
  readonly turns: ByteBudget;
  /** What keys have left of messages that no limit of a request counts. */
  readonly allowances: Allowances;
  readonly timer: HeartbeatTimer;
  /** Resolves when a message of theirs may be answered; undefined where that is now. Rejects with OVERLOADED. */
  readonly enter: (metadata: CallMetadata) => Promise<void> | undefined;
  readonly newRequestId: () => string;
  /** Hears of what is refused here, which the service never saw. */
  readonly onRefused: (refusal: FrontRefusal) => void;
  /** One message was answered, with the status that it would have had over HTTP. */
  readonly onAnswered: (status: number, durationMs: number) => void;
}

/** Whose connection it is, and what it speaks. */
export interface SocketOpening {
  readonly format: Format;
  readonly socket: FormatSocket;
  /** Names one key. */
  readonly holder: string;
  readonly admission: Admission;
  readonly metadata: CallMetadata;
  readonly clamp: boolean | undefined;
}

export class SocketSession implements Ticking {
  rosterIndex: number | undefined = undefined;
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #opening: SocketOpening;
  readonly #parts: SocketParts;
  readonly #writer: SocketWriter;
  readonly #gone = new Cancellation();
  readonly #sinceMs: number;
  readonly #queue: Buffer[] = [];
  #running: SocketResponse | undefined;
  #isBusy = false;
  #turn: SocketTurn | undefined;
  /** Of a message that is not whole yet: what came of it, since when, and what of the budget it has. */
  #partial = { bytes: 0, taken: 0, sinceMs: 0 };
  #lastPingMs: number;
  #readBytes = 0;
  #unanswered = 0;
  /** True once a message came beyond the pace of its key, and the client was told so. */
  #isWarned = false;
  #closeWith: { readonly code: number; readonly error: GatewayError | undefined } | undefined;
  #status = 200;

  constructor(webSocket: WebSocket, socket: Socket, opening: SocketOpening, parts: SocketParts) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#opening = opening;
    this.#parts = parts;
    this.#sinceMs = parts.timer.nowMs();
    this.#lastPingMs = this.#sinceMs;
    this.#writer = new SocketWriter(webSocket, socket, parts.timer.listeningMs);
    webSocket.on("message", (data, isBinary) => this.#message(data, isBinary));
    // What is wrong with a frame closes the connection with the code that says so.
    webSocket.on("error", () => undefined);
    webSocket.on("close", () => this.#closed());
    // Counted before they are read: what they end is told by the events that follow.
    socket.prependListener("data", (chunk: Buffer) => this.#arrived(chunk.length));
    webSocket.on("ping", (data) => this.#control(data.length));
    webSocket.on("pong", (data) => this.#control(data.length));
    parts.timer.add(this);
    void this.#watch();
  }

  get isClosed(): boolean {
    return this.#webSocket.readyState === this.#webSocket.CLOSED;
  }

  onClosed(callback: () => void): void {
    this.#webSocket.on("close", callback);
  }

  /** Takes no more messages, and closes once those that came are answered. */
  drain(): void {
    this.#end(CLOSE.restart, undefined);
  }

  onTick(nowMs: number): void {
    const { blockedMsMax, slowMs, ageMsMax, timer } = this.#parts;
    const { bytes, sinceMs } = this.#partial;
    const lateMs = bytes === 0 ? -1 : timer.listeningMs() - sinceMs - slowMs;
    const isSlow = lateMs >= 0 && bytes <= (lateMs / 1000) * BYTES_PER_SECOND_MIN;
    if (this.#writer.blockedMs > blockedMsMax || isSlow) return this.#webSocket.terminate();
    if (nowMs - this.#sinceMs >= ageMsMax) this.#end(CLOSE.done, this.#tooOld());
    if (!timer.isDue(this.#lastPingMs, nowMs)) return;
    // Nothing came since the last ping, not even its answer. One who reads nothing has the time said above.
    const isSilent = this.#socket.bytesRead === this.#readBytes && !this.#writer.isFull;
    this.#unanswered = isSilent ? this.#unanswered + 1 : 0;
    if (this.#unanswered > UNANSWERED_MAX) return this.#webSocket.terminate();
    this.#lastPingMs = nowMs;
    this.#readBytes = this.#socket.bytesRead;
    if (this.#webSocket.readyState === this.#webSocket.OPEN) this.#webSocket.ping();
  }

  /** Ends with the key: what runs then ends as the key's and the account's settings say. */
  async #watch(): Promise<void> {
    const { channel } = this.#parts;
    const options = { metadata: this.#opening.metadata, signal: this.#gone };
    const sink = { head: () => undefined, data: () => true, onDrain: () => undefined };
    const ended = await channel
      .stream(FrontServiceService.watchCaller, {}, options, sink)
      .then(stopping, GatewayError.from);
    if (ended.http === 401 || ended.http === 403) this.#end(CLOSE.policy, ended);
    else this.#end(CLOSE.restart, undefined);
  }

  /** Bytes of messages that are not whole yet find room before the rest of them comes. */
  #arrived(bytes: number): void {
    const partial = this.#partial;
    if (partial.bytes === 0) partial.sinceMs = this.#parts.timer.listeningMs();
    partial.bytes += bytes;
    if (partial.bytes < COUNTED_BYTES_MIN || this.#webSocket.readyState !== this.#webSocket.OPEN) return;
    try {
      this.#parts.bodies?.take(this.#opening.holder, partial.bytes - partial.taken);
      partial.taken = partial.bytes;
    } catch (error) {
      this.#refuse(GatewayError.from(error), {});
      this.#webSocket.close(CLOSE.tryLater, "no room for this message");
    }
  }

  /** A ping or a pong may come between the parts of a message, and is none of them. */
  #control(bytes: number): void {
    this.#partial.bytes = Math.max(0, this.#partial.bytes - bytes - CONTROL_HEADER_BYTES);
  }

  #message(data: RawData, isBinary: boolean): void {
    this.#give(this.#partial.taken);
    this.#partial = { bytes: 0, taken: 0, sinceMs: 0 };
    if (isBinary || !Buffer.isBuffer(data)) return this.#webSocket.close(CLOSE.unsupported, "messages are text");
    if (this.#closeWith !== undefined || this.#isUnserved(data)) return;
    try {
      if (this.#queue.length >= QUEUED_MAX) throw tooMany();
      this.#parts.bodies?.take(this.#opening.holder, data.length);
    } catch (error) {
      if (this.#isInPace()) this.#refuse(GatewayError.from(error), {});
      return;
    }
    this.#queue.push(data);
    if (!this.#isBusy) void this.#answerAll();
  }

  /**
   * True of a message of a kind that is not served: refused by its own event, before those that wait are answered. One
   * that is long, beyond the pace of its key, or of a client that reads nothing waits for its turn, where it counts.
   */
  #isUnserved(message: Buffer): boolean {
    if (message.length > LONG_BYTES || this.#writer.isFull || this.#allowance().left < 1) return false;
    let refusal: Buffer | undefined;
    try {
      refusal = this.#opening.socket.refuseUnserved(message);
    } catch {
      // Its turn says what is wrong with it.
      return false;
    }
    if (refusal === undefined) return false;
    if (this.#isInPace()) this.#writer.send([refusal]);
    return true;
  }

  /**
   * Counts a message that is looked at, which costs the event loop as much as a call does. Beyond the pace of its key
   * the client is told so once, and the next such message ends the connection.
   */
  #isInPace(): boolean {
    const allowance = this.#allowance();
    try {
      requireLeft(allowance, "messages", "the key");
      allowance.left -= 1;
      return true;
    } catch (error) {
      const refusal = GatewayError.from(error);
      if (this.#isWarned) this.#end(CLOSE.policy, refusal);
      else this.#refuse(refusal, {});
      this.#isWarned = true;
      return false;
    }
  }

  #allowance(): Allowance {
    return this.#parts.allowances.of(this.#opening.holder, CALLS_PACE);
  }

  /** Answers what waits. Never rejects. */
  async #answerAll(): Promise<void> {
    this.#isBusy = true;
    for (let message = this.#queue.shift(); message !== undefined; message = this.#queue.shift()) {
      const startMs = this.#parts.timer.nowMs();
      this.#status = 200;
      // What a long one took to come was this turn's.
      if (message.length > LONG_BYTES) await endOfTurn();
      const hadAnswer = this.#isInPace() && (await this.#answer(message));
      this.#give(message.length);
      if (hadAnswer) this.#parts.onAnswered(this.#status, this.#parts.timer.nowMs() - startMs);
    }
    this.#isBusy = false;
    if (this.#closeWith !== undefined) this.#close();
  }

  /** False where the message asks for nothing. Never rejects. */
  async #answer(message: Buffer): Promise<boolean> {
    let takenBytes = 0;
    let continuesLast = false;
    let hasEntered = false;
    try {
      const entering = this.#parts.enter(this.#opening.metadata);
      if (entering !== undefined) await entering;
      hasEntered = true;
      const unserved = this.#opening.socket.refuseUnserved(message);
      if (unserved !== undefined) {
        this.#writer.send([unserved]);
        await this.#writer.flushed();
        return false;
      }
      const asked = this.#opening.socket.read(message, this.#turn);
      if (asked === undefined) return false;
      const { body } = asked;
      continuesLast = asked.continuesLast;
      if (body.length > this.#parts.bodyBytesMax) throw bodyTooLarge(this.#parts.bodyBytesMax);
      this.#parts.bodies?.take(this.#opening.holder, body.length);
      takenBytes = body.length;
      // The service counts it from here on, by the limits of requests.
      this.#allowance().left += 1;
      if (!asked.generates) {
        const { format, socket, metadata, holder } = this.#opening;
        const { channel, newRequestId, prepared } = this.#parts;
        const source = await prepared({ wire: format.wire.name, body, headers: {} }, holder);
        const warm = await warmUp(channel, format, source, { metadata, signal: this.#gone }, newRequestId());
        const reader = socket.follow();
        for (const data of warm) reader.see(data);
        this.#writer.send(warm);
        this.#goOnFrom(asked.said && reader.turn(asked.said));
        return true;
      }
      this.#running = new SocketResponse(this.#responseParts(), asked);
      const turn = await this.#running.run();
      this.#running = undefined;
      // What a response went on from, and failed, is forgotten: clients tell all of it again, as OpenAI has them do.
      if (turn !== undefined || continuesLast) this.#goOnFrom(turn);
    } catch (error) {
      if (continuesLast) this.#goOnFrom(undefined);
      this.#refuse(GatewayError.from(error), {}, hasEntered);
    } finally {
      this.#give(takenBytes);
    }
    return true;
  }

  #responseParts(): ConstructorParameters<typeof SocketResponse>[0] {
    const { channel, running, kept, told, named, prepared } = this.#parts;
    const onRefused = (error: GatewayError, head: CallMetadata): void => this.#refuse(error, head);
    return { ...this.#opening, channel, running, kept, told, named, prepared, writer: this.#writer, onRefused };
  }

  /** Where there is no room for it, the client is told that the response is not found, and tells all of it again. */
  #goOnFrom(turn: SocketTurn | undefined): void {
    const { turns } = this.#parts;
    const { holder } = this.#opening;
    if (this.#turn !== undefined) turns.give(holder, this.#turn.items.length);
    this.#turn = undefined;
    if (turn === undefined || turn.items.length > MESSAGE_BYTES_MAX || this.#gone.aborted) return;
    try {
      turns.take(holder, turn.items.length);
      this.#turn = turn;
    } catch {
      return;
    }
  }

  /** `isRecorded` is false where the queue refused, which counts its refusals: too many come for a record of each. */
  #refuse(error: GatewayError, head: CallMetadata, isRecorded = true): void {
    this.#status = error.http;
    const { socket, metadata, admission } = this.#opening;
    const given = error.metadata["request_id"] ?? head["x-request-id"];
    const requestId = given ?? this.#parts.newRequestId();
    if (given === undefined && isRecorded)
      this.#parts.onRefused({ error, requestId, route: socket.path, metadata, admission });
    const headers = { ...answerHeaders(head), ...errorHeaders(error), "x-request-id": requestId };
    this.#writer.send([socket.encodeRefusal(error, headers)]);
  }

  /** Takes no more messages, and closes once nothing is answered any more. */
  #end(code: number, error: GatewayError | undefined): void {
    if (this.#closeWith !== undefined) return;
    this.#closeWith = { code, error };
    if (!this.#isBusy) this.#close();
  }

  #close(): void {
    if (this.#closeWith === undefined) return;
    const { code, error } = this.#closeWith;
    if (error !== undefined) this.#refuse(error, {});
    void this.#writer.flushed().then(() => this.#webSocket.close(code, error === undefined ? "" : plainCode(error)));
  }

  #closed(): void {
    const left = new GatewayError("ERROR_REASON_CANCELLED");
    this.#parts.timer.remove(this);
    this.#running?.stop(left);
    this.#gone.abort(left);
    this.#give(this.#partial.taken);
    for (const message of this.#queue.splice(0)) this.#give(message.length);
    this.#goOnFrom(undefined);
  }

  #give(bytes: number): void {
    this.#parts.bodies?.give(this.#opening.holder, bytes);
  }

  #tooOld(): GatewayError {
    const minutes = String(Math.round(this.#parts.ageMsMax / 60_000));
    return new GatewayError("ERROR_REASON_CONNECTION_TOO_OLD", { minutes });
  }
}

function tooMany(): GatewayError {
  return new GatewayError("ERROR_REASON_RATE_LIMITED", {
    limit: "messages",
    owner: "this connection",
    limit_value: String(QUEUED_MAX),
    remaining: "0",
    reset_ms: "1000",
  });
}
