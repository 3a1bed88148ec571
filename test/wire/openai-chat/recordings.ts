/** Recordings of real upstreams of the wire, where they are on this machine. They are no part of the project. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const folder =
  process.env["TOLLGATE_RECORDINGS"] ?? fileURLToPath(new URL("../../../../shared/recordings", import.meta.url));

export const hasRecordings = existsSync(folder);

/** One exchange or answer. */
export interface Recording {
  readonly name: string;
  readonly status: number;
  /** What was asked, where it was recorded. */
  readonly request: string | undefined;
  readonly body: string;
}

/** What the tests of recordings are called, so that a run without them says so. */
export const recordingsNote = hasRecordings ? "recordings" : "recordings (absent: none of them was run)";

const FAMILIES = ["openai", "groq", "deepseek", "mistral"];

/** Whole answers, and error answers. */
export const answers: readonly Recording[] = hasRecordings ? [...bodies(".json"), ...exchanges(false)] : [];
/** Streams, as bytes of events. */
export const streams: readonly Recording[] = hasRecordings ? [...chunked(), ...exchanges(true)] : [];

function bodies(ending: string): Recording[] {
  return FAMILIES.flatMap((family) =>
    readdirSync(join(folder, family))
      .filter((name) => name.endsWith(ending) && (family !== "openai" || name.startsWith("chat-")))
      .map((name) => ({
        name: `${family}/${name}`,
        status: 200,
        request: undefined,
        body: readFileSync(join(folder, family, name), "utf8"),
      })),
  );
}

function chunked(): Recording[] {
  return bodies(".chunks.txt").map((recording) => {
    const lines = recording.body.split("\n").filter((line) => line !== "");
    return Object.assign(recording, { body: [...lines, "[DONE]"].map((line) => `data: ${line}\n\n`).join("") });
  });
}

interface Cassette {
  readonly interactions: readonly {
    readonly request: { readonly body: string };
    readonly response: { readonly body: string; readonly code: number };
  }[];
}

function exchanges(isStream: boolean): Recording[] {
  return readdirSync(join(folder, "cassettes"))
    .filter((name) => name.startsWith("chat-"))
    .flatMap((name) => {
      const cassette = parse(readFileSync(join(folder, "cassettes", name), "utf8")) as Cassette;
      return cassette.interactions.map(({ request, response }, place) => ({
        name: `cassettes/${name}#${place}`,
        status: response.code,
        request: request.body,
        body: response.body,
      }));
    })
    .filter((recording) => recording.body.startsWith("data:") === isStream);
}
