/** Installs the agent that a smoke runs; ends with 1 where the registry does not give it. */
import { installOneAgent } from "./installation.mjs";

try {
  installOneAgent(new URL("./", import.meta.url));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
