/** The log: JSON lines, one a request, in which no secret can appear. */
import { inspect } from "node:util";
import pino from "pino";
import { withoutSecrets } from "../base/redaction.js";

export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

const GATHERED_CHARACTERS = 65_536;
const FLUSH_MS = 100;

/** A log that writes to standard output, or to the file that is named. Every string in it passes the redaction. */
export function createLog(level: string, file: number | string = 1): Log & { flush(): void } {
  const destination = pino.destination({ dest: file, sync: false });
  const lines = new GatheredLines(destination);
  const least = pino.levels.values[level] ?? Infinity;
  const writer = (label: string): Log["info"] => {
    if ((pino.levels.values[label] ?? 0) < least) return () => {};
    return (fields, message) => lines.write(withoutSecrets(logLine(label, fields, message)));
  };
  const flush = (): void => {
    lines.passOn();
    destination.flushSync();
  };
  process.once("exit", flush);
  return { debug: writer("debug"), info: writer("info"), warn: writer("warn"), error: writer("error"), flush };
}

/** One line, as the logger of the destination's package writes it, at half of its cost: there is one a request. */
function logLine(level: string, fields: LogFields, message: string): string {
  const told = fields["err"] !== undefined ? { ...fields, err: describeError(fields["err"]) } : fields;
  const members = jsonOf(told).slice(1, -1);
  return `{"level":"${level}"${isoTime()}${members === "" ? "" : ","}${members},"msg":${JSON.stringify(message)}}\n`;
}

/** What JSON has no word for, and what holds itself, must not cost the line. */
function jsonOf(fields: LogFields): string {
  try {
    return JSON.stringify(fields);
  } catch {
    const plain = Object.entries(fields).map(([name, value]) => [name, inspect(value, { breakLength: Infinity })]);
    return JSON.stringify(Object.fromEntries(plain));
  }
}

/**
 * Lines on their way to a file, many in one write, since a write costs as much as a request's bytes to its client. The
 * destination could gather as well, but copies all that it has with each line.
 */
export class GatheredLines {
  #text = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly destination: { write(text: string): unknown }) {}

  write(line: string): void {
    this.#text += line;
    if (this.#text.length >= GATHERED_CHARACTERS) this.passOn();
    else this.#timer ??= setTimeout(() => this.passOn(), FLUSH_MS).unref();
  }

  /** Hands on what is there. */
  passOn(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#text === "") return;
    const text = this.#text;
    this.#text = "";
    this.destination.write(text);
  }
}

let second = 0;
let secondText = "";

/** The time as a field of a line. The lines of one second share all of it but its thousandths. */
function isoTime(): string {
  const nowMs = Date.now();
  const thousandths = nowMs % 1_000;
  if (nowMs - thousandths !== second) {
    second = nowMs - thousandths;
    secondText = `,"time":"${new Date(second).toISOString().slice(0, -"000Z".length)}`;
  }
  return `${secondText}${String(thousandths).padStart(3, "0")}Z"`;
}

/** An error with its causes, at most five deep. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return String(error);
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    ...(error.cause !== undefined && depth < 5 ? { cause: describeError(error.cause, depth + 1) } : {}),
  };
}
