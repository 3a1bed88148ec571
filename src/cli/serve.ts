/** `tollgate serve`: runs the gateway until it is told to stop. */
import type { Command } from "commander";
import { readEnvironment } from "../config/environment.js";
import { beginThread } from "../base/threads.js";
import { stopSignal } from "../serve/stop-signal.js";
import { announceServing, leaveWorkers, serveByWorkers, workerPart } from "../serve/workers.js";
import { readVersion } from "./version.js";

export function addServeCommand(program: Command): void {
  program
    .command("serve")
    .summary("run the gateway (its settings: tollgate serve --help)")
    .description("Run the gateway until SIGTERM or SIGINT, then finish the running requests and stop.")
    .option("--demo", "print a first request to try; without an upstream of your own, also create a key with credit")
    .option(
      "--accept-loss",
      "start once although data is missing from the data directory, and record that in the ledger",
    )
    .option("--accept-clock", "start once with the machine's clock although the stored data has later times")
    .addHelpText("after", VARIABLES)
    .action(serve);
}

const VARIABLES = `
Environment:
  TOLLGATE_HTTP, TOLLGATE_GRPC  listen addresses (127.0.0.1:8080, 127.0.0.1:8081; "off" for none)
  TOLLGATE_CONFIG               the settings file (tollgate.yaml, if it exists)
  TOLLGATE_DATA                 the directory of the database and of generated secrets (./data)
  TOLLGATE_CORE                 run only the HTTP front end, with the core at this host:port
  TOLLGATE_OPERATOR_KEY         the operator's key (generated at the first start, shown once)
  TOLLGATE_SECRET               the root secret (generated at the first start, in TOLLGATE_DATA)
  TOLLGATE_LOG_LEVEL            trace, debug, info, warn, error, or silent (info)
  OPENAI_API_KEY, ...           serve the models of this family without a settings file

Example:
  TOLLGATE_HTTP=0.0.0.0:8080 tollgate serve`;

async function serve(options: { demo?: true; acceptLoss?: true; acceptClock?: true }): Promise<void> {
  if (await serveByWorkers()) return;
  const { demo = false, acceptLoss = false, acceptClock = false } = options;
  beginThreads();
  // What serves is loaded only here, so that every other command starts at once.
  if (workerPart() === "owner") {
    const { own } = await import("../serve/owner.js");
    await own({ demo, acceptLoss, acceptClock, onServing: announceServing, untilStopped: stopSignal });
    leaveWorkers();
    return;
  }
  const main = await import("../main.js");
  await main.serve({ demo, acceptLoss, acceptClock, version: readVersion() });
}

/** The threads that this process will need load their code while it loads its own. */
function beginThreads(): void {
  const { core, databaseUrl } = readEnvironment(process.env);
  if (core !== undefined || workerPart() === "owned") return;
  if (databaseUrl === undefined) beginThread("ledger");
  beginThread("records");
}
