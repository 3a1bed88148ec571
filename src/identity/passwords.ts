/** Passwords as argon2id hashes, made and compared away from the event loop and a few at a time. */
import { invalid } from "../api/check.js";
import { GatewayError } from "../base/errors.js";

/** What OWASP asks for: 19 MiB and two passes, about 30 ms of one core. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Each takes its memory while it runs. */
const RUNNING_MAX = 2;
const WAITING_MAX = 64;
const LENGTH_MIN = 10;
const LENGTH_MAX = 256;

/** What hashes and compares. */
export interface Hashing {
  hash(password: string, cost: typeof COST): Promise<string>;
  verify(stored: string, password: string): Promise<boolean>;
}

export class Passwords {
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  /** What a password is compared with where nobody has one, so that it takes the same time. */
  #nobody: Promise<string> | undefined;

  constructor(private readonly hashing: () => Promise<Hashing> = argon2) {}

  /** Throws PARAMETER_INVALID where the password will not do. */
  require(password: string, email: string, param = "password"): void {
    const length = Array.from(password).length;
    if (length < LENGTH_MIN || length > LENGTH_MAX)
      throw invalid(param, `must have ${LENGTH_MIN} to ${LENGTH_MAX} characters`);
    if (password.toLowerCase() === email) throw invalid(param, "must be another text than the e-mail address");
    if (new Set(password).size < 3) throw invalid(param, "must have more different characters");
  }

  /** Rejects with OVERLOADED where too many wait. */
  hash(password: string): Promise<string> {
    return this.#queued(async () => (await this.hashing()).hash(normal(password), COST));
  }

  /** False also where there is no hash, after the same time. */
  async verify(stored: string | null | undefined, password: string): Promise<boolean> {
    const against = stored ?? (await (this.#nobody ??= this.hash("a password that nobody has")));
    const given = password.length > LENGTH_MAX * 4 ? "" : normal(password);
    const fits = await this.#queued(async () => (await this.hashing()).verify(against, given));
    return fits && typeof stored === "string";
  }

  async #queued<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= RUNNING_MAX) {
      if (this.#waiting.length >= WAITING_MAX)
        throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "too many people sign in at once" });
      // Whoever ends leaves its place to the next, so that nobody comes in between.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

/** Loaded where the first person signs in: a gateway that has none needs none of it. */
function argon2(): Promise<typeof import("@node-rs/argon2")> {
  return import("@node-rs/argon2");
}

/** One spelling of the same characters, whatever keyboard wrote them. */
function normal(password: string): string {
  return password.normalize("NFKC");
}
