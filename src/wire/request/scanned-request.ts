/** A client's request that was scanned: its facts are known, and its typed form is made once, where somebody asks. */
import type { Prompt } from "../../api/index.js";
import type { Held } from "./held-objects.js";
import type { HostedTool } from "./hosted-tools.js";
import type { Member } from "../json/splice.js";
import type { RequestFacts, SourceBody, WireRequest } from "../wire.js";

/** A body that was read: its facts, and all its top-level members. */
export interface ScannedBody {
  readonly facts: RequestFacts;
  /** The place of its first brace. */
  readonly open: number;
  readonly members: readonly Member[];
  readonly hosted: readonly HostedTool[];
  readonly held: Held | undefined;
}

export abstract class ScannedRequest<Scan extends ScannedBody> implements WireRequest {
  private decoded: Prompt | undefined;

  constructor(
    readonly source: SourceBody,
    readonly scan: Scan,
  ) {}

  get facts(): RequestFacts {
    return this.scan.facts;
  }

  get members(): readonly Member[] {
    return this.scan.members;
  }

  get hosted(): readonly HostedTool[] {
    return this.scan.hosted;
  }

  get held(): Held | undefined {
    return this.scan.held;
  }

  prompt(): Prompt {
    this.decoded ??= this.decode();
    return this.decoded;
  }

  /** Throws PARAMETER_* where the body has no typed form. */
  protected abstract decode(): Prompt;
}
