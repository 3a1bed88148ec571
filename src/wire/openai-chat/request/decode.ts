/** From a client's body to a request: its facts now, and its typed prompt where somebody asks for it. */
import type { Prompt } from "../../../api/index.js";
import type { Edits } from "../../json/splice.js";
import { choiceEdits } from "../../openai/request/decode-choice.js";
import type { Remainder } from "../../request/left-out-tools.js";
import { ScannedRequest } from "../../request/scanned-request.js";
import type { SourceBody, WireRequest } from "../../wire.js";
import { checkForeign } from "./decode-foreign.js";
import { decodePrompt } from "./decode-prompt.js";
import { type Scan, scanRequest } from "./scan.js";

export class ChatRequest extends ScannedRequest<Scan> {
  protected override decode(): Prompt {
    return decodePrompt(this.source.body);
  }

  protected override readAgain(source: SourceBody): ChatRequest {
    return new ChatRequest(source, scanRequest(source.body));
  }

  protected override choiceEdits(remainder: Remainder, hasTools: boolean): Edits {
    return choiceEdits(remainder, hasTools);
  }

  checkForeign(model: string): void {
    checkForeign(this.prompt(), model);
  }
}

/** Reads a client's body in one pass. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function readRequest(source: SourceBody): WireRequest {
  return new ChatRequest(source, scanRequest(source.body));
}
