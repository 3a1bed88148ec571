/** Sums of one moment: several questions, each answered of the same chunks, and what names the chunks of a day. */
import { hash } from "node:crypto";
import type { Chunk } from "./chunk.js";
import type { ChunkMark } from "./chunk-store.js";
import type { ChunkSums, ChunkSumsCache } from "./chunk-sums.js";
import { REQUEST_MS_MAX } from "./columns.js";
import { isWithin, type RecordFilter } from "./filter.js";
import type { Dimension } from "./usage-codes.js";
import { UsageScan, type UsageTable } from "./usage-scan.js";

/** Both ends are in it. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface UsageAsk {
  readonly dimensions: readonly Dimension[];
  readonly filter: RecordFilter;
}

export interface UsageSnapshot {
  /** One for each question. */
  readonly tables: readonly UsageTable[];
  /** One for each time that was named: while it is the same, so are all records of that time. */
  readonly states: readonly string[];
}

/** Chunks are found by when their requests ended, which is later than when they were admitted. */
export function endsOf({ fromMs, toMs }: TimeSpan): TimeSpan {
  return { fromMs, toMs: Math.min(toMs, Number.MAX_SAFE_INTEGER - REQUEST_MS_MAX) + REQUEST_MS_MAX };
}

/** A chunk never changes: another one that takes its place has another id. */
export function stateOf(marks: readonly ChunkMark[], span: TimeSpan): string {
  return hash(
    "sha256",
    among(marks, span)
      .map(({ id }) => id)
      .join(),
  );
}

/** `read` gives a chunk, with its texts where those are needed; undefined, or what it throws, where it is gone. */
export async function tableOf(
  { dimensions, filter }: UsageAsk,
  marks: readonly ChunkMark[],
  read: (mark: ChunkMark, needsTexts: boolean) => Promise<Chunk>,
  sums: ChunkSumsCache,
): Promise<UsageTable> {
  const scan = new UsageScan(dimensions, filter);
  const asked = among(marks, filter);
  const byId = new Map(asked.map((mark) => [mark.id, mark]));
  const needsTexts = filter.id !== undefined;
  const kept = (ids: readonly number[]): Promise<ChunkSums | undefined> =>
    sums.of(ids, dimensions, async (id) => {
      const mark = byId.get(id);
      return mark && read(mark, needsTexts);
    });
  const isAdded = new Set<number>();
  for (const run of sums.runsOf(whole(asked, filter))) {
    const ofRun = await kept(run);
    if (ofRun === undefined) continue;
    scan.addSums(ofRun);
    for (const id of run) isAdded.add(id);
  }
  for (const mark of asked) {
    if (isAdded.has(mark.id)) continue;
    const chunk = await read(mark, needsTexts);
    // One that is put together with others soon is not worth keeping its sums.
    const ofChunk = mark.sealed && scan.takesAllOf(chunk) ? await kept([mark.id]) : undefined;
    if (ofChunk === undefined) scan.add(chunk);
    else scan.addSums(ofChunk);
  }
  return scan.table();
}

function among(marks: readonly ChunkMark[], span: TimeSpan): readonly ChunkMark[] {
  const { fromMs, toMs } = endsOf(span);
  return marks.filter((mark) => mark.toMs >= fromMs && mark.fromMs <= toMs);
}

/** The ids of those that are wholly asked for, as far as their marks tell that. */
function whole(marks: readonly ChunkMark[], filter: RecordFilter): readonly number[] {
  const { fromMs: _from, toMs: _to, names, ...rest } = filter;
  if ([...Object.values(names), ...Object.values(rest)].some((value) => value !== undefined)) return [];
  return marks.filter((mark) => mark.sealed && isWithin(mark, filter, "createTimeMs")).map(({ id }) => id);
}
