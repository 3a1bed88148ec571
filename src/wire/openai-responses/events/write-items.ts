/** The items of an answer as they grow: each tells its own events, and in the end what it is as a whole. */
import type { TokenLogprob } from "../../../api/index.js";
import { GrowingText } from "../../answer/growing-text.js";
import { jsonOf, objectText } from "../../json/text.js";
import { encodeToken } from "../../openai/answer/logprobs.js";
import type { AskedTool } from "../request/decode-tools.js";
import { unwrappedText } from "../../request/free-text.js";

/** Tells one event; `members` are its own, as JSON. */
export type Tell = (type: string, members: string) => void;

export type ItemStatus = "completed" | "incomplete";

/** Where an item stands. */
export interface Place {
  readonly index: number;
  readonly id: string;
}

/** An item that came whole. */
export function tellWhole(tell: Tell, { index }: Place, opened: string, item: string): void {
  tell("response.output_item.added", `"output_index":${index},"item":${opened}`);
  tell("response.output_item.done", `"output_index":${index},"item":${item}`);
}

/** What the model says or refuses. */
export class MessageWriter {
  private readonly done: string[] = [];
  private open: "output_text" | "refusal" | undefined;
  private text = new GrowingText();
  private annotations: string[] = [];
  private logprobs: string[] = [];

  constructor(
    private readonly tell: Tell,
    private readonly place: Place,
  ) {
    tell("response.output_item.added", `"output_index":${place.index},"item":${this.item("in_progress")}`);
  }

  addText(text: string, tokens: readonly TokenLogprob[]): void {
    if (text === "" && this.open !== "output_text") return;
    this.begin("output_text");
    this.text.add(text);
    const logprobs = tokens.map((token) => JSON.stringify(encodeToken(token)));
    this.logprobs.push(...logprobs);
    if (text === "") return;
    this.tell("response.output_text.delta", `${this.at()},"delta":${jsonOf(text)},"logprobs":[${logprobs.join(",")}]`);
  }

  addRefusal(text: string): void {
    if (text === "") return;
    this.begin("refusal");
    this.text.add(text);
    this.tell("response.refusal.delta", `${this.at()},"delta":${jsonOf(text)}`);
  }

  /** A citation of the text so far, as JSON. */
  annotate(annotation: string): void {
    this.begin("output_text");
    const members = `"annotation_index":${this.annotations.length},"annotation":${annotation}`;
    this.annotations.push(annotation);
    this.tell("response.output_text.annotation.added", `${this.at()},${members}`);
  }

  close(status: ItemStatus): string {
    this.end();
    const item = this.item(status);
    this.tell("response.output_item.done", `"output_index":${this.place.index},"item":${item}`);
    return item;
  }

  private begin(kind: "output_text" | "refusal"): void {
    if (this.open === kind) return;
    this.end();
    this.open = kind;
    this.tell("response.content_part.added", `${this.at()},"part":${this.part()}`);
  }

  private end(): void {
    if (this.open === undefined) return;
    const part = this.part();
    const text = jsonOf(String(this.text));
    if (this.open === "refusal") this.tell("response.refusal.done", `${this.at()},"refusal":${text}`);
    else this.tell("response.output_text.done", `${this.at()},"text":${text},"logprobs":[${this.logprobs.join(",")}]`);
    this.tell("response.content_part.done", `${this.at()},"part":${part}`);
    this.done.push(part);
    this.open = undefined;
    this.text = new GrowingText();
    this.annotations = [];
    this.logprobs = [];
  }

  private part(): string {
    const text = jsonOf(String(this.text));
    if (this.open === "refusal") return `{"type":"refusal","refusal":${text}}`;
    const lists = `"annotations":[${this.annotations.join(",")}],"logprobs":[${this.logprobs.join(",")}]`;
    return `{"type":"output_text",${lists},"text":${text}}`;
  }

  private at(): string {
    const { id, index } = this.place;
    return `"item_id":"${id}","output_index":${index},"content_index":${this.done.length}`;
  }

  private item(status: ItemStatus | "in_progress"): string {
    const content = this.done.join(",");
    return `{"id":"${this.place.id}","type":"message","status":"${status}","content":[${content}],"role":"assistant"}`;
  }
}

