/** Writes a stream of OpenAI's chunks, of whichever wire they are: typed steps to server-sent events. */
import type { Event, LogprobsDelta, Usage } from "../api/index.js";
import type { GatewayError } from "../errors.js";
import { errorText } from "./openai-error.js";
import { encodeUsage } from "./openai-usage.js";
import type { RequestFacts, StreamEncoder } from "./wire.js";

const STREAM_END_TEXT = "data: [DONE]\n\n";
export const STREAM_END = Buffer.from(STREAM_END_TEXT);

type StepKind = NonNullable<Event["kind"]>;
/** The kinds of steps that say something of a candidate. */
export type CandidateKind = Exclude<StepKind, { readonly $case: "start" | "finish" }>;

export abstract class ChunkStreamEncoder implements StreamEncoder {
  /** What every chunk begins with. */
  private head: string;
  /** What every chunk but the last of usage ends with. */
  private readonly tail: string;

  /** `object` is what the wire calls its chunks. */
  constructor(
    private readonly object: string,
    private readonly request: RequestFacts,
  ) {
    this.head = chunkHead(object, "", "", 0);
    this.tail = request.includeUsage ? '],"usage":null}\n\n' : "]}\n\n";
  }

  push(events: readonly Event[]): Buffer {
    let text = "";
    for (let place = 0; place < events.length; place++) {
      const kind = events[place]?.kind;
      if (kind === undefined) continue;
      // The probabilities of a text are told in the text's own chunk.
      const next = events[place + 1]?.kind;
      const isText = kind.$case === "text" || kind.$case === "refusal";
      if (isText && next?.$case === "logprobs" && next.value.candidate === kind.value.candidate) {
        text += this.encode(kind, next.value);
        place++;
      } else text += this.write(kind);
    }
    return Buffer.from(text);
  }

  fail(error: GatewayError): Buffer {
    return Buffer.from(`data: ${errorText(error)}\n\n`);
  }

  /** The chunk that tells the usage, where the client asked for it. */
  usage(usage: Usage | undefined): Buffer {
    return Buffer.from(this.usageChunk(usage));
  }

  /** The chunks of a step, and of the probabilities of its text. */
  protected abstract encode(kind: CandidateKind, logprobs?: LogprobsDelta): string;

  /** A chunk of one choice, which is JSON. */
  protected chunk(choice: string): string {
    return this.head + choice + this.tail;
  }

  private write(kind: StepKind): string {
    if (kind.$case === "finish") return this.usageChunk(kind.value.usage) + STREAM_END_TEXT;
    if (kind.$case !== "start") return this.encode(kind);
    const { id, model, createTime } = kind.value;
    this.head = chunkHead(this.object, id, model, Math.floor((createTime?.getTime() ?? 0) / 1000));
    return "";
  }

  private usageChunk(usage: Usage | undefined): string {
    if (!this.request.includeUsage || usage === undefined) return "";
    return `${this.head}],"usage":${JSON.stringify(encodeUsage(usage))}}\n\n`;
  }
}

function chunkHead(object: string, id: string, model: string, createdSeconds: number): string {
  const fixed = JSON.stringify({ id, object, created: createdSeconds, model });
  return `data: ${fixed.slice(0, -1)},"choices":[`;
}
