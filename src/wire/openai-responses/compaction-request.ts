/** Requests to compact: to an upstream that does so as they came, to any other as one to sum up what was said. */
import { type Message, type Prompt, Role, ToolChoice_Mode } from "../../api/index.js";
import { ResponsesRequest, spliceOwned } from "./request.js";
import { type Scan, scanRequest } from "./scan.js";
import type { Dialect, OwnedFields, RequestFacts, SourceBody, WireRequest } from "../wire.js";

export const WIRE_NAME = "openai-compaction";

/** Asked behind the conversation, where its model is asked for what stands for it. */
const SUM_UP =
  "Write a summary of this conversation that takes its place: whoever goes on with it will see the summary alone. " +
  "Keep what the user wants, in the user's own words where they matter, and every rule that was given. " +
  "Keep decisions with their reasons, names of files and other things, commands with their results, and values. " +
  "Say what is done, what is not, and what comes next. Call no tool. Answer with the summary and nothing else.";

/** A conversation in OpenAI's items, with what a response would be asked by. */
class CompactionRequest extends ResponsesRequest {
  private readonly wholeFacts: RequestFacts;

  constructor(source: SourceBody, scan: Scan) {
    super(source, scan);
    this.wholeFacts = { ...scan.facts, stream: false };
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
    return { ...prompt, messages: [...prompt.messages, said(SUM_UP)], toolChoice, outputFormat: undefined };
  }
}

function said(text: string): Message {
  const part = { kind: { $case: "text" as const, value: { text, citationsJson: undefined } } };
  return { role: Role.ROLE_USER, parts: [part], name: undefined, extraJson: undefined };
}

/** Reads a client's body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function readRequest(source: SourceBody): WireRequest {
  return new CompactionRequest(source, scanRequest(source.body));
}

/** The client's own body, with what the gateway owns: such an upstream takes no limit, and runs no tool. */
export function encodeRequest(request: WireRequest, owned: OwnedFields, _dialect: Dialect): Buffer {
  const { source } = request;
  if (source?.wire !== WIRE_NAME) throw new Error("only a body of the wire goes to an upstream of it");
  const scan = request instanceof ResponsesRequest ? request.scan : scanRequest(source.body);
  const toolOrders = owned.toolOrders && { ...owned.toolOrders, unbounded: [] };
  return spliceOwned(source.body, scan, { ...owned, outputTokensMax: undefined, toolOrders });
}
