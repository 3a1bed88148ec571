/** What a reader of an answer gathers, whatever its wire: the text, and the steps for a caller who takes them. */
import type { Event, FinishReason, Part, ToolCallStart, ToolUse, Usage } from "../../api/index.js";
import { generatedTokens, totalTokens } from "../../api/usage.js";
import { upstreamFailed } from "../error/refusals.js";
import type { KindTable } from "../events/kinds.js";
import { ExactJson } from "../json/exact.js";
import type { JsonObject } from "../json/value.js";
import { toldCallIds } from "../request/told-calls.js";
import { UniqueNames } from "../request/unique-names.js";
import { GrowingText } from "./growing-text.js";
import { TextPrint } from "./kept-text.js";
import { soundTokens, unknownTokens } from "./non-text.js";
import type { AnswerReport, OutputProgress, WireRequest } from "../wire.js";

/** An upstream has a dozen tools of its own, by short names. */
const TOOLS_MAX = 64;
const TOOL_CHARACTERS_MAX = 64;
/** Of how many members beside an answer is known what they said last. */
const EXTRAS_MAX = 64;

/** Where what reads a part of an answer puts what it finds. */
export interface Collector {
  /** True where steps are wanted; else only the text counts. */
  readonly isTyped: boolean;
  add(event: Event): void;
  /** Adds what was generated and is no step by itself. */
  addText(text: string): void;
  /** These add what was generated, and tell it where steps are wanted. */
  tellText(candidate: number, text: string): void;
  tellRefusal(candidate: number, text: string): void;
  tellThinking(candidate: number, text: string, signature: string | undefined): void;
  /** A call begins. Its name is added as text apart. */
  tellCall(start: ToolCallStart): void;
  tellArguments(candidate: number, index: number, fragment: string): void;
  /** What is read now, with numbers as the upstream wrote them. */
  readonly exact: ExactJson;
  /** What comes whole. `tokens` is an estimate of what of it was generated and is not added as text. */
  tellPart(candidate: number, part: Part, tokens: number): void;
  tellEnd(candidate: number, reason: FinishReason, stopString: string | undefined): void;
  /**
   * Something came that is no text: a picture, a call that the upstream ran itself, a sealed thought. `tokens` is an
   * estimate of what of it was generated and is not added as text.
   */
  noteContent(tokens: number): void;
  /** A thought came of which nothing can be seen, as it is when its answer has nothing else: no content by itself. */
  noteSealed(tokens: number): void;
  /** A piece of a sound came, in base64. */
  noteSound(base64: string): void;
  /** Something came that the wire's table does not know: it counts by its bytes. Numbers say nothing. */
  noteUnknown(value: unknown): void;
  /** The same of each member that the table does not know. */
  noteUnknownIn(object: JsonObject, known: KindTable): void;
}

/** What counts calls of tools that the upstream runs. */
export interface CallCounter {
  /** Of these names of a tool, the one that the request asked for; undefined where it asked for none. */
  askedTool(...names: readonly string[]): string | undefined;
  countCall(name: string): void;
  takeBackCall(name: string): void;
}

export class AnswerCollector implements Collector, CallCounter {
  readonly grown = new GrowingText();
  /** True once the upstream told anything of what it generates. */
  protected hasBegun = false;
  private hasContent = false;
  /** An estimate of what was generated and is no text. */
  nonTextTokens = 0;
  /** How much of the text is thoughts. */
  thoughtLength = 0;
  private soundCharacters = 0;
  private unknownBytes = 0;
  /** What members that no table knows said last, where each event may say it anew. */
  private extras: Map<string, TextPrint> | undefined;
  /** The members that an object had last of which a table knows all. */
  private readonly recent = new Map<KindTable, readonly string[]>();
  /** How the answer was served, as far as it tells. */
  servedModel = "";
  serviceTier = "";
  /** The tools with a price that the request asked for. */
  private readonly mayCall: readonly ToolUse[];
  /** Calls of tools that the upstream ran; absent until anything tells of them. */
  protected uses: ToolUse[] | undefined;
  /** Calls that the model went on behind, since the upstream ran them. */
  private hostedCalls = 0;
  /** How much had come when the usage was told last; undefined where none was. */
  private toldAt: number | undefined;
  /** True where the answer was over when its usage was reported last. */
  private isReportFinal = false;
  private events: Event[] = [];
  private root: unknown;
  private bytes: Buffer | undefined;
  private exactJson: ExactJson | undefined;
  /** The ids of calls: those of the conversation, and of each candidate, which are not told together. */
  private readonly callIds = new Map<number, UniqueNames>();

