/** From typed steps to the events of a client: blocks one after the other, each whole before the next begins. */
import { malformedAnswer } from "../../answer/finish-words.js";
import {
  type CandidateEnd,
  type Event,
  FinishReason,
  type Part,
  type ToolCallStart,
  type Usage,
} from "../../../api/index.js";
import type { GatewayError } from "../../../base/errors.js";
import { jsonOf, objectText } from "../../json/text.js";
import { StreamEncoder } from "../../events/writer.js";
import type { RequestFacts } from "../../wire.js";
import { CALLER, encodeAnswerPart, endMembers, thinkingBlock } from "../answer/write.js";
import { encodeCallId } from "../answer/call-id.js";
import { errorText } from "../error.js";
import { JsonEnd } from "../../json/json-end.js";
import { textBlock } from "../request/encode-parts.js";
import { LAST_EVENT } from "../facts.js";
import { encodeCallState, encodeProof } from "../answer/proof.js";
import { encodeEndUsage, encodeUsage } from "../answer/usage.js";

export function encodeStream(request: RequestFacts): StreamEncoder {
  return new MessagesStreamEncoder(request);
}

/** A block on its way. The first that is not closed is told as it comes; those behind it wait. */
const NO_USAGE_YET = encodeUsage(undefined);

interface Block {
  readonly kind: "text" | "thinking" | "call" | "whole";
  /** Its `content_block_start`. */
  readonly start: string;
  /** Its deltas that were not told yet. */
  deltas: string[];
  /** Of a call: whether its arguments are whole. */
  readonly arguments: JsonEnd | undefined;
  /** Of a call: true where its arguments are free text, which the wire has only inside an object. */
  isFreeText: boolean;
  /** Of a thought: its proof, once it came. */
  proof: string | undefined;
  /** True where nothing more can come. */
  isClosed: boolean;
}

type Kind = NonNullable<Event["kind"]>;

class MessagesStreamEncoder extends StreamEncoder {
  private hasStarted = false;
  /** Blocks that are not told to their end, in order. */
  private readonly waiting: Block[] = [];
  private readonly calls = new Map<number, Block>();
  /** The place of the first waiting block in the content. */
  private index = 0;
  private isOpen = false;
  private refusal = "";
  private ending: CandidateEnd | undefined;

  constructor(private readonly request: RequestFacts) {
    super();
  }

  protected override tell(events: readonly Event[]): void {
    for (const { kind } of events) if (kind !== undefined) this.encode(kind);
    if (this.waiting.length > 0) this.begin("", this.request.model);
    this.tellBlocks();
  }

  protected override tellFailure(error: GatewayError): void {
    this.out.named("error", errorText(error));
  }

  private encode(kind: Kind): void {
    switch (kind.$case) {
      case "start":
        return this.begin(kind.value.id, kind.value.model, kind.value.inputTokens);
      case "finish":
        return this.finish(kind.value.usage);
      default:
        // The wire has one answer.
        if (kind.value.candidate === 0) this.take(kind);
    }
  }

  private take(kind: Exclude<Kind, { $case: "start" | "finish" }>): void {
    switch (kind.$case) {
      case "text":
        if (kind.value.text !== "") this.add(this.deltaOf("text"), textDelta(kind.value.text));
        return;
      case "thinking":
        return this.think(kind.value.text, kind.value.signature);
      case "toolCallStart": {
        this.startCall(kind.value);
        return;
      }
      case "toolCallDelta":
        return this.goOn(kind.value.index, kind.value.arguments);
      case "refusal":
        // Its place depends on why the answer ends.
        return this.refuse(kind.value.text);
      case "part":
        return this.part(kind.value.part);
      case "candidateEnd":
        this.ending = kind.value;
        return;
      case "logprobs":
        return;
      default:
        kind satisfies never;
    }
  }

