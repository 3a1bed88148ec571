/** From typed steps to the events of a client: items as they grow, and the response around them. */
import { createHash } from "node:crypto";
import {
  type CandidateEnd,
  type Event,
  FinishReason,
  type Image,
  type LogprobsDelta,
  type Part,
  type Start,
  type ToolCallStart,
  type Usage,
} from "../../../api/index.js";
import type { GatewayError } from "../../../base/errors.js";
import { codeOf } from "../../error/code.js";
import { JsonEnd } from "../../json/json-end.js";
import { typeOf } from "../../openai/error.js";
import { StreamEncoder } from "../../events/writer.js";
import type { RequestFacts, WireRequest } from "../../wire.js";
import { encodeAnnotations } from "../answer/write-annotations.js";
import { compactionItem } from "../facts-summary.js";
import { ResponsesRequest } from "../request/decode.js";
import { AskedTools } from "../request/decode-tools.js";
import { CallWriter, type ItemStatus, MessageWriter, type Place, ReasoningWriter } from "./write-items.js";
import { reasoningItem, tellWhole } from "./write-items.js";
import {
  failureCode,
  type ResponseHead,
  repeatedMembers,
  type ResponseState,
  responseText,
} from "../answer/write-response.js";
import { WIRE_NAME } from "../facts.js";
import { encodeCallState, encodeProof, encodeRedacted, openAisOwn, OUR_REASONING } from "../answer/proof.js";

export function encodeStream(request: RequestFacts, asked?: WireRequest): StreamEncoder {
  return new ResponsesStreamEncoder(request, asked);
}

/** The message or the thought that goes on. Calls may go on beside it. */
type OpenItem =
  | { readonly kind: "message"; readonly writer: MessageWriter; readonly place: Place }
  | { readonly kind: "reasoning"; readonly writer: ReasoningWriter; readonly place: Place };

interface OpenCall {
  readonly writer: CallWriter;
  readonly place: Place;
  /** Tells when its arguments are whole. */
  readonly end: JsonEnd;
}

const INCOMPLETE: ReadonlyMap<FinishReason, string> = new Map([
  [FinishReason.FINISH_REASON_LENGTH, "max_output_tokens"],
  [FinishReason.FINISH_REASON_CONTEXT_FULL, "max_output_tokens"],
  [FinishReason.FINISH_REASON_BLOCKED, "content_filter"],
]);
const NO_SUMMARY = { code: "server_error", message: "The model wrote no summary of the conversation." };
const MALFORMED = { code: "server_error", message: "The model's answer was malformed." };

type Kind = NonNullable<Event["kind"]>;
type Step = Exclude<Kind, { $case: "start" | "finish" }>;

/** About what a token with its probability takes as JSON, beside those of the tokens that were likely in its place. */
const LOGPROB_BYTES = 100;

/** A text that grows has a room for it, at most twice as large. */
const ROOMS = 2;

/** The bytes that all texts and bytes in a value are kept in. */
function bytesIn(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value) * ROOMS;
  if (typeof value !== "object" || value === null) return 0;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  return Object.values(value).reduce<number>((sum, member) => sum + bytesIn(member), 0);
}

/** In how much what the end of the stream repeats of a step is kept. */
function bytesOf(kind: Step): number {
  switch (kind.$case) {
    case "text":
    case "refusal":
      return bytesIn(kind.value.text);
    case "thinking":
      return bytesIn(kind.value.text) + bytesIn(kind.value.signature);
    case "part":
      return bytesIn(kind.value.part);
    case "toolCallDelta":
      return bytesIn(kind.value.arguments);
    case "logprobs":
      return kind.value.content.reduce((sum, { top }) => sum + (1 + top.length) * LOGPROB_BYTES, 0);
    default:
      return 0;
  }
}

export class ResponsesStreamEncoder extends StreamEncoder {
  private head: ResponseHead | undefined;
  private sequence = 0;
  /** What the ids of items end in. */
  private tail = "";
  /** The items that ended, by their place. */
  private readonly output: string[] = [];
  private places = 0;
  private open: OpenItem | undefined;
  private readonly calls = new Map<number, OpenCall>();
  private ending: CandidateEnd | undefined;
  private readonly tools: AskedTools;
  /** What the model wrote so far, where it was asked to sum the conversation up: nothing else of it is told. */
  private summary: string[] | undefined;
  /** Tells one event: its name stands before its data and in it. `members` are JSON, each with its key. */
  private readonly event = (type: string, members: string): void => {
    this.out.named(type, `{"type":"${type}","sequence_number":${this.sequence++},${members}}`);
  };

  constructor(
    private readonly request: RequestFacts,
    private readonly asked: WireRequest | undefined,
  ) {
    super();
    const { source } = asked ?? {};
    if (asked instanceof ResponsesRequest && asked.sumsUp) this.summary = [];
    this.tools = source?.wire === WIRE_NAME ? AskedTools.ofBody(source.body) : new AskedTools();
  }

