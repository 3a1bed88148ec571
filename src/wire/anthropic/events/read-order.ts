/** Puts the events of an upstream into the one order that clients of the wire rely on, or says that it cannot be. */
import { upstreamFailed } from "../../error/refusals.js";
import { type JsonObject, listOf, objectOf, textOf } from "../../json/value.js";

/** An event to tell, with the upstream's own bytes where they may be told as they came. */
export interface Told {
  readonly event: JsonObject;
  readonly raw: Buffer | undefined;
}

/** A block that is not told to its end. */
interface Block {
  /** Its place in the content as clients know it; the upstream may call it otherwise. */
  place: number;
  /** What came of it while one before it was still open. */
  readonly waiting: Told[];
  hasEnded: boolean;
  /** True of a call that stood in the beginning of the message already. */
  readonly isRepeated: boolean;
}

const STOP: JsonObject = { type: "content_block_stop" };
const WAITING_MAX = 100_000;
/** What a block is that begins with its first piece. */
const IMPLIED: Readonly<Record<string, JsonObject>> = {
  text_delta: { type: "text", text: "" },
  thinking_delta: { type: "thinking", thinking: "", signature: "" },
};

/**
 * One message: its beginning, then blocks one after the other, numbered from 0 without a gap, then why it ended. Blocks
 * that come interleaved wait for each other, and what an upstream leaves out is added. Another message in its midst, or
 * the rest of a block that never began, is no answer.
 */
export class MessageOrder {
  private hasStarted = false;
  private hasEnded = false;
  /** How many blocks were told, to their end or not. */
  private count = 0;
  private hasCalls = false;
  private waitingCount = 0;
  private open: Block | undefined;
  private readonly waiting: Block[] = [];
  /** The blocks that are not over, by the upstream's own numbers. */
  private readonly blocks = new Map<unknown, Block>();
  private readonly knownCalls = new Set<string>();
  private ending: JsonObject = {};
  private usage: JsonObject = {};
  private told: Told[] = [];

  /** `model` is what a message is said to come from that does not say so. */
  constructor(private readonly model: string) {}

  /** What to tell in an event's place; undefined where that is the event itself. Throws UPSTREAM_FAILED. */
  take(event: JsonObject, raw: Buffer): readonly Told[] | undefined {
    const { open } = this;
    switch (event["type"]) {
      case "content_block_delta":
        // Nearly all events are the next piece of the one open block.
        if (open !== undefined && open.place === event["index"] && this.blocks.get(open.place) === open)
          return undefined;
        this.begin();
        this.delta(event, raw);
        break;
      case "content_block_start":
        this.begin();
        this.start(event, raw);
        break;
      case "content_block_stop":
        this.close(event["index"], event, raw);
        break;
      case "message_start":
        this.message(event, raw);
        break;
      case "message_delta":
        this.noteEnd(event, raw);
        break;
      case "message_stop":
        this.end(event, raw);
        break;
      default:
        return undefined;
    }
    const { told } = this;
    this.told = [];
    return told.length === 1 && told[0]?.raw === raw ? undefined : told;
  }

  private message(event: JsonObject, raw: Buffer): void {
    if (this.hasStarted) {
      // One that only begins once more says nothing new; another answer in its midst makes the first one worthless.
      if (this.count > 0 || this.hasEnded) throw upstreamFailed("its stream began another answer amid the first");
      return;
    }
    this.hasStarted = true;
    const message = objectOf(event["message"]) ?? {};
    this.usage = objectOf(message["usage"]) ?? {};
    if (typeof message["stop_reason"] === "string") this.ending = message;
    // The calls of a program that the upstream ran stand in the beginning already.
    for (const block of listOf(message["content"]).map(objectOf)) {
      this.count++;
      if (block?.["type"] !== "tool_use") continue;
      this.hasCalls = true;
      this.knownCalls.add(textOf(block["id"]));
    }
    this.told.push({ event, raw });
  }

