/** The settings file as operators see it and change it without a shell. */
import { constants } from "node:fs";
import { access, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { invalid, stale, unknown } from "../api/check.js";
import type {
  CheckSettingsResponse,
  GetSettingsResponse,
  NamedSetting,
  SettingsFile,
  SettingsProblem,
} from "../api/index.js";
import { type Act, eventOf, markWritten } from "../audit/act.js";
import { changeOf } from "../audit/snapshot.js";
import { ConfigError } from "../config/config-error.js";
import { versionOf } from "../config/file.js";
import { type SettingsText, textsWith } from "../config/included.js";
import { GatewayError } from "../base/errors.js";
import { withoutSecrets } from "../base/redaction.js";
import type { SettingsBoard } from "../rpc/call/core.js";
import type { AuditStore } from "../store/store.js";
import type { CheckedEdit } from "./settings-edit.js";
import type { SettingsThread } from "./settings-thread.js";
import { writeWhole } from "./whole-file.js";

export interface SettingsBoardOptions {
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
  readonly thread: SettingsThread;
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

/** Of more models what they are sold at is not told. */
const MODELS_MAX = 1_000;
const HELD_ELSEWHERE =
  "It holds what looks like a secret outside of api_key and secret: put that into the environment, as ${NAME}.";

export class FileBoard implements SettingsBoard {
  readonly #fileName: string;
  #writing: Promise<unknown> = Promise.resolve();
  #shownLast: { readonly version: string; readonly text: string } | undefined;

  constructor(private readonly options: SettingsBoardOptions) {
    this.#fileName = basename(options.path);
  }

  async show(): Promise<GetSettingsResponse> {
    return { file: await this.#shown(), named: await this.options.named() };
  }

  async check(content: string, etag: string): Promise<CheckSettingsResponse> {
    const before = await this.#read();
    this.#requireCurrent(before, etag);
    const { problems, models } = await this.#checked(content, before);
    return { problems: [...problems], models: models.slice(0, MODELS_MAX) };
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
    const { problems, whole: text } = await this.#checked(content, before);
    if (problems.length > 0) throw refusal(problems);
    await this.#record(act, before, text);
    await this.#write(text);
    await this.options.reload();
    if (!this.#isInForce(text)) {
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
    const problem = await this.#whyNot(text);
    return {
      name: this.#fileName,
      content: withoutSecrets(await this.#hidden(text)),
      etag: etagOf(text),
      writable: problem === "",
      problem,
      inForce: this.#isInForce(text),
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
    if (etag !== etagOf(text)) throw stale("file", this.#fileName);
  }

  /** Empty where the file may be written here. */
  async #whyNot(text: string): Promise<string> {
    const hidden = await this.#hidden(text);
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

  /** What is wrong with a text, and what its models would be sold at. */
  async #checked(text: string, before: string): Promise<CheckedEdit> {
    const { thread, env, sources } = this.options;
    const [main = this.#text(text), ...included] = this.#textsWith(text);
    const checked = await thread.check({ text: main, included, before, env: { ...env }, sources });
    const problems = checked.problems.map((one) => ({ ...one, problem: withoutSecrets(one.problem) }));
    return { ...checked, problems };
  }

  /** The text without its secrets; of the same file it is made once. */
  async #hidden(text: string): Promise<string> {
    const version = etagOf(text);
    if (this.#shownLast?.version !== version) this.#shownLast = { version, text: await this.options.thread.hide(text) };
    return this.#shownLast.text;
  }

  #isInForce(text: string): boolean {
    try {
      return versionOf(this.#textsWith(text)) === this.options.version();
    } catch {
      return false;
    }
  }

  /** The text, and those of the files that it includes. Throws PARAMETER_INVALID where one cannot be read. */
  #textsWith(text: string): readonly SettingsText[] {
    try {
      return textsWith(this.#text(text), this.options.path);
    } catch (error) {
      if (error instanceof ConfigError) throw invalid("content", `is refused: ${error.problems.join("; ")}`);
      throw error;
    }
  }

  #text(text: string): SettingsText {
    return { name: this.#fileName, text };
  }

  /** Before the file is changed: what cannot be recorded is not done. */
  async #record(act: Act, before: string, text: string): Promise<void> {
    const change = changeOf({ before: { version: etagOf(before) }, after: { version: etagOf(text) } });
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

/** Names the text of the file alone. */
function etagOf(text: string): string {
  return versionOf([{ name: "", text }]);
}

async function* parts(text: string): AsyncGenerator<string> {
  yield text;
}

function refusal(problems: readonly SettingsProblem[]): GatewayError {
  const lines = problems.map(({ line, column, problem }) => (line === 0 ? problem : `${line}:${column} ${problem}`));
  return invalid("content", `is refused: ${lines.join("; ")}`);
}
