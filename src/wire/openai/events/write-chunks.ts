/** Writes a stream of OpenAI's chunks, of whichever wire they are: typed steps to server-sent events. */
import type { Event, LogprobsDelta, Usage } from "../../../api/index.js";
import type { GatewayError } from "../../../base/errors.js";
import { eventBytes, StreamEncoder } from "../../events/writer.js";
import { errorText } from "../error.js";
import { encodeUsage } from "../answer/usage.js";
import type { RequestFacts } from "../../wire.js";

const DONE = "[DONE]";
export const STREAM_END = eventBytes("", DONE);

type StepKind = NonNullable<Event["kind"]>;
/** The kinds of steps that say something of a candidate. */
export type CandidateKind = Exclude<StepKind, { readonly $case: "start" | "finish" }>;

export abstract class ChunkStreamEncoder extends StreamEncoder {
  /** What every chunk begins with. */
  private head: string;
  /** What every chunk but the last of usage ends with. */
  private readonly tail: string;

  /** `object` is what the wire calls its chunks. */
  constructor(
    private readonly object: string,
    private readonly request: RequestFacts,
  ) {
    super();
    this.head = chunkHead(object, "", "", 0);
    this.tail = request.includeUsage ? '],"usage":null}' : "]}";
  }

  protected override tell(events: readonly Event[]): void {
    for (let place = 0; place < events.length; place++) {
      const kind = events[place]?.kind;
      if (kind === undefined) continue;
      // The probabilities of a text are told in the text's own chunk.
      const next = events[place + 1]?.kind;
      const isText = kind.$case === "text" || kind.$case === "refusal";
      if (isText && next?.$case === "logprobs" && next.value.candidate === kind.value.candidate) {
        this.encode(kind, next.value);
        place++;
      } else this.write(kind);
    }
  }

  protected override tellFailure(error: GatewayError): void {
    this.out.data(errorText(error));
  }

  /** The chunk that tells the usage, where the client asked for it. */
  usage(usage: Usage | undefined): Buffer {
    this.tellUsage(usage);
    return this.out.take();
  }

  /** Tells the chunks of a step, and of the probabilities of its text. */
  protected abstract encode(kind: CandidateKind, logprobs?: LogprobsDelta): void;

  /** A chunk of one choice, which is JSON. */
  protected chunk(choice: string): void {
    this.out.data(this.head + choice + this.tail);
  }

  private write(kind: StepKind): void {
    if (kind.$case === "finish") {
      this.tellUsage(kind.value.usage);
      this.out.data(DONE);
      return;
    }
    if (kind.$case !== "start") return this.encode(kind);
    const { id, model, createTime } = kind.value;
    this.head = chunkHead(this.object, id, model, Math.floor((createTime?.getTime() ?? 0) / 1000));
  }

  private tellUsage(usage: Usage | undefined): void {
    if (!this.request.includeUsage || usage === undefined) return;
    this.out.data(`${this.head}],"usage":${JSON.stringify(encodeUsage(usage))}}`);
  }
}

function chunkHead(object: string, id: string, model: string, createdSeconds: number): string {
  const fixed = JSON.stringify({ id, object, created: createdSeconds, model });
  return `${fixed.slice(0, -1)},"choices":[`;
}
