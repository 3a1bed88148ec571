/** How commands reach a running gateway: over gRPC, with an operator's key. */
import { CLIENT_HEADER } from "../api/request-headers.js";
import { resolve } from "node:path";
import { type ChannelCredentials, credentials } from "@grpc/grpc-js";
import { Cancellation } from "../base/cancellation.js";
import type { Command } from "commander";
import { answerToJson } from "../api/json.js";
import type { CallMetadata, Channel, Method } from "../api/channel.js";
import { GatewayError } from "../base/errors.js";
import { parseCoreAddress } from "../config/listen-address.js";
import { readTlsFiles } from "../config/tls.js";
import { createRemoteChannel } from "../rpc/transport/remote-channel.js";
import { CommandFailure } from "./failure.js";
import { type Named, type Names, namesOf } from "./names.js";
import { print } from "./print.js";

/** The options that each of these commands has. */
export interface ConnectionOptions {
  readonly gateway?: string;
  readonly key?: string;
  readonly json?: true;
}

const GATEWAY_DEFAULT = "127.0.0.1:8081";
const CALL_MS_MAX = 60_000;
const PAGE_SIZE_MAX = 1000;

/** Adds `--gateway`, `--key` and `--json` to a command that talks to a gateway. */
export function withConnection(command: Command): Command {
  return command
    .option(
      "--gateway <host:port>",
      `the gateway's gRPC address, with TLS grpcs://host:port (TOLLGATE_GATEWAY, or ${GATEWAY_DEFAULT})`,
    )
    .option("--key <key>", "the key to use (TOLLGATE_KEY, or TOLLGATE_OPERATOR_KEY); visible in the process list")
    .option("--json", "print JSON");
}

/** An open connection, for the time of one command. */
export interface Connection {
  call<Request, Response>(method: Method<Request, Response>, request: Request, timeoutMs?: number): Promise<Response>;
  /** Hands over each message of a stream, until the gateway or the person ends it. */
  watch<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    take: (message: Response) => void,
  ): Promise<void>;
  /** Prints the answer: as JSON where that was asked for, else as `text` says. */
  show<Request, Response>(
    method: Method<Request, Response>,
    answer: Response,
    text: (answer: Response) => string,
  ): void;
  /** The same with the names of what the rows name, which JSON does without. */
  showNamed<Request, Response>(
    method: Method<Request, Response>,
    answer: Response,
    rows: readonly Named[],
    text: (names: Names) => string,
  ): Promise<void>;
}

/** Runs a command with a connection and closes it on every way out. */
export async function connected(
  options: ConnectionOptions,
  run: (connection: Connection) => Promise<void>,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const key = options.key ?? (env["TOLLGATE_KEY"] || env["TOLLGATE_OPERATOR_KEY"]);
  if (!key)
    throw new CommandFailure(
      "no key: set TOLLGATE_OPERATOR_KEY to the key that the first start showed, or use --key",
      "usage",
    );
  if (!/^[\x21-\x7e]+$/.test(key)) throw new CommandFailure("the key holds characters that no key has", "usage");
  const address = options.gateway ?? (env["TOLLGATE_GATEWAY"] || GATEWAY_DEFAULT);
  const core = parseCoreAddress(address);
  if (core === undefined)
    throw new CommandFailure(
      `"${address}" is no host:port such as ${GATEWAY_DEFAULT} (--gateway, TOLLGATE_GATEWAY)`,
      "usage",
    );
  const channel = createRemoteChannel({
    address: core.address,
    credentials: core.isSecure ? () => secureCredentials(env) : undefined,
  });
  try {
    await run(new Client(channel, address, key, options.json === true));
  } finally {
    await channel.close();
  }
}

/** Trusts the system's authorities, or those of a file, and shows a certificate where one is named. */
function secureCredentials(env: NodeJS.ProcessEnv): ChannelCredentials {
  const path = (name: string): string | undefined => (env[name] ? resolve(env[name]) : undefined);
  const files = readTlsFiles({
    ca: path("TOLLGATE_GATEWAY_CA"),
    cert: path("TOLLGATE_GATEWAY_CERT"),
    key: path("TOLLGATE_GATEWAY_KEY"),
  });
  return credentials.createSsl(files.ca ?? null, files.key ?? null, files.cert ?? null);
}

class Client implements Connection {
  private readonly metadata: CallMetadata;

  constructor(
    private readonly channel: Channel,
    private readonly address: string,
    key: string,
    private readonly json: boolean,
  ) {
    this.metadata = { authorization: `Bearer ${key}`, [CLIENT_HEADER]: "cli" };
  }

  async call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs: number = CALL_MS_MAX,
  ): Promise<Response> {
    const options = {
      metadata: this.metadata,
      signal: new Cancellation(),
      timeoutMs,
    };
    try {
      return (await this.channel.unary(method, request, options)).message;
    } catch (error) {
      throw this.failureOf(error);
    }
  }

  async watch<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    take: (message: Response) => void,
  ): Promise<void> {
    const { metadata } = this;
    const data = (message: Response): boolean => {
      take(message);
      return true;
    };
    try {
      const sink = { head: () => undefined, data, onDrain: () => undefined };
      await this.channel.stream(method, request, { metadata, signal: new Cancellation() }, sink);
    } catch (error) {
      throw this.failureOf(error);
    }
  }

  show<Request, Response>(
    method: Method<Request, Response>,
    answer: Response,
    text: (answer: Response) => string,
  ): void {
    print(this.json ? JSON.stringify(answerToJson(method, answer), null, 2) : text(answer));
  }

  async showNamed<Request, Response>(
    method: Method<Request, Response>,
    answer: Response,
    rows: readonly Named[],
    text: (names: Names) => string,
  ): Promise<void> {
    const names = this.json ? undefined : await namesOf(this, rows);
    this.show(method, answer, () => (names === undefined ? "" : text(names)));
  }

  /**
   * A refusal by the gateway speaks for itself; one with a cause was made on our side, so what is there is something
   * else.
   */
  private failureOf(error: unknown): unknown {
    if (!(error instanceof GatewayError) || !(error.cause instanceof Error)) return error;
    const hint = `start one with "tollgate serve", or say where it is with --gateway or TOLLGATE_GATEWAY`;
    const message =
      error.reason === "ERROR_REASON_OVERLOADED"
        ? `no gateway answers at ${this.address}: ${hint}`
        : `${this.address} does not answer as a gateway's gRPC address: ${error.cause.message}`;
    return new CommandFailure(message, "unavailable", { cause: error });
  }
}

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextPageToken: string;
}

/** Reads pages until the list ends or holds `limit` items. */
export async function readPages<Item>(
  limit: number,
  readPage: (pageSize: number, pageToken: string) => Promise<Page<Item>>,
): Promise<{ items: Item[]; nextPageToken: string }> {
  const items: Item[] = [];
  let nextPageToken = "";
  do {
    const page = await readPage(Math.min(limit - items.length, PAGE_SIZE_MAX), nextPageToken);
    items.push(...page.items);
    nextPageToken = page.nextPageToken;
  } while (nextPageToken !== "" && items.length < limit);
  return { items, nextPageToken };
}
