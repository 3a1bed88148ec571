/** What the pass over a body counts, and the facts that every wire takes of it alike. */
import type { FieldValue } from "../json/field.js";
import type { JsonCursor } from "../json/cursor.js";
import type { RequestFacts } from "../wire.js";
import type { Steering } from "./steering.js";

/**
 * The media of a body. A class, and so is what a wire adds to it: on Node 20 an object that begins with a spread and
 * then gets names of its own is a new shape each time, which outlives its request.
 */
export class MediaCounts {
  imageCount = 0;
  fileCount = 0;
  audioCount = 0;
  /** Bytes of media inside the body: their tokens do not follow from them. */
  mediaBytes = 0;
}

/** What a wire says in words of its own. */
interface OwnFacts {
  readonly includeUsage: boolean;
  readonly candidateCount: FieldValue | undefined;
  readonly outputTokensMax: FieldValue | undefined;
  /** The most calls of all tools together, where the wire lets a client bound them. */
  readonly callsMax?: FieldValue | undefined;
}

export function factsOf(
  values: ReadonlyMap<string, FieldValue>,
  media: MediaCounts,
  cursor: JsonCursor,
  steering: Steering,
  own: OwnFacts,
): RequestFacts {
  const {
    toolCount,
    definedToolCount,
    hasDeferredTools,
    asksFunctions,
    serviceTier,
    container,
    toolCallsMax,
    roundsMax,
    route,
  } = steering.facts(countOf(own.callsMax));
  return {
    model: String(values.get("model")),
    stream: values.get("stream") === true,
    includeUsage: own.includeUsage,
    candidateCount: countOf(own.candidateCount) ?? 1,
    outputTokensMax: countOf(own.outputTokensMax),
    textBytes: cursor.bytes.length - media.mediaBytes,
    hasUnicodeEscapes: cursor.hasUnicodeEscapes,
    mayHoldAddress: cursor.sawAddressName,
    imageCount: media.imageCount,
    fileCount: media.fileCount + steering.fileCount,
    audioCount: media.audioCount,
    toolCount,
    definedToolCount,
    hasDeferredTools,
    asksFunctions,
    serviceTier,
    container,
    toolCallsMax,
    roundsMax,
    route,
  };
}

function countOf(value: FieldValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
