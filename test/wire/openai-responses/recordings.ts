/** Recordings of OpenAI's responses, where they are on this machine. They are no part of the project. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root =
  process.env["TOLLGATE_RECORDINGS"] ?? fileURLToPath(new URL("../../../../shared/recordings", import.meta.url));
const folder = join(root, "openai");

export const hasRecordings = existsSync(folder);

export interface Recording {
  readonly name: string;
  readonly body: string;
}

/** What the tests of recordings are called, so that a run without them says so. */
export const recordingsNote = hasRecordings ? "recordings" : "recordings (absent: none of them was run)";

const files: readonly Recording[] = hasRecordings
  ? readdirSync(folder)
      .filter((name) => name.startsWith("responses-"))
      .map((name) => ({ name, body: readFileSync(join(folder, name), "utf8") }))
  : [];

export const answers = files.filter(({ name }) => name.endsWith(".json") && !name.includes("error"));
export const refusals = files.filter(({ name }) => name.endsWith(".json") && name.includes("error"));

/** Streams as the upstream sent them. One file may hold several, each from its beginning. */
const all = files
  .filter(({ name }) => name.endsWith(".chunks.txt"))
  .flatMap(({ name, body }) => {
    const events = body
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => ({ type: String(Reflect.get(Object(JSON.parse(line)), "type")), line }));
    const starts = events.flatMap(({ type }, place) => (type === "response.created" ? [place] : []));
    return starts.map((start, number) => ({
      name: `${name}#${number}`,
      body: events
        .slice(start, starts[number + 1])
        .map(({ type, line }) => `event: ${type}\ndata: ${line}\n\n`)
        .join(""),
    }));
  });

export const streams = all.filter(({ name }) => !name.includes("error"));
export const failures = all.filter(({ name }) => name.includes("error"));
