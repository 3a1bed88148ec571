/** Requests, both directions: to an upstream of the wire as they came, to any other as one message of a user. */
import type { Prompt } from "../../api/index.js";
import { GatewayError } from "../../errors.js";
import { JsonCursor } from "../json/cursor.js";
import { readTree } from "../json/node.js";
import { type Member, readMembers, splice } from "../json/splice.js";
import type { Dialect, OwnedFields, RequestFacts, SourceBody, WireRequest } from "../wire.js";
import { type Completion, OTHER_LIMITS, readCompletion } from "./completion.js";
import { foreignProblem, promptOf } from "./prompt.js";

export const WIRE_NAME = "openai-completions";

/** A prompt may be a list of tokens, as long as the longest context that such models have. */
const COMPLETION_NODES_MAX = 200_000;

/** A request of this wire. */
class CompletionRequest implements WireRequest {
  readonly facts: RequestFacts;

  constructor(
    readonly source: SourceBody,
    private readonly completion: Completion,
    readonly members: readonly Member[],
  ) {
    const { model, stream, includeUsage, maxTokens, prompts, candidates } = completion;
    this.facts = {
      model,
      stream,
      includeUsage,
      candidateCount: candidates * prompts.length,
      outputTokensMax: maxTokens,
      textBytes: source.body.length,
      imageCount: 0,
      fileCount: 0,
      audioCount: 0,
      inputCount: prompts.length,
    };
  }

  prompt(): Prompt {
    return promptOf(this.completion);
  }

  checkForeign(model: string): void {
    const found = foreignProblem(this.completion);
    if (found !== undefined) throw new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { ...found, model });
  }
}

/** Reads a client's body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function readRequest(source: SourceBody): WireRequest {
  return asCompletion(source);
}

function asCompletion(source: SourceBody): CompletionRequest {
  const root = readTree(source.body, COMPLETION_NODES_MAX);
  if (root.kind !== "object") throw new GatewayError("ERROR_REASON_BODY_INVALID", { problem: "no JSON object" });
  // Two equal keys are refused here.
  const members = readMembers(new JsonCursor(source.body));
  return new CompletionRequest(source, readCompletion(root), members);
}

/** The client's own body, with what the gateway owns. Nothing else is a completion of a text. */
export function encodeRequest(request: WireRequest, owned: OwnedFields, _dialect: Dialect): Buffer {
  const { source } = request;
  if (source?.wire !== WIRE_NAME) throw new Error("only a body of the wire goes to an upstream of it");
  const { facts, members } = request instanceof CompletionRequest ? request : asCompletion(source);
  const { body } = source;
  const edits = new Map<string, string | undefined>();
  if (owned.model !== facts.model) edits.set("model", JSON.stringify(owned.model));
  // Told also where the client left it to the upstream: the hold covers no more.
  if (owned.outputTokensMax !== undefined && numberIn(body, members, "max_tokens") !== owned.outputTokensMax)
    edits.set("max_tokens", String(owned.outputTokensMax));
  for (const name of OTHER_LIMITS) if (members.some(({ key }) => key === name)) edits.set(name, undefined);
  if (owned.stream !== facts.stream) edits.set("stream", String(owned.stream));
  if (!owned.stream && facts.stream) edits.set("stream_options", undefined);
  else if (owned.stream && !facts.includeUsage) edits.set("stream_options", '{"include_usage":true}');
  return edits.size === 0 ? body : splice(body, body.indexOf("{"), members, edits);
}

function numberIn(body: Buffer, members: readonly Member[], key: string): number | undefined {
  const member = members.find((candidate) => candidate.key === key);
  return member === undefined ? undefined : Number(body.toString("latin1", member.valueStart, member.end));
}
