/** From a client's body to a request: its facts now, and its typed prompt where somebody asks for it. */
import type { Prompt, Tool } from "../../../api/index.js";
import { wrongValue } from "../../json/node.js";
import type { Edits } from "../../json/splice.js";
import { choiceEdits } from "../../openai/request/decode-choice.js";
import type { Remainder } from "../../request/left-out-tools.js";
import { ScannedRequest } from "../../request/scanned-request.js";
import type { SourceBody, WireRequest } from "../../wire.js";
import { askSummary } from "../facts-summary.js";
import { withFunctions } from "./decode-custom-tools.js";
import { checkForeign, strangeItem } from "./decode-foreign.js";
import { decodePrompt } from "./decode-prompt.js";
import { type Scan, scanRequest } from "./scan.js";
import { withToldItems } from "./decode-as-text.js";

export class ResponsesRequest extends ScannedRequest<Scan> {
  private wholePrompt: Prompt | undefined;

  /** True where the answer is what stands for the conversation from then on. */
  get sumsUp(): boolean {
    return this.scan.found.trigger !== undefined;
  }

  /** As other wires take it: only they and whoever counts ask for it. */
  protected override decode(): Prompt {
    const prompt = forOthers(this.ownPrompt());
    return this.sumsUp ? askSummary(prompt) : prompt;
  }

  protected override readAgain(source: SourceBody): ResponsesRequest {
    return new ResponsesRequest(source, scanRequest(source.body));
  }

  protected override choiceEdits(remainder: Remainder, hasTools: boolean): Edits {
    return choiceEdits(remainder, hasTools);
  }

  checkForeign(model: string, dropped: string[] = []): void {
    const { strange, trigger, items } = this.scan.found;
    if (strange[0] !== undefined) throw strangeItem(strange[0], model);
    if (trigger !== undefined && trigger !== items.length - 1)
      throw wrongValue(`input[${trigger}]`, "what asks for a summary must be the last item");
    checkForeign(this.ownPrompt(), model, dropped);
  }

  ownPrompt(): Prompt {
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
