/** From a client's body to a request: its facts now, and its typed prompt where somebody asks for it. */
import type { Prompt, Tool } from "../../../api/index.js";
import { ScannedRequest } from "../../request/scanned-request.js";
import type { SourceBody, WireRequest } from "../../wire.js";
import { withFunctions } from "./decode-custom-tools.js";
import { checkForeign, strangeItem } from "./decode-foreign.js";
import { decodePrompt } from "./decode-prompt.js";
import { type Scan, scanRequest } from "./scan.js";
import { withToldItems } from "./decode-as-text.js";

export class ResponsesRequest extends ScannedRequest<Scan> {
  private wholePrompt: Prompt | undefined;

  /** As other wires take it: only they and whoever counts ask for it. */
  protected override decode(): Prompt {
    return forOthers(this.whole());
  }

  checkForeign(model: string, dropped: string[] = []): void {
    const [strange] = this.scan.found.strange;
    if (strange !== undefined) throw strangeItem(strange, model);
    checkForeign(this.whole(), model, dropped);
  }

  private whole(): Prompt {
    this.wholePrompt ??= decodePrompt(this.source.body);
    return this.wholePrompt;
  }
}

/** The prompt without what only this wire has: `checkForeign` names what of it anybody misses. */
function forOthers(prompt: Prompt): Prompt {
  const isHosted = ({ kind }: Tool): boolean => kind?.$case === "opaque";
  const plain = withFunctions(prompt);
  return {
    ...plain,
    messages: withToldItems(plain.messages),
    tools: plain.tools.filter((tool) => !isHosted(tool)),
    extra: undefined,
  };
}

/** Reads a client's body in one pass. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function readRequest(source: SourceBody): WireRequest {
  return new ResponsesRequest(source, scanRequest(source.body));
}
