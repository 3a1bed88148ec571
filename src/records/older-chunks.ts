/** Chunks that an earlier program stored, as this one has them. */
import { conversationIn } from "../api/conversation.js";
import { type Chunk, ChunkBuilder, columnOf, narrowed, type Part, textAt, valueAt } from "./chunk.js";
import { timeIn } from "./columns.js";
import { sessionOfUserId } from "./user-id.js";

/** Facts with the begin of each request: it follows from the end and the time in all. */
export function withCreateTimes(facts: Part, count: number): Part {
  if (facts.columns.has("createTimeMs")) return facts;
  const [ends, totals] = [columnOf(facts, "endTimeMs"), columnOf(facts, "total")];
  const begins = new Float64Array(count);
  for (let row = 0; row < count; row++)
    begins[row] = valueAt(ends, row) - Math.round(timeIn(valueAt(totals, row)) ?? 0);
  return { ...facts, columns: new Map([...facts.columns, ["createTimeMs", narrowed(begins)]]) };
}

/** True where they have ids as end users that name sessions. Each text is looked at once. */
export function nameSessions(facts: Part, count: number): boolean {
  const column = columnOf(facts, "endUser");
  const places = new Set<number>();
  for (let row = 0; row < count; row++) places.add(valueAt(column, row));
  for (const place of places) if (sessionOfUserId(facts.texts.at(place)) !== undefined) return true;
  return false;
}

/** The same chunk with those sessions where they belong; a session that the client named otherwise stays. */
export function withSessions(chunk: Chunk): Chunk {
  const builder = new ChunkBuilder(chunk.count);
  builder.pushChunk(
    chunk,
    () => true,
    (row, name) => {
      if (name !== "endUser" && name !== "session") return undefined;
      const session = sessionOfUserId(textAt(chunk.facts, "endUser", row));
      if (session === undefined) return undefined;
      if (name === "endUser") return "";
      return textAt(chunk.texts, "session", row) === "" ? conversationIn(session) : undefined;
    },
  );
  const { facts, texts } = builder.build();
  return { ...chunk, facts, texts };
}
