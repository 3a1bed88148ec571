/** A request to compact, which a model of another wire reads as one to sum up what was said. */
import { type Prompt, Role, ToolChoice_Mode } from "../../../../api/index.js";
import { ResponsesRequest } from "../../request/decode.js";
import { type Scan, scanRequest } from "../../request/scan.js";
import type { RequestFacts, SourceBody, WireRequest } from "../../../wire.js";
import { messageOf, textPart } from "../../../request/part.js";

/** Asked behind the conversation, where its model is asked for what stands for it. */
const SUM_UP =
  "Write a summary of this conversation that takes its place: whoever goes on with it will see the summary alone. " +
  "Keep what the user wants, in the user's own words where they matter, and every rule that was given. " +
  "Keep decisions with their reasons, names of files and other things, commands with their results, and values. " +
  "Say what is done, what is not, and what comes next. Call no tool. Answer with the summary and nothing else.";

/** What it adds to what is read, at most: a message of these words. */
const SUM_UP_BYTES = Buffer.byteLength(JSON.stringify({ role: "user", content: SUM_UP }));

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

  /** The tools stay, since calls of them may stand in the conversation. */
  protected override decode(): Prompt {
    const prompt = super.decode();
    const toolChoice =
      prompt.tools.length === 0 ? undefined : { mode: ToolChoice_Mode.MODE_NONE, names: [], custom: false };
    return {
      ...prompt,
      messages: [...prompt.messages, messageOf(Role.ROLE_USER, [textPart(SUM_UP)])],
      toolChoice,
      outputFormat: undefined,
    };
  }
}

/** Reads a client's body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function readRequest(source: SourceBody): WireRequest {
  return new CompactionRequest(source, scanRequest(source.body));
}
