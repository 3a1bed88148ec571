/**
 * Runs commands of a program one after the other, each as a process of its own would: with its arguments, its
 * environment and its directory, and with an exit code. `node many-commands.mjs PROGRAM`, and a message for each.
 */
import { pathToFileURL } from "node:url";

const [, , program = ""] = process.argv;
const startDirectory = process.cwd();
const end = process.exit.bind(process);
let last = Promise.resolve();
let count = 0;

// It would end the commands that follow as well; the program calls it as its last act.
process.exit = () => undefined;
// The program listens for a reader that leaves, each time.
process.stdout.setMaxListeners(0);
process.on("disconnect", () => end());
process.on("message", (command) => (last = last.then(() => run(command))));

async function run({ args, env, directory }) {
  const said = { stdout: [], stderr: [] };
  for (const name of Object.keys(said))
    process[name].write = (chunk) => {
      said[name].push(Buffer.from(chunk));
      return true;
    };
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(directory ?? startDirectory);
  process.argv.splice(2, Infinity, ...args);
  process.exitCode = undefined;
  // The main file alone is loaded anew: it reads the arguments.
  await import(`${pathToFileURL(program).href}?command=${(count += 1)}`);
  const text = (name) => Buffer.concat(said[name]).toString();
  process.send({ code: process.exitCode ?? 0, stdout: text("stdout"), stderr: text("stderr") });
}
