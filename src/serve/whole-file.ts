/** Files that are there whole or not at all. */
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Its owner writes it, and its group may read it. */
const MODE = 0o640;

/**
 * Writes the parts under another name, makes them durable, and gives the file its name last. What an earlier attempt
 * left under the other name is written over. Rejects, and leaves nothing, where a part or the disk fails.
 */
export async function writeWhole(path: string, parts: AsyncIterable<string>, mode = MODE): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.part`);
  try {
    const file = await open(draft, "w", mode);
    try {
      // The process may have been told to leave some of its bits away.
      if (mode !== MODE) await file.chmod(mode);
      for await (const part of parts) await file.appendFile(part);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  // The name outlives a power cut as the bytes do.
  const directory = await open(dirname(path), "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
