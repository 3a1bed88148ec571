/** Counts that llama.cpp tells with every chunk (`timings_per_token`): each is of the choice that it stands beside. */
import type { Usage } from "../../../api/index.js";
import { NO_USAGE } from "../../../api/usage.js";
import { tokenCount } from "../../answer/token-count.js";
import { listOf, objectOf, placeOf } from "../../json/value.js";

const CHOICES_MAX = 128 * 2_048;

interface Counts {
  readonly cached: number;
  readonly read: number;
  readonly generated: number;
}

export class RunningCounts {
  private readonly choices = new Map<number, Counts>();

  /** `choicesPerInput` read the same input. */
  constructor(private readonly choicesPerInput: number) {}

  /** Reads a chunk. Returns the usage of all choices so far; undefined where the chunk tells no counts. */
  read(chunk: { readonly timings?: unknown; readonly choices?: unknown }): Usage | undefined {
    const timings = objectOf(chunk.timings);
    if (timings === undefined) return undefined;
    // Servers that do not tell what was in the cache do not tell all that was read.
    const cached = tokenCount(timings["cache_n"]);
    const read = tokenCount(timings["prompt_n"]);
    const generated = tokenCount(timings["predicted_n"]);
    if (cached === undefined || read === undefined || generated === undefined) return undefined;
    const index = placeOf(objectOf(listOf(chunk.choices)[0])?.["index"], CHOICES_MAX) ?? 0;
    this.choices.set(index, { cached, read, generated });
    return this.sum();
  }

  private sum(): Usage {
    const inputs = new Map<number, Counts>();
    let output = 0;
    for (const [index, counts] of this.choices) {
      output += counts.generated;
      inputs.set(Math.floor(index / this.choicesPerInput), counts);
    }
    let [cached, read] = [0, 0];
    for (const counts of inputs.values()) {
      cached += counts.cached;
      read += counts.read;
    }
    return { ...NO_USAGE, inputTokens: BigInt(read), cacheReadTokens: BigInt(cached), outputTokens: BigInt(output) };
  }
}
