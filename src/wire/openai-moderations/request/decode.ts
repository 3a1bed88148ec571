/** From a client's body to a request to judge content. */
import { listOf, objectOf, parsed } from "../../json/value.js";
import { ReadOnlyRequest } from "../../request/read-only.js";
import type { SourceBody, SurfaceText, WireRequest } from "../../wire.js";
import { type Scan, scanRequest } from "./scan.js";

/** A request of this wire. */
export class ModerationRequest extends ReadOnlyRequest<Scan> {
  readText(): SurfaceText {
    const input = objectOf(parsed(this.source.body.toString("utf8")))?.["input"];
    const items = typeof input === "string" ? [input] : listOf(input);
    const texts = items.flatMap((item) => {
      const text = typeof item === "string" ? item : objectOf(item)?.["text"];
      return typeof text === "string" ? [text] : [];
    });
    return { texts, repeatedTokens: 0 };
  }
}

/** Reads a client's body in one pass. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function readRequest(source: SourceBody): WireRequest {
  return new ModerationRequest(source, scanRequest(source.body));
}
