/** Reads what a model thought, in all the spellings that servers of the wire have for it. */
import { TextPrint } from "../../answer/kept-text.js";
import { sealedTokens } from "../../answer/non-text.js";
import type { Collector } from "../../answer/collector.js";
import { type JsonObject, objectOf } from "../../json/value.js";
import { DETAIL_KINDS, THOUGHT_NAMES } from "../events/kinds.js";
import { type Detail, encodeProof, continuesDetail, isPlain, joined, partOfDetail, readDetail } from "./proof.js";
import { thoughtText } from "./read-content.js";

export class ThoughtsReader {
  /** The thought so far that has no proof yet, and the proofs that came. */
  private readonly thought = new TextPrint();
  private proofs: Set<string> | undefined;
  /** The entry that goes on, where more than its text must come back. Its own text is told already. */
  private open: Detail | undefined;

  constructor(
    private readonly candidate: number,
    private readonly collector: Collector,
  ) {}

  /** Thinking, in the first of its spellings that says something; what another says beyond it counts. */
  read(delta: JsonObject): void {
    const plain = this.plainOf(delta);
    const details = delta["reasoning_details"];
    if (!Array.isArray(details)) return this.add(plain, undefined);
    const read = details.flatMap((value) => {
      const entry = objectOf(value);
      if (entry !== undefined) this.collector.noteUnknownIn(entry, DETAIL_KINDS);
      return entry === undefined ? [] : [readDetail(entry)];
    });
    // Some tell all thoughts anew each time one ends: what was told is not told again.
    const fresh = read.filter(({ proof }) => this.proofs?.has(proof) !== true);
    if (fresh.every(({ text }) => text === "")) this.add(plain, undefined);
    // Some tell all thoughts at the end, behind the deltas of their text: which of it each proves is not known then.
    const isRepeat =
      fresh.length > 1 && this.thought.length > 0 && this.thought.equals(fresh.map(({ text }) => text).join(""));
    for (const detail of fresh) {
      if (detail.proof !== "") (this.proofs ??= new Set()).add(detail.proof);
      this.readDetail(detail, isRepeat);
    }
  }

  add(text: string, signature: string | undefined): void {
    if (text === "" && signature === undefined) return;
    if (signature === undefined) this.thought.add(text);
    else this.thought.clear();
    this.collector.tellThinking(this.candidate, text, signature);
  }

  /** What follows is no thought: the entry that goes on is whole. */
  close(): void {
    const { open } = this;
    if (open === undefined) return;
    this.open = undefined;
    if (this.thought.length > 0 || open.proof !== "") this.add("", encodeProof(open));
  }

  private plainOf(delta: JsonObject): string {
    let plain = "";
    let most = thoughtText(delta["thinking_blocks"]);
    for (const name of THOUGHT_NAMES) {
      const told = delta[name];
      if (told === undefined || told === null || told === "") continue;
      if (typeof told !== "string") {
        this.collector.noteUnknown(told);
        continue;
      }
      plain ||= told;
      if (told.length > most.length) most = told;
    }
    plain ||= most;
    if (most.length > plain.length) this.collector.addText(most.slice(plain.length));
    return plain;
  }

  private readDetail(detail: Detail, isRepeat: boolean): void {
    const { type, text, proof } = detail;
    const isOfOpen = this.open !== undefined && continuesDetail(this.open, detail);
    if (!isOfOpen) this.close();
    if (type === "reasoning.encrypted") {
      const part = partOfDetail(detail);
      if (part !== undefined) this.collector.tellPart(this.candidate, part, sealedTokens(proof));
      return;
    }
    if (isRepeat) return;
    const isKept = !isPlain(detail);
    // What came before as plain text is not told again. Pieces of an open entry may be alike.
    const isTold = !isOfOpen && (proof !== "" || isKept) && this.thought.equals(text);
    if (!isKept) return this.add(isTold ? "" : text, proof || undefined);
    this.open = { ...(isOfOpen && this.open !== undefined ? joined(this.open, detail) : detail), text: "" };
    if (!isTold) this.add(text, undefined);
    if (proof !== "") this.close();
  }
}
