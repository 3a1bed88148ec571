/** From a client's body to a request: its facts now, and its typed prompt where somebody asks for it. */
import type { Prompt } from "../../../api/index.js";
import { JsonCursor } from "../../json/cursor.js";
import { type Edits, readMembers } from "../../json/splice.js";
import type { Remainder } from "../../request/left-out-tools.js";
import { ScannedRequest } from "../../request/scanned-request.js";
import type { SourceBody, WireRequest } from "../../wire.js";
import { checkForeign } from "./decode-foreign.js";
import { decodePrompt } from "./decode-prompt.js";
import { type Scan, scanRequest } from "./scan.js";
import { fieldName } from "../facts.js";

export class GeminiRequest extends ScannedRequest<Scan> {
  protected override readonly nameOf = fieldName;

  protected override decode(): Prompt {
    return decodePrompt(this.source.body);
  }

  protected override readAgain(source: SourceBody): GeminiRequest {
    return new GeminiRequest(source, scanRequest(source));
  }

  /** The choice names functions alone; where no tool is left, it says nothing. */
  protected override choiceEdits({ body }: Remainder, hasTools: boolean): Edits {
    if (hasTools) return new Map();
    const keys = readMembers(new JsonCursor(body)).map(({ key }) => key);
    return new Map(keys.filter((key) => fieldName(key) === "toolConfig").map((key) => [key, undefined]));
  }

  checkForeign(model: string): void {
    checkForeign(this.prompt(), model);
  }
}

/** Reads a client's body in one pass. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function readRequest(source: SourceBody): WireRequest {
  const scan = scanRequest(source);
  const { wrapped } = scan;
  return wrapped === undefined ? new GeminiRequest(source, scan) : readRequest({ ...source, body: wrapped });
}
