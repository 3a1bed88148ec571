/** Reads texts of settings beside the event loop, each in a thread that has bounds of time and memory. */
import { Worker } from "node:worker_threads";
import { ConfigError } from "../config/config-error.js";
import { type LateProblem, type SettingsFile, versionOf } from "../config/file.js";
import { textsOfFile } from "../config/included.js";
import { GatewayError } from "../base/errors.js";
import { threadEntry } from "../base/package-root.js";
import type { CheckedEdit, Edit, SettingsAnswer, SettingsQuestion } from "./settings-edit.js";

/** A text of 1 MiB takes some seconds, and ten times that where much else runs. */
const ANSWER_MS_MAX = 60_000;
/** Most of it is what is publicly known of models; a text takes a few tens of MB. */
const HEAP_MB = { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 32 };
/** People look at settings and check them now and then. */
const WAITING_MAX = 16;
const TOO_MUCH = "takes too much time or memory to read: write it shorter, with fewer aliases and merges";

/** Makes a thread that answers one question. */
export type MakeThread = (question: SettingsQuestion) => Worker;

const makeThread: MakeThread = (question) =>
  // Flags of this process, such as a test runner's loaders, are not the thread's.
  new Worker(threadEntry("settings-thread"), {
    workerData: question,
    resourceLimits: HEAP_MB,
    execArgv: [],
    name: "settings",
  });

export class SettingsThread {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(
    private readonly make: MakeThread = makeThread,
    private readonly answerMsMax = ANSWER_MS_MAX,
  ) {}

  /** The text with words in the place of its secrets. Rejects with OVERLOADED. */
  async hide(text: string): Promise<string> {
    const answer = await this.#ofClient({ kind: "hide", text });
    if (answer.kind === "hidden") return answer.text;
    throw overloaded(answer.kind === "refused" ? answer.problems.join("; ") : answer.kind);
  }

  /** Rejects with OVERLOADED. */
  async check(edit: Edit): Promise<CheckedEdit> {
    const answer = await this.#ofClient({ kind: "check", edit });
    if (answer.kind === "checked") return answer.edit;
    const problems = answer.kind === "refused" ? answer.problems : [answer.kind];
    return { problems: problems.map((problem) => ({ line: 0, column: 0, problem })), models: [], whole: "" };
  }

  /** Reads the file at a path as `readSettingsFile` does. Rejects with a ConfigError. */
  async read(path: string, env: NodeJS.ProcessEnv, fileName: string): Promise<SettingsFile> {
    const source = { texts: textsOfFile(path, fileName), env: { ...env } };
    const ask = async (late: readonly LateProblem[]) => {
      const answer = await this.#ask({ kind: "read", source, late });
      if (answer.kind === "read") return answer.file;
      return new ConfigError(answer.kind === "refused" ? answer.problems : [answer.kind]);
    };
    const file = await ask([]);
    if (file instanceof ConfigError) throw file;
    const refusal = async (late: readonly LateProblem[]): Promise<ConfigError> => {
      const refused = await ask(late);
      return refused instanceof ConfigError ? refused : new ConfigError(late.map(({ rule }) => rule));
    };
    return { ...file, version: versionOf(source.texts), refusal };
  }

  async #ofClient(question: SettingsQuestion): Promise<SettingsAnswer> {
    if (this.#waiting >= WAITING_MAX) throw overloaded("too many texts of settings wait to be read");
    return this.#ask(question);
  }

  /** One after the other, so that all together take the memory of one. */
  #ask(question: SettingsQuestion): Promise<SettingsAnswer> {
    this.#waiting += 1;
    const answer = this.#last.then(() => this.#answer(question));
    this.#last = answer.then(
      () => void (this.#waiting -= 1),
      () => void (this.#waiting -= 1),
    );
    return answer;
  }

  /** A text that takes more than its bounds is refused. */
  async #answer(question: SettingsQuestion): Promise<SettingsAnswer> {
    const thread = this.make(question);
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<SettingsAnswer>((resolve, reject) => {
        const refuse = (): void => resolve({ kind: "refused", problems: [TOO_MUCH] });
        timer = setTimeout(refuse, this.answerMsMax);
        thread.once("message", resolve);
        thread.once("error", (error) => (isOutOfMemory(error) ? refuse() : reject(error)));
        thread.once("exit", () => reject(new Error("the thread of settings ended without an answer")));
      });
    } finally {
      clearTimeout(timer);
      // What still runs ends here; a late error has nobody to hear it.
      thread.on("error", () => undefined);
      await thread.terminate();
    }
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}

function overloaded(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem });
}
