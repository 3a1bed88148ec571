/** The gateway as a client of each issuer: what the issuer says of itself is asked for once an hour, when needed. */
import type { IssuerSettings } from "../../config/settings.js";
import type { Configuration } from "openid-client";
import { GatewayError } from "../../base/errors.js";
import { boundedFetch, FETCH_MS } from "./bounded-fetch.js";
import { failed } from "./issuer.js";

export type OidcLibrary = typeof import("openid-client");

/** The gateway as a client of one issuer. */
export interface OidcClient {
  readonly library: OidcLibrary;
  readonly configuration: Configuration;
}

interface Known {
  /** Undefined before the first look. */
  client: Promise<OidcClient> | undefined;
  /** Until when it holds. */
  untilMs: number;
  /** How far the machine's clock was ahead when it was made. */
  skewMs: number;
  /** Sign-ins that ask the issuer now. */
  running: number;
}

const KNOWN_MS = 3_600_000;
/** One that is away is not asked for each person who tries. */
const FAILED_MS = 3_000;
/** What a token's times may be off by anyway. */
const SKEW_MS = 5_000;
/** A slow issuer keeps so many sign-ins waiting, and nobody else. */
const RUNNING_MAX = 32;

export class OidcClients {
  /** By the settings of the issuer, which are others after a reload. */
  readonly #known = new WeakMap<IssuerSettings, Known>();

  constructor(
    private readonly nowMs: () => number,
    /** Hears why an issuer failed, for the operator. */
    private readonly onFailed: (issuer: IssuerSettings, error: Error) => void,
    /** How far the machine's clock, by which the library judges tokens, is ahead of the time of the store. */
    private readonly skewMs: () => number = () => 0,
  ) {}

  /** Does something with the issuer. Rejects with OVERLOADED, or ISSUER_FAILED where it says nothing of itself. */
  async use<Result>(issuer: IssuerSettings, work: (client: OidcClient) => Promise<Result>): Promise<Result> {
    const known = this.#of(issuer);
    if (known.running >= RUNNING_MAX)
      throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "too many people sign in there at once" });
    known.running += 1;
    try {
      return await work(await this.#client(issuer, known));
    } finally {
      known.running -= 1;
    }
  }

  #of(issuer: IssuerSettings): Known {
    let known = this.#known.get(issuer);
    if (known === undefined)
      this.#known.set(issuer, (known = { client: undefined, untilMs: 0, skewMs: 0, running: 0 }));
    return known;
  }

  #client(issuer: IssuerSettings, known: Known): Promise<OidcClient> {
    const [nowMs, skewMs] = [this.nowMs(), this.skewMs()];
    const isOfNow = known.untilMs > nowMs && Math.abs(known.skewMs - skewMs) <= SKEW_MS;
    if (known.client !== undefined && isOfNow) return known.client;
    known.untilMs = nowMs + KNOWN_MS;
    known.skewMs = skewMs;
    known.client = discover(issuer, skewMs).catch((error: unknown) => {
      known.untilMs = this.nowMs() + FAILED_MS;
      throw this.failed(issuer, error);
    });
    return known.client;
  }

  /** What the person is told of a failure, whose cause the operator hears. */
  failed(issuer: IssuerSettings, error: unknown): GatewayError {
    const cause = plainError(error);
    this.onFailed(issuer, cause);
    return failed(issuer, cause);
  }
}

/** Rejects with whatever the library throws. */
async function discover(issuer: IssuerSettings, skewMs: number): Promise<OidcClient> {
  // Loaded where somebody signs in so: a gateway without an issuer needs none of it.
  const library = await import("openid-client");
  const address = new URL(issuer.issuer);
  const isPlain = address.protocol === "http:";
  const allow = isPlain ? [library.allowInsecureRequests] : [];
  const found = await library.discovery(address, issuer.clientId, undefined, library.None(), {
    execute: allow,
    timeout: FETCH_MS / 1_000,
    [library.customFetch]: boundedFetch,
  });
  const about = found.serverMetadata();
  requireAddress("authorization_endpoint", about.authorization_endpoint, isPlain);
  requireAddress("token_endpoint", about.token_endpoint, isPlain);
  requireAddress("jwks_uri", about.jwks_uri, isPlain);
  const methods = about.token_endpoint_auth_methods_supported;
  const { clientSecret } = issuer;
  const secret =
    methods === undefined || methods.includes("client_secret_basic") ? "ClientSecretBasic" : "ClientSecretPost";
  const shown = clientSecret === undefined ? library.None() : library[secret](clientSecret);
  const metadata = { [library.clockSkew]: -Math.round(skewMs / 1_000) };
  const configuration = new library.Configuration(about, issuer.clientId, metadata, shown);
  configuration.timeout = FETCH_MS / 1_000;
  configuration[library.customFetch] = boundedFetch;
  for (const rule of [...allow, library.enableNonRepudiationChecks]) rule(configuration);
  return { library, configuration };
}

/** A browser is sent there, or a secret: another scheme could be a script. */
function requireAddress(name: string, address: string | undefined, isPlain: boolean): void {
  const protocol = address !== undefined && URL.canParse(address) ? new URL(address).protocol : "";
  if (protocol !== "https:" && !(isPlain && protocol === "http:"))
    throw new Error(`its ${name} is no https:// address`);
}

/** What an error says of itself and of its causes. What came with it may hold tokens, and goes no further. */
export function plainError(error: unknown): Error {
  const said: string[] = [];
  for (let cause: unknown = error; cause instanceof Error && said.length < 4; cause = cause.cause) {
    const code: unknown = Reflect.get(cause, "code");
    said.push(typeof code === "string" ? `${cause.message} (${code})` : cause.message);
  }
  return new Error(said.join(": ") || "unknown");
}