  /** `isTyped` says whether steps are kept; the text is gathered either way. `asked` tells which tools may run. */
  constructor(
    readonly isTyped: boolean,
    protected readonly asked: WireRequest | undefined,
  ) {
    this.mayCall = asked?.facts.toolCallsMax ?? [];
  }

  get text(): string {
    return this.grown.toString();
  }

  get made(): OutputProgress {
    if (this.hasContent || this.grown.length > 0) return "content";
    return this.hasBegun ? "begun" : "nothing";
  }

  /** More came behind the usage that was told last: it may be older than the answer. */
  get usageEarly(): boolean {
    return this.toldAt !== undefined && this.toldAt < this.generated;
  }

  get toolUses(): readonly ToolUse[] | undefined {
    return this.uses;
  }

  get audioTokens(): number {
    return soundTokens(this.soundCharacters);
  }

  get unknownTokens(): number {
    return unknownTokens(this.unknownBytes);
  }

  private get generated(): number {
    return this.grown.length + this.nonTextTokens + this.soundCharacters;
  }

  /** What is read next, and the bytes that it was parsed from. */
  protected begins(root: unknown, bytes: Buffer | undefined): void {
    this.root = root;
    // Where nobody is told, the counts that follow do not need each digit.
    this.bytes = this.isTyped ? bytes : undefined;
    this.exactJson = undefined;
  }

  get exact(): ExactJson {
    return (this.exactJson ??= new ExactJson(this.root, this.bytes));
  }

  /** The event that was read told a usage, of all that came with it and before it. */
  protected noteTold(isOver = false): void {
    this.toldAt = this.generated;
    this.isReportFinal = isOver;
  }

  /**
   * The usage that counts: the last one reported, since each covers the whole answer so far. A report that follows the
   * final one without new content may correct it, but not raise it.
   */
  protected latestUsage(before: Usage | undefined, reported: Usage | undefined): Usage | undefined {
    if (before === undefined || reported === undefined) return reported ?? before;
    const isRepeated = this.isReportFinal && this.toldAt === this.generated && generatedTokens(before) > 0n;
    return isRepeated && totalTokens(reported) > totalTokens(before) ? before : reported;
  }

  add(event: Event): void {
    if (this.isTyped) this.events.push(event);
  }

  addText(text: string): void {
    this.grown.add(text);
  }

  tellText(candidate: number, text: string): void {
    if (text === "") return;
    this.grown.add(text);
    if (this.isTyped) this.add({ kind: { $case: "text", value: { candidate, text } } });
  }

  tellRefusal(candidate: number, text: string): void {
    if (text === "") return;
    this.grown.add(text);
    if (this.isTyped) this.add({ kind: { $case: "refusal", value: { candidate, text } } });
  }

  tellThinking(candidate: number, text: string, signature: string | undefined): void {
    this.grown.add(text);
    this.thoughtLength += text.length;
    if (this.isTyped) this.add({ kind: { $case: "thinking", value: { candidate, text, signature } } });
  }

  tellCall(start: ToolCallStart): void {
    if (!this.isTyped) return;
    // Some servers count their calls anew in every answer, and clients pair results with calls by the id alone.
    let ids = this.callIds.get(start.candidate);
    if (ids === undefined) this.callIds.set(start.candidate, (ids = new UniqueNames({}, toldCallIds(this.asked))));
    this.add({ kind: { $case: "toolCallStart", value: { ...start, id: ids.claim(start.id) } } });
  }

  tellArguments(candidate: number, index: number, fragment: string): void {
    this.grown.add(fragment);
    if (this.isTyped) this.add({ kind: { $case: "toolCallDelta", value: { candidate, index, arguments: fragment } } });
  }

  tellPart(candidate: number, part: Part, tokens: number): void {
    this.noteContent(tokens);
    if (this.isTyped) this.add({ kind: { $case: "part", value: { candidate, part } } });
  }

  tellEnd(candidate: number, reason: FinishReason, stopString: string | undefined): void {
    if (this.isTyped) this.add({ kind: { $case: "candidateEnd", value: { candidate, reason, stopString } } });
  }

