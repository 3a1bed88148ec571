/** Recordings of Anthropic's answers, where they are on this machine. They are no part of the project. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nameOf } from "./reading.js";

const root =
  process.env["TOLLGATE_RECORDINGS"] ?? fileURLToPath(new URL("../../../../shared/recordings", import.meta.url));
const folder = join(root, "anthropic");

export const hasRecordings = existsSync(folder);

export interface Recording {
  readonly name: string;
  readonly body: string;
}

/** What the tests of recordings are called, so that a run without them says so. */
export const recordingsNote = hasRecordings ? "recordings" : "recordings (absent: none of them was run)";

const files: readonly Recording[] = hasRecordings
  ? readdirSync(folder).map((name) => ({ name, body: readFileSync(join(folder, name), "utf8") }))
  : [];

export const answers = files.filter(({ name }) => name.endsWith(".json"));

/** Streams, each payload with its name, as the upstream sent them. */
export const streams = files
  .filter(({ name }) => name.endsWith(".chunks.txt"))
  .map(({ name, body }) => {
    const lines = body.split("\n").filter((line) => line !== "");
    return {
      name,
      body: lines.map((line) => `event: ${nameOf(Object(JSON.parse(line)))}\ndata: ${line}\n\n`).join(""),
    };
  });
