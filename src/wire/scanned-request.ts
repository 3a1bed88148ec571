/** A client's request that was scanned: its facts are known, and its typed form is made once, where somebody asks. */
import type { Prompt } from "../api/index.js";
import type { RequestFacts, SourceBody, WireRequest } from "./wire.js";

export abstract class ScannedRequest<Scan extends { readonly facts: RequestFacts }> implements WireRequest {
  private decoded: Prompt | undefined;

  constructor(
    readonly source: SourceBody,
    readonly scan: Scan,
  ) {}

  get facts(): RequestFacts {
    return this.scan.facts;
  }

  prompt(): Prompt {
    this.decoded ??= this.decode();
    return this.decoded;
  }

  /** Throws PARAMETER_* where the body has no typed form. */
  protected abstract decode(): Prompt;
}
