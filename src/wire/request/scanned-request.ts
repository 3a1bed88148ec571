/** A client's request that was scanned: its facts are known, and its typed form is made once, where somebody asks. */
import type { Prompt } from "../../api/index.js";
import type { Held } from "./held-objects.js";
import type { HostedTool } from "./hosted-tools.js";
import { editedBody, leftOutToolName, type Remainder, withoutTools } from "./left-out-tools.js";
import type { Edits, Member } from "../json/splice.js";
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

const NO_NAMES: readonly string[] = [];

export abstract class ScannedRequest<Scan extends ScannedBody> implements WireRequest {
  private decoded: Prompt | undefined;
  private leftOutNames = NO_NAMES;

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

  get leftOut(): readonly string[] {
    return this.leftOutNames;
  }

  prompt(): Prompt {
    this.decoded ??= this.decode();
    return this.decoded;
  }

  without(tools: readonly HostedTool[]): WireRequest {
    const remainder = withoutTools(this.source.body, this.scan, tools, this.nameOf);
    let read = this.readAgain({ ...this.source, body: remainder.body });
    const edits = this.choiceEdits(remainder, (read.facts.toolCount ?? 0) > 0);
    if (edits.size > 0) read = this.readAgain({ ...this.source, body: editedBody(remainder.body, edits) });
    read.leftOutNames = [...this.leftOutNames, ...tools.map(leftOutToolName)];
    return read;
  }

  /** A member's one name, where the wire has several spellings. */
  protected readonly nameOf: ((key: string) => string) | undefined = undefined;

  /** Throws PARAMETER_* where the body has no typed form. */
  protected abstract decode(): Prompt;

  /** The request of a body that was written from this one. */
  protected abstract readAgain(source: SourceBody): ScannedRequest<Scan>;

  /** What says how tools are called, where some are gone; `hasTools` is true where there are others. */
  protected abstract choiceEdits(remainder: Remainder, hasTools: boolean): Edits;
}