  /** Begins the message where the upstream did not. */
  private begin(): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    const said = { id: "", type: "message", role: "assistant", model: this.model, content: [] };
    const message = { ...said, stop_reason: null, stop_sequence: null, usage: { input_tokens: 0, output_tokens: 0 } };
    this.told.push({ event: { type: "message_start", message }, raw: undefined });
  }

  private start(event: JsonObject, raw: Buffer | undefined): void {
    if (this.hasEnded) throw upstreamFailed("its stream goes on after its end");
    const index = event["index"];
    // A number that is used again names another block.
    this.close(index);
    const start = objectOf(event["content_block"]);
    const isCall = start?.["type"] === "tool_use";
    this.hasCalls ||= isCall;
    const isRepeated = isCall && this.knownCalls.has(textOf(start["id"]));
    const block: Block = { place: -1, waiting: [], hasEnded: false, isRepeated };
    this.blocks.set(index, block);
    if (isRepeated) return;
    if (this.open !== undefined) {
      this.waiting.push(block);
      return this.keep(block, event, raw);
    }
    this.open = block;
    block.place = this.count++;
    this.tell(block, event, raw);
  }

  private delta(event: JsonObject, raw: Buffer): void {
    const index = event["index"];
    let block = this.blocks.get(index);
    if (block === undefined) {
      const implied = IMPLIED[textOf(objectOf(event["delta"])?.["type"])];
      if (implied === undefined) throw upstreamFailed("its stream goes on with a block that it never began");
      this.start({ type: "content_block_start", index, content_block: implied }, undefined);
      block = this.blocks.get(index);
    }
    if (block === undefined || block.isRepeated) return;
    if (block === this.open) this.tell(block, event, raw);
    else this.keep(block, event, raw);
  }

  /** The end of a block, told by `event` where one told it, and of those that waited for it and are over too. */
  private close(index: unknown, event?: JsonObject, raw?: Buffer): void {
    const block = this.blocks.get(index);
    if (block === undefined) return;
    this.blocks.delete(index);
    block.hasEnded = true;
    if (block !== this.open) return;
    this.tell(block, event ?? STOP, raw);
    this.open = undefined;
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      next.place = this.count++;
      for (const kept of next.waiting) this.tell(next, kept.event, kept.raw);
      next.waiting.length = 0;
      if (!next.hasEnded) {
        this.open = next;
        return;
      }
      this.tell(next, STOP, undefined);
    }
  }

  private closeAll(): void {
    for (const index of this.blocks.keys()) this.close(index);
  }

  /** Why it ends. A count that is told on the way ends nothing. */
  private noteEnd(event: JsonObject, raw: Buffer): void {
    if (typeof objectOf(event["delta"])?.["stop_reason"] === "string") {
      this.begin();
      this.closeAll();
      this.hasEnded = true;
    }
    this.told.push({ event, raw });
  }

  private end(event: JsonObject, raw: Buffer): void {
    this.begin();
    this.closeAll();
    if (!this.hasEnded) {
      const { stop_reason: reason = this.hasCalls ? "tool_use" : "end_turn", stop_sequence: text = null } = this.ending;
      const delta = { stop_reason: reason, stop_sequence: text };
      this.told.push({
        event: { type: "message_delta", delta, usage: { output_tokens: 0, ...this.usage } },
        raw: undefined,
      });
    }
    this.hasEnded = true;
    this.told.push({ event, raw });
  }

  /** Tells an event with the number that clients know its block by. */
  private tell({ place }: Block, event: JsonObject, raw: Buffer | undefined): void {
    if (event["index"] === place) this.told.push({ event, raw });
    else this.told.push({ event: { ...event, index: place }, raw: undefined });
  }

  private keep(block: Block, event: JsonObject, raw: Buffer | undefined): void {
    if (++this.waitingCount > WAITING_MAX) throw upstreamFailed("its answer has too many pieces");
    // A copy, for what waits must not hold the memory of a whole read.
    block.waiting.push({ event, raw: raw && Buffer.from(raw) });
  }
}
