/** From a client's body to a request: its facts now, and its typed prompt where somebody asks for it. */
import type { Prompt } from "../../../api/index.js";
import type { Edits } from "../../json/splice.js";
import type { Remainder } from "../../request/left-out-tools.js";
import { ScannedRequest } from "../../request/scanned-request.js";
import type { SourceBody, WireRequest } from "../../wire.js";
import { choiceEdits } from "./decode-choice.js";
import { checkForeign } from "./decode-foreign.js";
import { decodePrompt } from "./decode-prompt.js";
import { type Scan, scanRequest } from "./scan.js";

export class MessagesRequest extends ScannedRequest<Scan> {
  protected override decode(): Prompt {
    return decodePrompt(this.source.body);
  }

  protected override readAgain(source: SourceBody): MessagesRequest {
    // What an answer needs beside it was asked for when it was read first.
    return new MessagesRequest(source, scanRequest(source, "count"));
  }

  protected override choiceEdits(remainder: Remainder, hasTools: boolean): Edits {
    return choiceEdits(remainder, hasTools);
  }

  checkForeign(model: string): void {
    checkForeign(this.prompt(), this.facts.outputTokensMax, model);
  }
}

/** Reads a client's body in one pass. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function readRequest(source: SourceBody, purpose: "generate" | "count" = "generate"): WireRequest {
  return new MessagesRequest(source, scanRequest(source, purpose));
}
