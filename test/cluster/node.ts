/** One node: the built gateway as a process, which can be killed, suspended, told another time, and started again. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { OPERATOR_KEY } from "../support/gateway-process.js";
import { programOf } from "../support/program.js";

const START_MS = 60_000;
const CLOCK = new URL("../support/clock-jump.mjs", import.meta.url).href;
const ENDS_WITH_PARENT = new URL("../support/ends-with-parent.mjs", import.meta.url).href;
/** So many lines of its log are kept. */
const LINES_MAX = 5_000;

export interface NodeOptions {
  readonly name: string;
  readonly directory: string;
  readonly settings: string;
  readonly env: Readonly<Record<string, string>>;
  /** The build that it runs: the directory with `dist` in it. */
  readonly build: string;
  /** What runs it in another place, such as a network namespace. */
  readonly within: readonly string[];
  /** Where it listens. */
  readonly host: string;
  /** Serves gRPC as well. */
  readonly hasGrpc: boolean;
}

export class GatewayNode {
  readonly name: string;
  /** Such as http://127.0.0.1:40123; empty before the first start. */
  url = "";
  admin = "";
  /** Such as 127.0.0.1:40124; empty where it is off. */
  grpc = "";
  readonly log: string[] = [];
  #options: NodeOptions;
  #child: ChildProcess | undefined;
  #pid = 0;

  constructor(options: NodeOptions) {
    this.name = options.name;
    this.#options = options;
    mkdirSync(options.directory, { recursive: true });
    this.writeSettings(options.settings);
    writeFileSync(join(options.directory, "clock"), "0");
  }

  /** Of the process that was started, which may have others. */
  get pid(): number {
    return this.#pid;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /** Resolves once it is ready. It takes the same ports as before. */
  async start(build = this.#options.build): Promise<void> {
    const { directory, env, within, host, hasGrpc } = this.#options;
    this.#options = { ...this.#options, build };
    const port = (address: string): string => (address === "" ? "0" : (address.split(":").at(-1) ?? "0"));
    const loaded = ["--import", ENDS_WITH_PARENT, "--import", CLOCK];
    const [program = "", ...args] = [...within, process.execPath, ...loaded, programOf(build), "serve"];
    const child = spawn(program, args, {
      stdio: ["pipe", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"] ?? "",
        TOLLGATE_HTTP: `${host}:${port(this.url)}`,
        TOLLGATE_GRPC: hasGrpc ? `${host}:${port(this.grpc)}` : "off",
        TOLLGATE_ADMIN: `${host}:${port(this.admin)}`,
        TOLLGATE_LAME_DUCK_MS: "1000",
        // Nodes, servers and callers share one machine.
        TOLLGATE_LOAD_SHEDDING: "off",
        TOLLGATE_DATA: join(directory, "data"),
        TOLLGATE_CONFIG: join(directory, "tollgate.yaml"),
        TOLLGATE_OPERATOR_KEY: OPERATOR_KEY,
        TOLLGATE_SECRET: "the root secret of all nodes of this test",
        CLOCK_JUMP: join(directory, "clock"),
        ...env,
      },
    });
    this.#child = child;
    child.once("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    const ready = await this.#ready(child);
    this.url = `http://${ready.http}`;
    this.admin = ready.admin;
    this.grpc = ready.grpc ?? "";
    this.#pid = ready.pid;
  }

  /** Ends it as an operator would; resolves with its exit code. */
  stop(): Promise<number | null> {
    return this.#end("SIGTERM");
  }

  /** Ends it as a crash would. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  suspend(): void {
    process.kill(this.#pid, "SIGSTOP");
  }

  resume(): void {
    process.kill(this.#pid, "SIGCONT");
  }

  /** Sets its time of day so many milliseconds off. */
  setClock(offMs: number): void {
    writeFileSync(join(this.#options.directory, "clock"), String(offMs));
    process.kill(this.#pid, "SIGUSR2");
  }

  writeSettings(text: string): void {
    writeFileSync(join(this.#options.directory, "tollgate.yaml"), text);
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (child === undefined) return null;
    const exited = once(child, "exit");
    // Within a namespace the child is `ip` until it becomes the node; the node said its own number.
    process.kill(this.#pid, signal);
    await exited;
    return child.exitCode;
  }

  async #ready(child: ChildProcess): Promise<Ready & { readonly pid: number }> {
    const timer = setTimeout(() => child.kill("SIGKILL"), START_MS);
    const keep = (line: string): void => {
      this.log.push(line);
      if (this.log.length > LINES_MAX) this.log.splice(0, LINES_MAX / 2);
    };
    const { stdout, stderr } = child;
    if (stdout === null || stderr === null) throw new Error("the node's output is not read");
    createInterface({ input: stderr }).on("line", keep);
    try {
      return await new Promise((resolve, reject) => {
        createInterface({ input: stdout }).on("line", (line) => {
          keep(line);
          const entry: unknown = line.startsWith("{") ? JSON.parse(line) : undefined;
          if (isReady(entry)) resolve({ ...entry, pid: child.pid ?? 0 });
        });
        child.once("exit", (code) =>
          reject(new Error(`${this.name} ended with ${code}: ${this.log.slice(-10).join("\n")}`)),
        );
      });
    } finally {
      clearTimeout(timer);
    }
  }
}

interface Ready {
  readonly http: string;
  readonly admin: string;
  readonly grpc?: string;
}

function isReady(entry: unknown): entry is Ready {
  return typeof entry === "object" && entry !== null && "msg" in entry && entry.msg === "ready";
}
