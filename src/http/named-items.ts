/** Puts what a body only names in the place of its name, as an earlier answer told it. */
import { sharedBytes } from "../base/bytes/shared-bytes.js";
import type { FormatMemory, NamedItem, SourceBody } from "../formats/format.js";
import { LONG_BYTES } from "./body-check.js";
import type { ItemCache } from "./item-cache.js";

/** What a long body names, found beside the event loop. The body is in shared memory. `holder` names one key. */
export type FindNames = (source: SourceBody, holder: string) => Promise<readonly NamedItem[]>;

export class NamedItems {
  /** Without `findNames` long bodies are looked through on the event loop too. */
  constructor(
    private readonly told: ItemCache,
    private readonly findNames?: FindNames,
  ) {}

  /**
   * The source with the items that its key was told; the very same where it names none. For whoever has room to run,
   * since it takes a look at the whole body. Rejects with OVERLOADED.
   */
  resolved(source: SourceBody, memory: FormatMemory | undefined, holder: string): SourceBody | Promise<SourceBody> {
    if (memory === undefined || !this.told.knows(holder)) return source;
    if (source.body.length > LONG_BYTES && this.findNames !== undefined)
      return this.longResolved(source, holder, this.findNames);
    if (!memory.mayName(source.body)) return source;
    const pieces = this.pieces(source.body, memory.namedIn(source.body), holder);
    return pieces === undefined ? source : { ...source, body: Buffer.concat(pieces) };
  }

  private async longResolved(source: SourceBody, holder: string, findNames: FindNames): Promise<SourceBody> {
    const shared = { ...source, body: await sharedBytes([source.body], source.body.length) };
    const pieces = this.pieces(shared.body, await findNames(shared, holder), holder);
    if (pieces === undefined) return shared;
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    return { ...source, body: await sharedBytes(pieces, bytes) };
  }

  /** The body in pieces, with the items that are known; undefined where none is. */
  private pieces(body: Buffer, named: readonly NamedItem[], holder: string): Buffer[] | undefined {
    const pieces: Buffer[] = [];
    let kept = 0;
    for (const { id, start, end } of named) {
      const item = this.told.item(holder, id);
      if (item === undefined) continue;
      pieces.push(body.subarray(kept, start), item);
      kept = end;
    }
    if (pieces.length === 0) return undefined;
    pieces.push(body.subarray(kept));
    return pieces;
  }
}
