/** Reads the choices of chunks and of whole answers into text and steps. */
import { FinishReason } from "../../../api/index.js";
import type { GatewayError } from "../../../base/errors.js";
import { endingOf, failedEnd } from "../../answer/finish-words.js";
import { type JsonObject, placeOf, textOf } from "../../json/value.js";
import { ChunkAnswerReader } from "../../openai/answer/read-steps.js";
import { CHOICE_KINDS } from "../events/kinds.js";
import { decodeLogprobs } from "./logprobs.js";

const CHOICES_MAX = 128 * 2_048;

export class CompletionReader extends ChunkAnswerReader {
  /** The choices that began, each with whether it ended. */
  private readonly choices = new Map<number, boolean>();

  override finish(): void {
    if (!this.isDone) return;
    for (const candidate of this.openChoices()) {
      this.choices.set(candidate, true);
      this.tellEnd(candidate, FinishReason.FINISH_REASON_END, undefined);
    }
  }

  protected override get choiceCount(): number {
    return this.choices.size;
  }

  protected override areFinished(): boolean {
    for (const hasEnded of this.choices.values()) if (!hasEnded) return false;
    return true;
  }

  protected override isFinished(index: number): boolean {
    return this.choices.get(index) === true;
  }

  protected override openChoices(): readonly number[] {
    return [...this.choices].filter(([, hasEnded]) => !hasEnded).map(([index]) => index);
  }

  protected override endChoice(index: number, reason: "length" | "stop"): JsonObject {
    return { index, text: "", logprobs: null, finish_reason: reason };
  }

  protected override readChoice(choice: JsonObject, place: number): GatewayError | undefined {
    this.noteExtrasIn(choice, CHOICE_KINDS);
    const candidate = placeOf(choice["index"], CHOICES_MAX) ?? place;
    const text = textOf(choice["text"]);
    const reason = textOf(choice["finish_reason"]);
    this.choices.set(candidate, this.choices.get(candidate) === true || reason !== "");
    this.tellText(candidate, text);
    const logprobs = decodeLogprobs(choice["logprobs"], candidate);
    if (logprobs !== undefined) this.add({ kind: { $case: "logprobs", value: logprobs } });
    if (reason === "") return undefined;
    const known = endingOf(reason, FinishReason.FINISH_REASON_END);
    if (known === "failed" || known === FinishReason.FINISH_REASON_MALFORMED) return failedEnd(reason);
    // Of vLLM: the stop string that occurred, or the id of a stop token.
    const stopString = textOf(choice["stop_reason"]) || undefined;
    const isStop = known === FinishReason.FINISH_REASON_END && stopString !== undefined;
    this.tellEnd(candidate, isStop ? FinishReason.FINISH_REASON_STOP_STRING : known, stopString);
    return undefined;
  }
}
