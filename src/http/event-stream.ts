/** A method that answers with a stream, as server-sent events: one for each thing that its messages list. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { Cancellation } from "../base/cancellation.js";
import type { CallMetadata, Sink } from "../api/channel.js";
import { answerBytesToJson } from "../api/json.js";
import { GatewayError } from "../base/errors.js";
import { errorReply } from "./error-reply.js";
import { isRecord } from "./json-check.js";
import { type HttpInput, requestBytes } from "./json-map.js";
import { type ManagementAnswer, type ManagementRoute, orRefuseCaller } from "./management-call.js";
import type { HeartbeatTimer } from "./heartbeat-timer.js";
import type { Running, RunningRequest } from "./running.js";
import { StreamReply } from "./stream-reply.js";
import { eventBytes, eventText, identifiedEvent } from "../wire/events/writer.js";

const HEARTBEAT = Buffer.from(": \n\n");
/** The name of an event that tells what a message says beside its list, and what says nothing. */
const NOTICE = "notice";
const EMPTY: ReadonlySet<unknown> = new Set(["", "0", 0, false, null]);
/** The field of a request by which a client goes on, which the header Last-Event-ID means too. */
const AFTER = "after_id";

export interface EventStreamParts {
  /** Those that run: they end when the server stops. */
  readonly running: Running;
  readonly timer: HeartbeatTimer;
  readonly blockedMsMax: number;
}

/** How such a method is answered. */
export function streamedAnswerOf(parts: EventStreamParts): ManagementAnswer {
  return async (request, reply, input, route) => {
    const bytes = await orRefuseCaller(request, route, () => requestBytes(route.desc, resumed(request, input, route)));
    const stream = new EventStream(request, reply, route, parts);
    parts.running.add(stream);
    await stream.run(route.method.requestDeserialize(bytes));
    return reply;
  };
}

/** A client that lost its stream says by a header what it had last. */
function resumed(request: FastifyRequest, input: HttpInput, { desc }: ManagementRoute): HttpInput {
  const last = request.headers["last-event-id"];
  const { query } = input;
  if (typeof last !== "string" || last === "" || !desc.input.fields.some(({ name }) => name === AFTER)) return input;
  return { ...input, query: { ...(isRecord(query) ? query : {}), [AFTER]: last } };
}

/** What a message lists, each as an event; what it says beside its list is an event by another name. */
function eventsOf(answer: unknown): string {
  const members = isRecord(answer) ? Object.entries(answer) : [];
  const list = members.find(([, value]) => Array.isArray(value));
  if (list === undefined) return eventOf(answer);
  const beside = members.filter((member) => member !== list && !EMPTY.has(member[1]));
  const notice = beside.length === 0 ? "" : eventText(NOTICE, JSON.stringify(Object.fromEntries(beside)));
  const [, items] = list;
  return (Array.isArray(items) ? items : []).map(eventOf).join("") + notice;
}

function eventOf(item: unknown): string {
  const id = isRecord(item) && typeof item["id"] === "string" ? item["id"] : "";
  return identifiedEvent(id, JSON.stringify(item));
}

class EventStream implements Sink<unknown>, RunningRequest {
  rosterIndex: number | undefined = undefined;
  readonly #abort = new Cancellation();
  readonly #stream: StreamReply;
  #stopReason: GatewayError | undefined;
  #head: CallMetadata = {};

  constructor(
    private readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
    private readonly route: ManagementRoute,
    private readonly parts: EventStreamParts,
  ) {
    const { timer, blockedMsMax } = parts;
    this.#stream = new StreamReply({ response: reply.raw, timer, heartbeat: HEARTBEAT, blockedMsMax });
  }

  async run(message: unknown): Promise<void> {
    const { front, method } = this.route;
    this.reply.raw.once("close", () => this.#abort.abort(new GatewayError("ERROR_REASON_CANCELLED")));
    try {
      await front.channel.stream(method, message, front.callOptions(this.request, this.#abort), this);
      if (!this.#stream.begun) this.head(this.#head);
      this.#stream.end(Buffer.alloc(0));
    } catch (error) {
      this.#fail(this.#stopReason ?? error);
    } finally {
      this.parts.running.remove(this);
    }
  }

  stop(reason: GatewayError): void {
    this.#stopReason ??= reason;
    this.#abort.abort(reason);
  }

  /** The head goes out at once: a watch may have nothing to say for hours. */
  head(metadata: CallMetadata): void {
    this.#head = metadata;
    this.reply.hijack();
    const headers = this.route.front.headers(this.request, metadata);
    headers["content-type"] = "text/event-stream; charset=utf-8";
    headers["cache-control"] = "no-store";
    headers["x-accel-buffering"] = "no";
    headers["x-content-type-options"] = "nosniff";
    this.#stream.begin(headers);
    this.#stream.write(HEARTBEAT);
  }

  data(message: unknown): boolean {
    const { desc, method } = this.route;
    const answer = answerBytesToJson(desc, method.responseSerialize(message));
    return this.#stream.write(Buffer.from(eventsOf(answer)));
  }

  onDrain(callback: () => void): void {
    this.#stream.onDrain(callback);
  }

  #fail(thrown: unknown): void {
    const { front } = this.route;
    if (this.reply.raw.destroyed) return;
    if (!this.#stream.begun) {
      front.refuse(this.request, this.reply, thrown, this.#head);
      return;
    }
    const error = GatewayError.from(thrown);
    const { body } = errorReply(error, this.#head["x-request-id"] ?? "", undefined);
    this.#stream.end(eventBytes("error", body.toString("utf8")));
  }
}
