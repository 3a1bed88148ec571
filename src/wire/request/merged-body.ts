/**
 * A client's own body with what a change of its prompt changes, and with all else as the client wrote it: what the wire
 * has and the typed form has not stays. The prompt is written before and after; what differs between the two is carried
 * over.
 */
import { type JsonNode, readTree } from "../json/node.js";
import type { Edits } from "../json/splice.js";
import { arrayText, objectText } from "../json/text.js";
import { editedBody } from "./left-out-tools.js";

/** How the wire names members. */
export interface Spelling {
  /** A member's one name, where the wire has several spellings. */
  readonly nameOf?: ((key: string) => string) | undefined;
  /** Members that say the same as another, by that other. Where one changes, all are written by their new name. */
  readonly older?: Readonly<Record<string, string>> | undefined;
}

/** `before` and `after` are the prompt as the wire writes it. */
export function mergedBody(own: Buffer, before: Buffer, after: Buffer, { nameOf, older = {} }: Spelling = {}): Buffer {
  const merge = new Merge(nameOf ?? ((key) => key));
  const [root, was, is] = [readTree(own), readTree(before), readTree(after)];
  const edits = new Map(merge.edits(root, was, is));
  const renamed = Object.entries(older).filter(([, old]) => root.members.has(old));
  if (renamed.some(([name]) => edits.has(name)))
    for (const [name, old] of renamed) edits.set(old, undefined).set(name, is.members.get(name)?.raw());
  return edits.size === 0 ? own : editedBody(own, edits);
}

const KINDS = ["role", "type"];

class Merge {
  constructor(private readonly nameOf: (key: string) => string) {}

  /** The members of an object that change. */
  edits(own: JsonNode, before: JsonNode, after: JsonNode): Edits {
    const keys = new Map([...own.members.keys()].map((key) => [this.nameOf(key), key]));
    const edits = new Map<string, string | undefined>();
    for (const name of new Set([...before.members.keys(), ...after.members.keys()])) {
      const [was, is] = [before.members.get(name), after.members.get(name)];
      if (was?.raw() === is?.raw()) continue;
      const key = keys.get(name);
      const had = key === undefined ? undefined : own.members.get(key);
      if (is !== undefined) edits.set(key ?? name, this.merged(had, was, is));
      else if (key !== undefined) edits.set(key, undefined);
    }
    return edits;
  }

  private merged(own: JsonNode | undefined, before: JsonNode | undefined, after: JsonNode): string {
    if (own === undefined || before === undefined || own.kind !== before.kind) return after.raw();
    if (own.kind === "array" && after.kind === "array") return this.list(own.items, before.items, after.items);
    if (own.kind !== "object" || after.kind !== "object") return after.raw();
    const edits = this.edits(own, before, after);
    const kept = [...own.members].map(
      ([key, node]) => [key, edits.has(key) ? textOf(edits, key) : node.raw()] as const,
    );
    const added = [...edits.keys()]
      .filter((key) => !own.members.has(key))
      .map((key) => [key, textOf(edits, key)] as const);
    return objectText([...kept, ...added]);
  }

  /** An item that is the same before and after stays as the client wrote it, where each can be told from the others. */
  private list(own: readonly JsonNode[], before: readonly JsonNode[], after: readonly JsonNode[]): string {
    if (own.length !== before.length) return arrayText(after.map((item) => item.raw()));
    if (before.length === after.length)
      return arrayText(after.map((item, place) => this.item(own[place], before[place], item)));
    let place = 0;
    const texts = after.map((item) => {
      const same = before.findIndex((was, at) => at >= place && was.raw() === item.raw());
      if (same === -1) return item.raw();
      place = same + 1;
      return own[same]?.raw() ?? item.raw();
    });
    return arrayText(texts);
  }

  private item(own: JsonNode | undefined, before: JsonNode | undefined, after: JsonNode): string {
    if (own !== undefined && before?.raw() === after.raw()) return own.raw();
    // What says something else now is another item, and not this one changed.
    const isSame = KINDS.every((key) => before?.members.get(key)?.text === after.members.get(key)?.text);
    return isSame ? this.merged(own, before, after) : after.raw();
  }
}

function textOf(edits: Edits, key: string): string | undefined {
  return edits.get(key)?.toString();
}
