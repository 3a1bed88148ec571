/** Commands of `tollgate` as `command.ts` runs them, but all of a test file in one process. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { afterAll } from "vitest";
import { type CommandResult, environmentOf, THIS_BUILD } from "./command.js";
import { programOf } from "./program.js";

const MANY_COMMANDS = new URL("./many-commands.mjs", import.meta.url);

/**
 * Runs them in one process for a whole test file, one after the other: for tests of what commands do and say, since
 * most of what a command costs is the start of its process. It ends behind the file's tests.
 */
export function commandsOfOneProcess(): (
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
  directory?: string,
) => Promise<CommandResult> {
  let child: ChildProcess | undefined;
  let last: Promise<unknown> = Promise.resolve();
  afterAll(async () => {
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.disconnect();
    await ended;
  });
  return (args, env = {}, directory) => {
    const result = last.then(async () => {
      const running = (child ??= fork(MANY_COMMANDS, [programOf(THIS_BUILD)], { execArgv: [] }));
      const stopped = new AbortController();
      const gone = once(running, "exit", { signal: stopped.signal }).then(([code]) => {
        throw new Error(`tollgate ${args.join(" ")} ended the process of all commands with ${String(code)}`);
      });
      const answered = once(running, "message", { signal: stopped.signal });
      running.send({ args, env: environmentOf(env), directory });
      try {
        const [answer] = (await Promise.race([answered, gone])) as [CommandResult];
        return answer;
      } finally {
        stopped.abort();
        await Promise.allSettled([answered, gone]);
      }
    });
    last = result.catch(() => undefined);
    return result;
  };
}