  protected override tell(events: readonly Event[]): void {
    for (let place = 0; place < events.length; place++) {
      const kind = events[place]?.kind;
      if (kind === undefined) continue;
      // The probabilities of a text are told in the text's own event.
      const next = events[place + 1]?.kind;
      if (kind.$case === "text" && next?.$case === "logprobs" && next.value.candidate === kind.value.candidate) {
        this.take(kind, next.value);
        place++;
      } else if (kind.$case === "start") this.begin(kind.value);
      else if (kind.$case === "finish") this.finish(kind.value.usage);
      else this.take(kind, undefined);
    }
  }

  protected override tellFailure(error: GatewayError): void {
    const { message, param } = error;
    const [type, code] = [typeOf(error), codeOf(error)];
    // Both forms of it: some readers know the one, some the other.
    const flat = JSON.stringify({ code, message, param, error: { type, code, message, param } });
    this.event("error", flat.slice(1, -1));
    // Items that go on are left out: they never ended.
    const output = this.output.filter((item) => item !== undefined);
    if (this.head !== undefined) this.end("failed", { output, error: { code: failureCode(code), message } });
  }

  /** The response as a whole, as it stands now. */
  whole(usage: Usage | undefined): string {
    return responseText(this.begin(), this.finalState(usage));
  }

  private begin(start?: Start): ResponseHead {
    if (this.head !== undefined) return this.head;
    const { id = "", model = this.request.model, createTime } = start ?? {};
    const createdSeconds = Math.floor((createTime?.getTime() ?? 0) / 1000);
    this.tail = createHash("sha256").update(`${id} ${model} ${createdSeconds}`).digest("hex").slice(0, 32);
    const repeated = repeatedMembers(this.asked);
    const head = { id: id || `resp_${this.tail}`, model, createdSeconds, repeated };
    this.head = head;
    const response = responseText(head, { status: "in_progress", output: [] });
    this.event("response.created", `"response":${response}`);
    this.event("response.in_progress", `"response":${response}`);
    return head;
  }

  private take(kind: Step, logprobs: LogprobsDelta | undefined): void {
    // The wire has one answer.
    if (kind.value.candidate !== 0) return;
    this.begin();
    this.keepBytes(bytesOf(kind));
    if (this.summary !== undefined) return this.sumUp(kind, this.summary);
    switch (kind.$case) {
      case "text":
        return this.message().addText(kind.value.text, logprobs?.content ?? []);
      case "refusal":
        return this.message().addRefusal(kind.value.text);
      case "logprobs":
        if (this.open?.kind === "message") this.open.writer.addText("", kind.value.content);
        return;
      case "thinking":
        return this.think(kind.value.text, kind.value.signature);
      case "toolCallStart":
        return this.startCall(kind.value);
      case "toolCallDelta": {
        const call = this.calls.get(kind.value.index);
        call?.end.push(kind.value.arguments);
        call?.writer.add(kind.value.arguments);
        return;
      }
      case "part":
        return this.part(kind.value.part);
      case "candidateEnd":
        this.ending = kind.value;
        return this.closeAll();
      default:
        kind satisfies never;
    }
  }

  private sumUp(kind: Step, summary: string[]): void {
    if (kind.$case === "text") summary.push(kind.value.text);
    if (kind.$case === "part" && kind.value.part?.kind?.$case === "text") summary.push(kind.value.part.kind.value.text);
    if (kind.$case !== "candidateEnd") return;
    this.ending = kind.value;
    const text = summary.join("");
    // What was cut stands for nothing.
    if (text.trim() === "" || INCOMPLETE.has(kind.value.reason)) return;
    const place = this.place("cmp_");
    const item = compactionItem(place.id, text);
    this.wholeItem(place, item, item);
  }

  private message(): MessageWriter {
    if (this.open?.kind === "message") return this.open.writer;
    const place = this.place("msg_");
    const writer = new MessageWriter(this.event, place);
    this.open = { kind: "message", writer, place };
    return writer;
  }

  /** A thought goes on, or ends with its proof. OpenAI's own is bound to the id of its item. */
  private think(text: string, signature: string | undefined): void {
    const own = openAisOwn(signature);
    if (this.open?.kind !== "reasoning") {
      const place = this.place(OUR_REASONING, own?.id);
      this.open = { kind: "reasoning", writer: new ReasoningWriter(this.event, place), place };
    }
    this.open.writer.add(text);
    if (signature === undefined) return;
    const isBound = own !== undefined && own.id === this.open.place.id;
    this.closeReasoning(isBound ? own.content : encodeProof(signature));
  }

  private closeReasoning(encrypted: string): void {
    if (this.open?.kind !== "reasoning") return;
    this.output[this.open.place.index] = this.open.writer.close(encrypted);
    this.open = undefined;
  }

