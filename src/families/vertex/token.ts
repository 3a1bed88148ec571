/** Google's token: fetched before the first request, renewed beside those that run, and otherwise only handed out. */
import { readFileSync } from "node:fs";
import type { JWTInput } from "google-auth-library";
import { z } from "zod";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
/** A token is renewed while so much of its hour is left. */
const RENEW_MS = 300_000;
/** The library renews a token that has less left than this: more than we wait for. */
const STALE_MS = 600_000;
/** Where the library asks, whatever the key says. */
const TOKEN_URL = "https://oauth2.googleapis.com/token";

const keySchema = z.looseObject({
  type: z.literal("service_account"),
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  token_uri: z.string().startsWith("http").default(TOKEN_URL),
});

/** A service account's key. */
export type GoogleKey = z.output<typeof keySchema>;

/**
 * A service account's key, given as JSON or as the path of a file; undefined where none is given. Throws an Error that
 * says what is wrong and quotes nothing of the key.
 */
export function readCredential(credential: string | undefined): GoogleKey | undefined {
  if (credential === undefined) return undefined;
  let text: string;
  try {
    text = credential.trimStart().startsWith("{") ? credential : readFileSync(credential, "utf8");
  } catch {
    throw new Error("its api_key is neither JSON nor the path of a file that can be read");
  }
  let key: unknown;
  try {
    key = JSON.parse(text);
  } catch {
    throw new Error("its api_key holds no JSON");
  }
  const read = keySchema.safeParse(key);
  if (!read.success)
    throw new Error(`its api_key is no service account's key: ${read.error.issues[0]?.path.join(".")}`);
  return read.data;
}

type Headers = Readonly<Record<string, string>>;

/** What the library's clients can do, as far as it is used. */
interface TokenClient {
  getAccessToken(): Promise<{ token?: string | null }>;
  readonly credentials: { expiry_date?: number | null };
}

export class GoogleToken {
  #headers: Headers | undefined;
  #expiresMs = -Infinity;
  #client: Promise<TokenClient> | undefined;
  /** The token that is on its way. */
  #renewal: Promise<Headers> | undefined;

  constructor(
    private readonly key: GoogleKey | undefined,
    /** The time of day, in which a token's end is told. */
    private readonly nowMs: () => number,
    /** The clock of its life, which no setting of the time changes. */
    private readonly monotonicMs: () => number,
  ) {}

  /** The header of a request; at once while there is a token. Rejects where none can be had. */
  headers(): Headers | Promise<Headers> {
    const leftMs = this.#expiresMs - this.monotonicMs();
    const isAtHand = this.#headers !== undefined && leftMs > 0;
    if (leftMs < RENEW_MS && this.#renewal === undefined) {
      this.#renewal = this.#fetch().finally(() => {
        this.#renewal = undefined;
      });
      // Whoever waits hears of a failure; one beside a token that still holds is tried again with the next request.
      this.#renewal.catch(() => undefined);
    }
    return isAtHand ? (this.#headers ?? {}) : (this.#renewal ?? {});
  }

  async #fetch(): Promise<Headers> {
    this.#client ??= tokenClient(this.key);
    const client = await this.#client;
    let token: string | null | undefined;
    try {
      ({ token } = await client.getAccessToken());
    } catch {
      // What went wrong may quote what was sent, and that proves who we are.
      throw new Error("Google gave no token");
    }
    if (token === undefined || token === null) throw new Error("Google gave no token");
    const { expiry_date: endMs } = client.credentials;
    const lifeMs = typeof endMs === "number" ? endMs - this.nowMs() : RENEW_MS;
    this.#expiresMs = this.monotonicMs() + lifeMs;
    this.#headers = { authorization: `Bearer ${token}` };
    return this.#headers;
  }
}

/** Loaded where a family needs it: a gateway without it starts faster. */
async function tokenClient(key: GoogleKey | undefined): Promise<TokenClient> {
  const { GoogleAuth } = await import("google-auth-library");
  const credentials: JWTInput | undefined = key;
  const clientOptions = { eagerRefreshThresholdMillis: STALE_MS };
  const auth = new GoogleAuth({
    scopes: [SCOPE],
    clientOptions,
    ...(credentials === undefined ? {} : { credentials }),
  });
  const client = await auth.getClient();
  const url = key?.token_uri ?? TOKEN_URL;
  // A key names where its tokens come from; the library asks at one address for all.
  if (url !== TOKEN_URL)
    client.transporter.interceptors.request.add({
      resolved: (config) => Promise.resolve(Object.assign(config, { url: new URL(url) })),
    });
  return client;
}