  private begin(id: string, model: string, inputTokens = 0n): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    const message = { id, type: "message", role: "assistant", model, content: [], container: null, stop_reason: null };
    // What was read is known at the end only; until then it is what was admitted, and clients take the end's counts.
    const usage = { ...NO_USAGE_YET, input_tokens: Number(inputTokens) };
    const fixed = { ...message, stop_sequence: null, stop_details: null, diagnostics: null, usage };
    this.out.named("message_start", JSON.stringify({ type: "message_start", message: fixed }));
  }

  /** The block that a delta of the kind goes on with: the last one where it is of that kind, else a new one. */
  private deltaOf(kind: "text" | "thinking"): Block {
    const last = this.waiting.at(-1);
    if (last?.kind === kind && !last.isClosed) return last;
    return this.open(kind, kind === "text" ? textBlock("") : thinkingBlock("", ""));
  }

  private open(kind: Block["kind"], start: string): Block {
    const last = this.waiting.at(-1);
    // Only calls may go on beside others.
    if (last !== undefined && last.kind !== "call") last.isClosed = true;
    if (last !== undefined) this.keep(start);
    const hasArguments = kind === "call" ? new JsonEnd() : undefined;
    const block = {
      kind,
      start,
      deltas: [],
      arguments: hasArguments,
      proof: undefined,
      isFreeText: false,
      isClosed: kind === "whole",
    };
    this.waiting.push(block);
    return block;
  }

  private think(text: string, signature: string | undefined): void {
    if (text === "" && signature === undefined) return;
    const block = this.deltaOf("thinking");
    if (text !== "") this.add(block, `{"type":"thinking_delta","thinking":${jsonOf(text)}}`);
    if (signature === undefined) return;
    block.proof = encodeProof(signature);
    block.isClosed = true;
    if (block !== this.waiting[0]) this.keep(block.proof);
  }

  private startCall({ index, id, name, custom, signature }: Omit<ToolCallStart, "candidate">): void {
    if (signature !== undefined) {
      const carrier = this.open("thinking", thinkingBlock("", ""));
      carrier.proof = encodeCallState(signature);
      carrier.isClosed = true;
    }
    const start = { type: "tool_use", id: encodeCallId(id), name, input: {}, caller: CALLER };
    const block = this.open("call", JSON.stringify(start));
    this.calls.set(index, block);
    block.isFreeText = custom;
    if (custom) this.add(block, argumentsDelta('{"input":"'));
  }

  private goOn(index: number, fragment: string): void {
    const block = this.calls.get(index);
    if (block === undefined || fragment === "") return;
    if (block.isFreeText) return this.add(block, argumentsDelta(JSON.stringify(fragment).slice(1, -1)));
    block.arguments?.push(fragment);
    this.add(block, argumentsDelta(fragment));
  }

  private add(block: Block, delta: string): void {
    block.deltas.push(delta);
    // The first is told at once; those behind it wait until it is whole.
    if (block !== this.waiting[0]) this.keep(delta);
  }

  private refuse(text: string): void {
    this.refusal += text;
    this.keep(text);
  }

  private part(part: Part | undefined): void {
    const { kind } = part ?? {};
    if (part === undefined) return;
    if (kind?.$case === "text") this.take({ $case: "text", value: { candidate: 0, text: kind.value.text } });
    else if (kind?.$case === "refusal") this.refuse(kind.value.text);
    else if (kind?.$case === "thinking") this.think(kind.value.text, kind.value.signature);
    else if (kind?.$case === "toolCall") {
      const index = this.calls.size;
      this.startCall({ index, ...kind.value });
      this.goOn(index, kind.value.arguments);
    } else for (const block of encodeAnswerPart(part)) this.open("whole", block);
  }

  /** Tells what can be told: the first waiting block as far as it came, and the next once that one is whole. */
  private tellBlocks(): void {
    for (let block = this.waiting[0]; block !== undefined; block = this.waiting[0]) {
      this.tellDeltas(block);
      const isCallDone = block.arguments?.isWhole === true && this.waiting.length > 1;
      if (!block.isClosed && !isCallDone && this.ending === undefined) return;
      this.close(block);
      this.waiting.shift();
    }
  }

  private tellDeltas(block: Block): void {
    if (!this.isOpen) this.atIndex("content_block_start", `"content_block":${block.start}`);
    this.isOpen = true;
    for (const told of block.deltas) this.atIndex("content_block_delta", `"delta":${told}`);
    block.deltas = [];
  }

  private close(block: Block): void {
    if (block.isFreeText) this.atIndex("content_block_delta", `"delta":${argumentsDelta('"}')}`);
    if (block.kind === "thinking") {
      const proof = block.proof ?? encodeProof(undefined);
      this.atIndex("content_block_delta", `"delta":{"type":"signature_delta","signature":${jsonOf(proof)}}`);
    }
    this.atIndex("content_block_stop", "");
    this.isOpen = false;
    this.index++;
  }

  private atIndex(type: string, members: string): void {
    const more = members === "" ? "" : `,${members}`;
    this.out.named(type, `{"type":"${type}","index":${this.index}${more}}`);
  }

  /** The end: whatever waits is told, then why it ended and what it used. */
  private finish(usage: Usage | undefined): void {
    this.begin("", this.request.model);
    const isBlocked = this.ending?.reason === FinishReason.FINISH_REASON_BLOCKED;
    if (this.refusal !== "" && !isBlocked) this.deltaOf("text").deltas.push(textDelta(this.refusal));
    this.ending ??= { candidate: 0, reason: FinishReason.FINISH_REASON_UNSPECIFIED, stopString: undefined };
    this.tellBlocks();
    const { reason, stopString } = this.ending;
    if (reason === FinishReason.FINISH_REASON_MALFORMED) return this.tellFailure(malformedAnswer());
    const members = endMembers({ finishReason: reason, stopString }, this.calls.size > 0, this.refusal);
    const told = encodeEndUsage(usage);
    const end = `{"type":"message_delta","delta":${objectText(members)},"usage":${JSON.stringify(told)}}`;
    this.out.named("message_delta", end);
    this.out.named(LAST_EVENT.name, LAST_EVENT.json);
  }
}

function argumentsDelta(fragment: string): string {
  return `{"type":"input_json_delta","partial_json":${jsonOf(fragment)}}`;
}

function textDelta(text: string): string {
  return `{"type":"text_delta","text":${jsonOf(text)}}`;
}