  private startCall({ index, id, name, custom, signature }: Omit<ToolCallStart, "candidate">): void {
    if (signature !== undefined) this.wholeReasoning(encodeCallState(signature));
    const tool = this.tools.tool(name) ?? { namespace: undefined, name, custom };
    const isWrapped = tool.custom && !custom;
    const place = this.place(tool.custom ? "ctc_" : "fc_");
    const writer = new CallWriter(this.event, place, { callId: id, tool, isWrapped });
    this.calls.set(index, { writer, place, end: new JsonEnd() });
  }

  /** A reasoning item that only carries what must come back. */
  private wholeReasoning(encrypted: string): void {
    const place = this.place(OUR_REASONING);
    const item = reasoningItem(place.id, "", encrypted);
    tellWhole(this.event, place, reasoningItem(place.id, "", undefined), item);
    this.output[place.index] = item;
  }

  private part(part: Part | undefined): void {
    const kind = part?.kind;
    switch (kind?.$case) {
      case "text": {
        const writer = this.message();
        writer.addText(kind.value.text, []);
        for (const annotation of encodeAnnotations(kind.value.citationsJson)) writer.annotate(annotation);
        return;
      }
      case "refusal":
        return this.message().addRefusal(kind.value.text);
      case "thinking":
        return this.think(kind.value.text, kind.value.signature);
      case "redactedThinking":
        return this.wholeReasoning(encodeRedacted(kind.value.data));
      case "toolCall": {
        // Apart from the calls that come in pieces.
        const index = -1 - this.places;
        this.startCall({ index, ...kind.value });
        const call = this.calls.get(index);
        call?.end.push(kind.value.arguments);
        call?.writer.add(kind.value.arguments);
        return;
      }
      case "image":
        return this.image(kind.value);
      case "audio":
        return this.message().addText(kind.value.transcript ?? "", []);
      case "opaque":
        if (kind.value.wire === WIRE_NAME) this.wholeItem(this.place(""), kind.value.json, kind.value.json);
        return;
      default:
    }
  }

  /** A picture that the model made: on this wire the result of a tool of OpenAI's. */
  private image({ source }: Image): void {
    if (source?.$case !== "inline") return;
    const place = this.place("ig_");
    const item = (status: string, result: string): string =>
      `{"id":"${place.id}","type":"image_generation_call","status":"${status}","result":${result}}`;
    const data = `"${source.value.data.toString("base64")}"`;
    this.wholeItem(place, item("in_progress", "null"), item("completed", data));
  }

  private wholeItem(place: Place, opened: string, item: string): void {
    tellWhole(this.event, place, opened, item);
    this.output[place.index] = item;
  }

  /** The place of the next item; what ended before it is told as ended. */
  private place(prefix: string, id?: string): Place {
    this.closeOpen("completed");
    for (const [index, call] of this.calls) if (call.end.isWhole) this.closeCall(index, call, "completed");
    const index = this.places++;
    return { index, id: id ?? `${prefix}${this.tail}${index.toString(16).padStart(4, "0")}` };
  }

  private closeOpen(status: ItemStatus): void {
    if (this.open?.kind === "reasoning") return this.closeReasoning(encodeProof(undefined));
    if (this.open === undefined) return;
    this.output[this.open.place.index] = this.open.writer.close(status);
    this.open = undefined;
  }

  private closeCall(index: number, { writer, place }: OpenCall, status: ItemStatus): void {
    this.calls.delete(index);
    this.output[place.index] = writer.close(status);
  }

  private closeAll(): void {
    const isCut = this.ending !== undefined && INCOMPLETE.has(this.ending.reason);
    const status = isCut ? "incomplete" : "completed";
    this.closeOpen(status);
    for (const [index, call] of this.calls) this.closeCall(index, call, call.end.isWhole ? "completed" : status);
  }

  private finish(usage: Usage | undefined): void {
    this.begin();
    const { status, ...state } = this.finalState(usage);
    this.end(status, state);
  }

  private finalState(usage: Usage | undefined): ResponseState {
    this.closeAll();
    const { output } = this;
    const reason = this.ending?.reason;
    if (reason === FinishReason.FINISH_REASON_MALFORMED) return { status: "failed", output, usage, error: MALFORMED };
    const incompleteReason = reason === undefined ? undefined : INCOMPLETE.get(reason);
    if (incompleteReason === undefined && this.summary !== undefined && output.length === 0)
      return { status: "failed", output, usage, error: NO_SUMMARY };
    if (incompleteReason === undefined) return { status: "completed", output, usage };
    return { status: "incomplete", output, usage, incompleteReason };
  }

  private end(status: ResponseState["status"], state: Omit<ResponseState, "status">): void {
    this.event(`response.${status}`, `"response":${responseText(this.begin(), { ...state, status })}`);
  }
}
