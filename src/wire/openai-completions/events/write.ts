/** Writes streams: typed steps to a client's events. */
import { malformedAnswer } from "../../answer/finish-words.js";
import { FinishReason, type LogprobsDelta } from "../../../api/index.js";
import { type CandidateKind, ChunkStreamEncoder } from "../../openai/events/write-chunks.js";
import type { RequestFacts, StreamEncoder } from "../../wire.js";
import { finishName } from "../answer/finish.js";
import { encodeLogprobs } from "../answer/logprobs.js";

export function encodeStream(request: RequestFacts): StreamEncoder {
  return new CompletionEncoder(request);
}

/** Writes text, probabilities and ends. What else a chat may say has no place in a text. */
export class CompletionEncoder extends ChunkStreamEncoder {
  /** How many characters of each candidate have probabilities. */
  private readonly offsets = new Map<number, number>();

  constructor(request: RequestFacts) {
    super("text_completion", request);
  }

  protected override encode(kind: CandidateKind, logprobs?: LogprobsDelta): void {
    switch (kind.$case) {
      case "text":
      case "refusal":
        return this.choice(kind.value.candidate, kind.value.text, logprobs);
      case "logprobs":
        return this.choice(kind.value.candidate, "", kind.value);
      case "part": {
        const { candidate, part } = kind.value;
        if (part?.kind?.$case === "text") this.choice(candidate, part.kind.value.text, undefined);
        return;
      }
      case "candidateEnd": {
        const { candidate, reason, stopString } = kind.value;
        const stop = stopString === undefined ? "" : `,"stop_reason":${JSON.stringify(stopString)}`;
        if (reason === FinishReason.FINISH_REASON_MALFORMED) return this.tellFailure(malformedAnswer());
        return this.choice(candidate, "", undefined, `"${finishName(reason)}"${stop}`);
      }
      case "thinking":
      case "toolCallStart":
      case "toolCallDelta":
        return;
      default:
        return kind satisfies never;
    }
  }

  private choice(candidate: number, text: string, logprobs: LogprobsDelta | undefined, reason = "null"): void {
    const told = logprobs === undefined ? "null" : JSON.stringify(this.columns(candidate, logprobs));
    const textJson = JSON.stringify(text);
    this.chunk(`{"text":${textJson},"index":${candidate},"logprobs":${told},"finish_reason":${reason}}`);
  }

  private columns(candidate: number, logprobs: LogprobsDelta): object {
    const offset = this.offsets.get(candidate) ?? 0;
    const length = logprobs.content.reduce((sum, { token }) => sum + token.length, 0);
    this.offsets.set(candidate, offset + length);
    return encodeLogprobs(logprobs, offset);
  }
}
