/** Recordings of real upstreams of the wire, where they are on this machine. They are no part of the project. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = join(
  process.env["TOLLGATE_RECORDINGS"] ?? fileURLToPath(new URL("../../../../shared/recordings", import.meta.url)),
  "gemini",
);

export const hasRecordings = existsSync(folder);

/** What the tests of recordings are called, so that a run without them says so. */
export const recordingsNote = hasRecordings ? "recordings" : "recordings (absent: none of them was run)";

export interface Recording {
  readonly name: string;
  readonly body: string;
}

const all = hasRecordings ? readdirSync(folder) : [];

function read(name: string): string {
  return readFileSync(join(folder, name), "utf8");
}

/** Whole answers. */
export const answers: readonly Recording[] = all
  .filter((name) => name.endsWith(".json") && !/-\d{3}-/.test(name))
  .map((name) => ({ name, body: read(name) }));

/** Errors, with the status in their names. */
export const errors: readonly (Recording & { readonly status: number })[] = all.flatMap((name) => {
  const status = /-(\d{3})-.*\.json$/.exec(name)?.[1];
  return status === undefined ? [] : [{ name, status: Number(status), body: read(name) }];
});

/** Streams, as bytes of events. */
export const streams: readonly Recording[] = all
  .filter((name) => name.endsWith(".chunks.txt"))
  .map((name) => {
    const lines = read(name).split("\n");
    const events = lines.filter((line) => line !== "").map((line) => `data: ${line}\n\n`);
    return { name, body: events.join("") };
  });
