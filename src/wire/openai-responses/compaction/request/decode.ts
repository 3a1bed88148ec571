/** A request to compact, which a model of another wire reads as one to sum up what was said. */
import { ResponsesRequest } from "../../request/decode.js";
import { SUM_UP_BYTES } from "../../facts-summary.js";
import { type Scan, scanRequest } from "../../request/scan.js";
import type { RequestFacts, SourceBody, WireRequest } from "../../../wire.js";

/** A conversation in OpenAI's items, with what a response would be asked by. */
class CompactionRequest extends ResponsesRequest {
  private readonly wholeFacts: RequestFacts;

  constructor(source: SourceBody, scan: Scan) {
    super(source, scan);
    // Who sums it up is known only when it is routed.
    this.wholeFacts = { ...scan.facts, stream: false, textBytes: scan.facts.textBytes + SUM_UP_BYTES };
  }

  /** The answer comes whole, whatever was asked. */
  override get facts(): RequestFacts {
    return this.wholeFacts;
  }

  override get sumsUp(): boolean {
    return true;
  }

  protected override readAgain(source: SourceBody): CompactionRequest {
    return new CompactionRequest(source, scanRequest(source.body));
  }
}

/** Reads a client's body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function readRequest(source: SourceBody): WireRequest {
  return new CompactionRequest(source, scanRequest(source.body));
}
