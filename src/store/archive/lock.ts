/** The lock of an archive's directory: one run at a time, and none while it is proven. */
import { existsSync } from "node:fs";
import type { Sqlite } from "../sqlite/binding.js";
import { lockOf } from "../sqlite/database-file.js";

/** Ends with the process, however that ends. Throws an Error of one line where another has it. */
export function lockArchive(directory: string): Sqlite {
  if (!existsSync(directory)) throw new Error(`There is no directory '${directory}'.`);
  const lock = lockOf(directory);
  if (lock === undefined) throw new Error(`Another archive runs in '${directory}', or a Tollgate has its data there.`);
  return lock;
}
