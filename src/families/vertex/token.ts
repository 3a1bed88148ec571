/** Google's tokens: of a service account's key, of a federated identity, or of the machine. */
import { readFileSync } from "node:fs";
import type { ExternalAccountClientOptions, JWTInput } from "google-auth-library";
import { z } from "zod";
import { bearerHeaders } from "../../upstream/bearer.js";
import { type Issued, RenewedCredential, sourceFailure } from "../../upstream/renewed-credential.js";
import type { Headers } from "../../upstream/signed.js";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
/** How long a token holds whose end is not told. */
const UNKNOWN_LIFE_MS = 300_000;
/** Where the library asks, whatever the key says. */
const TOKEN_URL = "https://oauth2.googleapis.com/token";

const serviceAccount = z.looseObject({
  type: z.literal("service_account"),
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  token_uri: z.string().startsWith("http").default(TOKEN_URL),
});
/**
 * A federated identity: another issuer's token, from a file, an address, a certificate or Amazon's instances. It names
 * no program, because the gateway starts none.
 */
const externalAccount = z.looseObject({
  type: z.literal("external_account"),
  audience: z.string().min(1),
  subject_token_type: z.string().min(1),
  token_url: z.string().startsWith("http"),
  credential_source: z.looseObject({ executable: z.never().optional() }),
});
const keySchema = z.discriminatedUnion("type", [serviceAccount, externalAccount]);

/** A service account's key, or a federated identity. */
export type GoogleKey = z.output<typeof keySchema>;

/**
 * A service account's key, given as JSON or as the path of a file, which may also hold a federated identity; undefined
 * where none is given. Throws an Error that says what is wrong and quotes nothing of the key.
 */
export function readCredential(credential: string | undefined): GoogleKey | undefined {
  if (credential === undefined) return undefined;
  const isFile = !credential.trimStart().startsWith("{");
  let text: string;
  try {
    text = isFile ? readFileSync(credential, "utf8") : credential;
  } catch {
    throw new Error("its api_key is neither JSON nor the path of a file that can be read");
  }
  let key: unknown;
  try {
    key = JSON.parse(text);
  } catch {
    throw new Error("its api_key holds no JSON");
  }
  // A federated identity names addresses and files of this machine, which only a settings file by hand may do.
  const read = (isFile ? keySchema : serviceAccount).safeParse(key);
  if (!read.success) throw new Error(`its api_key is no key of Google's: ${read.error.issues[0]?.path.join(".")}`);
  return read.data;
}

export interface TokenClock {
  /** The time of day, in which a token's end is told. */
  nowMs(): number;
  /** The clock of its life, which no setting of the time changes. */
  monotonicMs(): number;
}

/** The tokens of a key, or of the machine's own identity (Application Default Credentials). */
export function googleToken(
  key: GoogleKey | undefined,
  { nowMs, monotonicMs }: TokenClock,
): RenewedCredential<Headers> {
  return new RenewedCredential({ issue: () => issue(key, nowMs), monotonicMs, random: Math.random });
}

async function issue(key: GoogleKey | undefined, nowMs: () => number): Promise<Issued<Headers>> {
  try {
    const client = await tokenClient(key);
    const { token } = await client.getAccessToken();
    if (typeof token !== "string" || token === "") throw new Error("the answer has no token");
    const { expiry_date: endMs } = client.credentials;
    return { value: bearerHeaders(token), lifeMs: typeof endMs === "number" ? endMs - nowMs() : UNKNOWN_LIFE_MS };
  } catch {
    // What went wrong may quote what was sent, and that proves who we are.
    throw sourceFailure("Google", key === undefined ? "the machine's identity failed" : "the key failed");
  }
}

/** Made for each token, so that changed files are read again. Loaded where it is used: others start faster. */
async function tokenClient(key: GoogleKey | undefined) {
  const { GoogleAuth } = await import("google-auth-library");
  const credentials: JWTInput | ExternalAccountClientOptions | undefined = key;
  const auth = new GoogleAuth({ scopes: [SCOPE], ...(credentials === undefined ? {} : { credentials }) });
  const client = await auth.getClient();
  const url = key?.type === "service_account" ? key.token_uri : TOKEN_URL;
  // A key names where its tokens come from; the library asks at one address for all.
  if (url !== TOKEN_URL)
    client.transporter.interceptors.request.add({
      resolved: (config) => Promise.resolve(Object.assign(config, { url: new URL(url) })),
    });
  return client;
}
