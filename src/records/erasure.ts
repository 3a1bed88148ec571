/**
 * Of whom records and content are erased. An id that names a session stood for a person in an earlier program: content
 * that it kept still goes by the id, while its records go by the session, as do all that came since.
 */
import { conversationIn } from "../api/conversation.js";
import { storedName } from "./attributes.js";
import { type Chunk, columnOf, textAt, valueAt } from "./chunk.js";
import type { ContentVault } from "./content-vault.js";
import type { Engine } from "./engine.js";
import { type Test, testOf } from "./filter.js";
import type { Erased } from "./record-calls.js";
import { sessionOfUserId } from "./user-id.js";

export interface ErasedPerson {
  /** As it is stored. */
  readonly endUser: string;
  /** The session that the id names, empty where it names none; undefined where the id is a person's. */
  readonly session: string | undefined;
}

/** Erases what is kept of somebody, in one account or in all: content first, which says most. */
export async function erasePerson(
  account: string | undefined,
  id: string,
  engine: Pick<Engine, "erase">,
  vault: Pick<ContentVault, "erase" | "eraseOf">,
): Promise<Erased> {
  const person = personOf(id);
  let contentCount = await vault.erase(account, person.endUser);
  const requestCount = await engine.erase(account, person, async (ids) => {
    // Content of a person goes by the name.
    if (person.session !== undefined) contentCount += await vault.eraseOf(ids);
  });
  return { contentCount, requestCount };
}

export function personOf(id: string): ErasedPerson {
  const session = sessionOfUserId(id);
  return { endUser: storedName(id), session: session === undefined ? undefined : conversationIn(session) };
}

/** The test of the chunk's records that are theirs, in one account or in all; undefined where none can be. */
export function erasedIn(
  chunk: Chunk,
  account: string | undefined,
  { endUser, session }: ErasedPerson,
): Test | undefined {
  const all = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
  const names = account === undefined ? {} : { account };
  if (session === undefined) return testOf(chunk, { ...all, names: { ...names, endUser } });
  const place = session === "" ? -1 : chunk.texts.texts.placeOf(session);
  const isTheirs = place < 0 ? undefined : testOf(chunk, { ...all, names });
  const sessions = columnOf(chunk.texts, "session");
  return isTheirs && ((row) => valueAt(sessions, row) === place && isTheirs(row));
}

/** The ids of the requests that pass. The chunk has its texts. */
export function idsOf(chunk: Chunk, passes: Test): readonly string[] {
  const ids: string[] = [];
  for (let row = 0; row < chunk.count; row++) if (passes(row)) ids.push(textAt(chunk.texts, "id", row));
  return ids;
}
