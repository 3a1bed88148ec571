/** How many bytes of the embedded database a request takes, of a gateway that has stopped. */
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";

/** Undefined where no request was charged. @param {string} data The data directory. */
export function bytesPerRequest(data) {
  const database = new DatabaseSync(join(data, "tollgate.db"), { readOnly: true });
  try {
    const one = (/** @type {string} */ sql) => Number(Object.values(database.prepare(sql).get() ?? {})[0] ?? 0);
    const requests = one("SELECT count(*) FROM usage");
    const pages = one("SELECT page_count - freelist_count FROM pragma_page_count(), pragma_freelist_count()");
    return requests === 0 ? undefined : (pages * one("PRAGMA page_size")) / requests;
  } finally {
    database.close();
  }
}
