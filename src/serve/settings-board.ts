/** The settings file as operators see it and change it without a shell. */
import { constants } from "node:fs";
import { access, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { invalid, stale, unknown } from "../api/check.js";
import type { GetSettingsResponse, NamedSetting, SettingsFile, SettingsProblem } from "../api/index.js";
import { type Act, eventOf, markWritten } from "../audit/act.js";
import { changeOf } from "../audit/snapshot.js";
import { ConfigError } from "../config/config-error.js";
import { versionOf } from "../config/file.js";
import { hideSecrets, showSecrets } from "../config/kept-secrets.js";
import { takenRefusal } from "../config/taken.js";
import { GatewayError } from "../errors.js";
import { families } from "../families/index.js";
import { withoutSecrets } from "../redaction.js";
import type { SettingsBoard } from "../rpc/core.js";
import type { AuditStore } from "../store/store.js";
import { checkSettingsText } from "./settings-check.js";
import { writeWhole } from "./whole-file.js";

export interface SettingsBoardOptions {
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
  /** Beginnings of references that a text may newly take. */
  readonly sources: readonly string[];
  readonly audit: Pick<AuditStore, "append">;
  /** Reads the file once more. */
  readonly reload: () => Promise<void>;
  /** The version in force; empty before the first. */
  readonly version: () => string;
  /** Why the file was refused last. */
  readonly problems: () => readonly string[];
  readonly named: () => Promise<NamedSetting[]>;
  /** How many nodes serve one database. */
  readonly nodes: () => Promise<number>;
}

const LINE = /^.*?:(\d+):(\d+) ([^]*)$/;
const HELD_ELSEWHERE =
  "It holds what looks like a secret outside of api_key and secret: put that into the environment, as ${NAME}.";

export class FileBoard implements SettingsBoard {
  readonly #fileName: string;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: SettingsBoardOptions) {
    this.#fileName = basename(options.path);
  }

  async show(): Promise<GetSettingsResponse> {
    return { file: await this.#shown(), named: await this.options.named() };
  }

  async check(content: string, etag: string): Promise<readonly SettingsProblem[]> {
    const before = await this.#read();
    this.#requireCurrent(before, etag);
    return this.#problemsOf(content, before);
  }

  /** One after the other: the second finds the etag of the first. */
  update(content: string, etag: string, act: Act): Promise<SettingsFile> {
    const writing = this.#writing.then(() => this.#update(content, etag, act));
    this.#writing = writing.catch(() => undefined);
    return writing;
  }

  async #update(content: string, etag: string, act: Act): Promise<SettingsFile> {
    const before = await this.#read();
    this.#requireCurrent(before, etag);
    const problem = await this.#whyNot(before);
    if (problem !== "") throw invalid("content", `cannot be written: ${problem}`);
    const problems = await this.#problemsOf(content, before);
    if (problems.length > 0) throw refusal(problems);
    const { text } = showSecrets(content, hideSecrets(before).secrets);
    await this.#record(act, before, text);
    await this.#write(text);
    await this.options.reload();
    if (this.options.version() !== versionOf(text)) {
      const late = this.options.problems();
      // What is refused after all must not stand there at the next start.
      await this.#write(before);
      await this.options.reload();
      throw invalid("content", `is refused: ${late.map(withoutSecrets).join("; ")}`);
    }
    return this.#shown();
  }

  async #shown(): Promise<SettingsFile> {
    const text = await this.#read();
    const version = versionOf(text);
    const problem = await this.#whyNot(text);
    return {
      name: this.#fileName,
      content: withoutSecrets(hideSecrets(text).text),
      etag: version,
      writable: problem === "",
      problem,
      inForce: version === this.options.version(),
    };
  }

  async #read(): Promise<string> {
    try {
      return await readFile(this.options.path, "utf8");
    } catch (cause) {
      throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "file", id: this.#fileName }, { cause });
    }
  }

  #requireCurrent(text: string, etag: string): void {
    if (etag !== versionOf(text)) throw stale("file", this.#fileName);
  }

  /** Empty where the file may be written here. */
  async #whyNot(text: string): Promise<string> {
    const { text: hidden } = hideSecrets(text);
    if (withoutSecrets(hidden) !== hidden) return HELD_ELSEWHERE;
    const nodes = await this.options.nodes();
    // The next call may reach another one, and what one of them has the others would lack.
    if (nodes > 1) return `${nodes} nodes serve, each by its own file: change it where they all get it from.`;
    try {
      const path = await realpath(this.options.path);
      await access(path, constants.W_OK);
      // Another file takes its place, which needs the directory.
      await access(dirname(path), constants.W_OK);
      return "";
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      return code === "EROFS"
        ? "It is on a file system that is read-only: change it where it comes from."
        : "The process may not write it or its directory: change it where it comes from.";
    }
  }

  /** What is wrong with a text, by the places of the text that a person has. */
  async #problemsOf(content: string, before: string): Promise<readonly SettingsProblem[]> {
    const { secrets } = hideSecrets(before);
    const { text, kept, unknown: lost, hiddenOffset } = showSecrets(content, secrets);
    if (lost.length > 0)
      return lost.map(({ offset, words }) =>
        problemAt(content, offset, `${words} stands for no secret of the file: write the secret itself`),
      );
    const whole = { text: before, kept: new Map(secrets.map((secret) => [secret.start, secret])) };
    const refused = takenRefusal({ text, kept }, whole, { families, sources: this.options.sources }, this.#fileName);
    try {
      if (refused !== undefined) throw refused;
      await checkSettingsText(text, this.options.env, this.#fileName);
      return [];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.problems.map((told) => {
        const [, line = "0", column = "0", problem = told] = LINE.exec(told) ?? [];
        if (line === "0") return { line: 0, column: 0, problem: withoutSecrets(problem) };
        const offset = hiddenOffset(offsetOf(text, Number(line), Number(column)));
        return problemAt(content, offset, withoutSecrets(problem));
      });
    }
  }

  /** Before the file is changed: what cannot be recorded is not done. */
  async #record(act: Act, before: string, text: string): Promise<void> {
    const change = changeOf({ before: { version: versionOf(before) }, after: { version: versionOf(text) } });
    await this.options.audit.append(eventOf(act, { resource: "settings/file", accountId: "", ...change }));
    markWritten(act);
  }

  async #write(text: string): Promise<void> {
    // A link stays one.
    const path = await realpath(this.options.path);
    const { mode } = await stat(path);
    try {
      await writeWhole(path, parts(text), mode & 0o777);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new GatewayError(
        "ERROR_REASON_PARAMETER_INVALID",
        { param: "content", problem: `cannot be written: ${why}` },
        { cause: error },
      );
    }
  }
}

/** Of a gateway that serves what its environment says. */
export class NoFile implements SettingsBoard {
  constructor(private readonly named: () => Promise<NamedSetting[]>) {}

  async show(): Promise<GetSettingsResponse> {
    return { file: undefined, named: await this.named() };
  }

  check(): Promise<never> {
    return Promise.reject(unknown("file", "settings"));
  }

  update(): Promise<never> {
    return Promise.reject(unknown("file", "settings"));
  }
}

async function* parts(text: string): AsyncGenerator<string> {
  yield text;
}

function refusal(problems: readonly SettingsProblem[]): GatewayError {
  const lines = problems.map(({ line, column, problem }) => (line === 0 ? problem : `${line}:${column} ${problem}`));
  return invalid("content", `is refused: ${lines.join("; ")}`);
}

function problemAt(text: string, offset: number, problem: string): SettingsProblem {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, problem };
}

function offsetOf(text: string, line: number, column: number): number {
  const before = text.split("\n").slice(0, line - 1);
  return before.reduce((sum, { length }) => sum + length + 1, 0) + column - 1;
}
