/** From a client's body to a request: its facts now, and its typed prompt where somebody asks for it. */
import type { Prompt } from "../../../api/index.js";
import { GatewayError } from "../../../base/errors.js";
import { JsonCursor } from "../../json/cursor.js";
import { readTree } from "../../json/node.js";
import { type Member, readMembers } from "../../json/splice.js";
import type { RequestFacts, SourceBody, WireRequest } from "../../wire.js";
import { refuseEarlierTurns } from "../../request/members.js";
import { MEMBERS } from "./members.js";
import { type Completion, readCompletion } from "./scan.js";
import { decodePrompt, foreignProblem } from "./decode-prompt.js";

/** A prompt may be a list of tokens, as long as the longest context that such models have. */
const COMPLETION_NODES_MAX = 200_000;

/** A request of this wire. */
export class CompletionRequest implements WireRequest {
  readonly facts: RequestFacts;

  constructor(
    readonly source: SourceBody,
    private readonly completion: Completion,
    readonly members: readonly Member[],
  ) {
    const { model, stream, includeUsage, maxTokens, prompts, candidates, echo } = completion;
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
      inputTokens: tokensOf(prompts),
      repeatsInput: echo,
    };
  }

  prompt(): Prompt {
    return decodePrompt(this.completion);
  }

  checkForeign(model: string): void {
    const found = foreignProblem(this.completion);
    if (found !== undefined) throw new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { ...found, model });
  }
}

/** The tokens of prompts that came as tokens; undefined of texts. */
function tokensOf(prompts: Completion["prompts"]): number | undefined {
  let tokens = 0;
  for (const prompt of prompts) {
    if (typeof prompt === "string") return undefined;
    tokens += prompt.length;
  }
  return tokens;
}

/** Reads a client's body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function readRequest(source: SourceBody): WireRequest {
  return asCompletion(source);
}

export function asCompletion(source: SourceBody): CompletionRequest {
  const root = readTree(source.body, COMPLETION_NODES_MAX);
  if (root.kind !== "object") throw new GatewayError("ERROR_REASON_BODY_INVALID", { problem: "no JSON object" });
  // Two equal keys are refused here.
  const members = readMembers(new JsonCursor(source.body));
  refuseEarlierTurns(source.body, members, MEMBERS);
  return new CompletionRequest(source, readCompletion(root), members);
}
