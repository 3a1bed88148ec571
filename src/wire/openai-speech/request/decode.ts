/** From a client's body to a request for speech. */
import { objectOf, parsed, textOf } from "../../json/value.js";
import { ReadOnlyRequest } from "../../request/read-only.js";
import type { SourceBody, SurfaceText, WireRequest } from "../../wire.js";
import { SOUND_TYPES } from "../facts.js";
import { type Scan, scanRequest } from "./scan.js";

/** A request of this wire. */
export class SpeechRequest extends ReadOnlyRequest<Scan> {
  readText(): SurfaceText {
    const said = objectOf(parsed(this.source.body.toString("utf8")));
    const texts = [textOf(said?.["input"]), textOf(said?.["instructions"])];
    return { texts: texts.filter((text) => text !== ""), repeatedTokens: 0 };
  }
}

/** Reads a client's body in one pass. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function readRequest(source: SourceBody): SpeechRequest {
  return new SpeechRequest(source, scanRequest(source.body));
}

/** The content type of the answer. */
export function answerTypeOf(source: SourceBody): string {
  const { format, wantsEvents } = scanRequest(source.body);
  return wantsEvents ? "text/event-stream; charset=utf-8" : SOUND_TYPES[format];
}

/** True where the client reads events; a request without its source reads bytes. */
export function wantsEvents(request: WireRequest | undefined): boolean {
  if (request instanceof SpeechRequest) return request.scan.wantsEvents;
  return request?.source !== undefined && scanRequest(request.source.body).wantsEvents;
}