  noteContent(tokens: number): void {
    this.hasContent = true;
    this.nonTextTokens += tokens;
  }

  noteSealed(tokens: number): void {
    this.nonTextTokens += tokens;
  }

  noteSound(base64: string): void {
    this.hasContent = true;
    this.soundCharacters += base64.length;
  }

  noteUnknown(value: unknown): void {
    if (!saysAnything(value)) return;
    this.hasContent = true;
    this.unknownBytes += Buffer.byteLength(JSON.stringify(value));
  }

  noteUnknownIn(object: JsonObject, known: KindTable): void {
    if (this.knowsAll(object, known)) return;
    for (const name in object) if (!known.has(name)) this.noteUnknown(object[name]);
  }

  /** Nearly all events have the members that one before had: a look at each costs less than the table. */
  private knowsAll(object: JsonObject, known: KindTable): boolean {
    const recent = this.recent.get(known);
    let at = 0;
    for (const name in object) {
      if (recent !== undefined && recent[at++] === name) continue;
      const names = Object.keys(object);
      if (!names.every((member) => known.has(member))) return false;
      this.recent.set(known, names);
      return true;
    }
    return true;
  }

  /** The same of members that stand beside what is said: there many servers tell the same with every event. */
  protected noteExtrasIn(object: JsonObject, known: KindTable): void {
    if (this.knowsAll(object, known)) return;
    for (const name in object) if (!known.has(name) && this.isNews(name, object[name])) this.noteUnknown(object[name]);
  }

  private isNews(name: string, value: unknown): boolean {
    if (!saysAnything(value)) return false;
    const told = JSON.stringify(value);
    const extras = (this.extras ??= new Map());
    let last = extras.get(name);
    if (last?.equals(told) === true) return false;
    if (last === undefined && extras.size < EXTRAS_MAX) extras.set(name, (last = new TextPrint()));
    last?.clear();
    last?.add(told);
    return true;
  }

  get rounds(): AnswerReport["rounds"] {
    return this.hostedCalls === 0 ? undefined : { countMax: this.hostedCalls + 1 };
  }

  /** The upstream ran a tool, and let the model go on with what it gave back. */
  noteHosted(): void {
    this.hostedCalls += 1;
  }

  askedTool(...names: readonly string[]): string | undefined {
    return names.find((name) => this.mayCall.some((asked) => asked.name === name));
  }

  /** From here on the answer shows each call of these tools as it is made. What it never shows is called once. */
  protected showsCalls(shown: readonly string[]): void {
    this.uses ??= [];
    for (const { name } of this.mayCall) if (!shown.includes(name) && this.callsOf(name) === 0) this.noteCalls(name, 1);
  }

  /** A usage tells all calls so far. */
  protected noteToldCalls(calls: ReadonlyMap<string, number>): void {
    for (const [name, count] of calls) this.noteCalls(name, count);
  }

  /** A tool that the upstream runs was called once more: that is content, whatever else comes of it. */
  countCall(name: string): void {
    this.hasContent = true;
    this.noteCalls(name, this.callsOf(name) + 1);
  }

  /** A call that was counted as it began is part of another, or none. */
  takeBackCall(name: string): void {
    this.noteCalls(name, this.callsOf(name) - 1);
  }

  private callsOf(name: string): number {
    return Number(this.uses?.find((use) => use.name === name)?.calls ?? 0n);
  }

  /** A tool that the upstream ran was called so often in all. */
  noteCalls(name: string, calls: number): void {
    const uses = (this.uses ??= []);
    const known = uses.find((use) => use.name === name);
    if (known !== undefined && calls > 0) known.calls = BigInt(calls);
    else if (known !== undefined) uses.splice(uses.indexOf(known), 1);
    else if (calls > 0) {
      if (uses.length === TOOLS_MAX || name.length > TOOL_CHARACTERS_MAX)
        throw upstreamFailed("it reported calls of too many tools");
      uses.push({ name, calls: BigInt(calls) });
    }
  }

  /** The steps since the last time. */
  takeEvents(): Event[] {
    const { events } = this;
    this.events = [];
    return events;
  }
}

/** False of nothing, and of a number or a mark. */
function saysAnything(value: unknown): boolean {
  if (typeof value === "string") return value !== "";
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0;
}