/** What the model thought, as a summary of one part. */
export class ReasoningWriter {
  private readonly text = new GrowingText();
  private hasPart = false;

  constructor(
    private readonly tell: Tell,
    private readonly place: Place,
  ) {
    const opened = reasoningItem(place.id, "", undefined);
    tell("response.output_item.added", `"output_index":${place.index},"item":${opened}`);
  }

  add(text: string): void {
    if (text === "") return;
    if (!this.hasPart) {
      this.hasPart = true;
      this.tell("response.reasoning_summary_part.added", `${this.at()},"part":${summaryPart("")}`);
    }
    this.text.add(text);
    this.tell("response.reasoning_summary_text.delta", `${this.at()},"delta":${jsonOf(text)}`);
  }

  close(encrypted: string): string {
    if (this.hasPart) {
      this.tell("response.reasoning_summary_text.done", `${this.at()},"text":${jsonOf(String(this.text))}`);
      this.tell("response.reasoning_summary_part.done", `${this.at()},"part":${summaryPart(String(this.text))}`);
    }
    const item = reasoningItem(this.place.id, String(this.text), encrypted);
    this.tell("response.output_item.done", `"output_index":${this.place.index},"item":${item}`);
    return item;
  }

  private at(): string {
    return `"item_id":${jsonOf(this.place.id)},"output_index":${this.place.index},"summary_index":0`;
  }
}

function summaryPart(text: string): string {
  return `{"type":"summary_text","text":${jsonOf(text)}}`;
}

/** `encrypted` comes with its end. */
export function reasoningItem(id: string, text: string, encrypted: string | undefined): string {
  return objectText([
    ["id", jsonOf(id)],
    ["type", '"reasoning"'],
    ["status", encrypted === undefined ? '"in_progress"' : '"completed"'],
    ["summary", text === "" ? "[]" : `[${summaryPart(text)}]`],
    ["encrypted_content", jsonOf(encrypted)],
  ]);
}

/** A call as it begins. */
export interface StartedCall {
  readonly callId: string;
  readonly tool: AskedTool;
  /** True where its free text comes inside a function's arguments. */
  readonly isWrapped: boolean;
}

/** A call of one of the client's tools. */
export class CallWriter {
  private readonly text = new GrowingText();

  constructor(
    private readonly tell: Tell,
    private readonly place: Place,
    private readonly call: StartedCall,
  ) {
    tell("response.output_item.added", `"output_index":${place.index},"item":${this.item("", "in_progress")}`);
  }

  add(fragment: string): void {
    this.text.add(fragment);
    // Free text is told once all of its wrapping is there.
    if (fragment !== "" && !this.call.isWrapped) this.delta(fragment);
  }

  close(status: ItemStatus): string {
    const { isWrapped, tool } = this.call;
    const came = String(this.text);
    let text = came;
    // No arguments are an empty object: clients read them as JSON.
    if (text === "" && !tool.custom) text = "{}";
    else if (isWrapped) text = unwrappedText(text);
    if (text !== came && text !== "") this.delta(text);
    const told = tool.custom ? `"input":${jsonOf(text)}` : `"name":${jsonOf(tool.name)},"arguments":${jsonOf(text)}`;
    this.tell(`${this.kind()}.done`, `${this.at()},${told}`);
    const item = this.item(text, status);
    this.tell("response.output_item.done", `"output_index":${this.place.index},"item":${item}`);
    return item;
  }

  private delta(text: string): void {
    this.tell(`${this.kind()}.delta`, `${this.at()},"delta":${jsonOf(text)}`);
  }

  private kind(): string {
    return this.call.tool.custom ? "response.custom_tool_call_input" : "response.function_call_arguments";
  }

  private at(): string {
    return `"item_id":"${this.place.id}","output_index":${this.place.index}`;
  }

  private item(text: string, status: ItemStatus | "in_progress"): string {
    const { tool, callId } = this.call;
    return objectText([
      ["id", jsonOf(this.place.id)],
      ["type", tool.custom ? '"custom_tool_call"' : '"function_call"'],
      ["status", `"${status}"`],
      [tool.custom ? "input" : "arguments", jsonOf(text)],
      ["call_id", jsonOf(callId)],
      ["name", jsonOf(tool.name)],
      ["namespace", jsonOf(tool.namespace)],
    ]);
  }
}
