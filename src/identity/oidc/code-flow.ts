/** Sign-in at OpenID Connect issuers: code flow with PKCE, state and nonce, bound to the browser that began. */
import type { IssuerSettings } from "../../config/settings.js";
import { unknown } from "../../api/check.js";
import { GatewayError } from "../../base/errors.js";
import type { RandomBytes } from "../tokens.js";
import type { Seal } from "../second-factors.js";
import { type OidcClient, type OidcClients, plainError } from "./clients.js";
import { notTaken } from "./issuer.js";
import { type SignInRequest, openPending, type Pending, PENDING_MS, sealPending, type Vouched } from "./pending.js";
import { type Claims, vouchedOf } from "./vouched.js";

export interface OidcOptions {
  /** Those of the settings in force. */
  readonly issuers: () => readonly IssuerSettings[];
  readonly clients: OidcClients;
  readonly seal: Seal;
  readonly nowMs: () => number;
  readonly randomBytes: RandomBytes;
  /** A password that was shown longer ago is asked for anew by who asks for a fresh sign-in. */
  readonly freshMs: number;
}

export interface BeginParams {
  readonly name: string;
  readonly fresh: boolean;
  readonly invitation: string;
  /** The origin of the page that asks, as the front end checked it; empty where no page does. */
  readonly origin: string;
}

/** What the browser is given. */
export interface Begun {
  readonly authorizationUri: string;
  /** The sealed sign-in, for its cookie. */
  readonly sealed: string;
}

/** A sign-in that came back, with whom the issuer vouches for. */
export interface CameBack {
  readonly issuer: IssuerSettings;
  readonly pending: Pending;
  readonly vouched: Vouched;
}

const SCOPE = "openid email profile";
const QUERY_LENGTH_MAX = 8_192;
const STATE_BYTES = 32;
/** Words of the protocol, such as access_denied. */
const ERROR_WORD = /^[a-z_]{1,64}$/;
/** The issuer, or what the operator told of it, is at fault. */
const ISSUER_FAULTS: ReadonlySet<unknown> = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR",
  "OAUTH_WWW_AUTHENTICATE_CHALLENGE",
]);
const CLIENT_FAULTS: ReadonlySet<unknown> = new Set(["invalid_client", "unauthorized_client", "server_error"]);

export class Oidc {
  constructor(private readonly options: OidcOptions) {}

  /** In the order of the settings file. */
  get issuers(): readonly IssuerSettings[] {
    return this.options.issuers();
  }

  /** Rejects with RESOURCE_UNKNOWN, OIDC_SIGN_IN_REFUSED, ISSUER_FAILED or OVERLOADED. */
  async begin({ name, fresh, invitation, origin }: BeginParams): Promise<Begun> {
    const issuer = this.#issuer(name);
    if (!URL.canParse(origin)) throw notTaken(issuer, "start the sign-in from the console page, in a browser");
    const { seal, clients, nowMs, freshMs } = this.options;
    // Of its own for each issuer: an answer of one is never taken for another's.
    const redirectUri = new URL(`/console/sign-in/${issuer.name}`, origin).href;
    const [state, nonce] = [this.#random(), this.#random()];
    return clients.use(issuer, async ({ library, configuration }) => {
      const verifier = library.randomPKCECodeVerifier();
      const uri = library.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state,
        nonce,
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        ...(fresh ? { max_age: String(freshMs / 1_000) } : {}),
      });
      const stage = { kind: "asked", nonce, verifier, redirectUri, fresh } as const;
      const untilMs = nowMs() + PENDING_MS;
      const sealed = sealPending(seal, { name: issuer.name, state, untilMs, invitation, stage });
      return { authorizationUri: uri.href, sealed };
    });
  }

  /** Rejects with RESOURCE_UNKNOWN, OIDC_SIGN_IN_REFUSED, ISSUER_FAILED or OVERLOADED. */
  async comeBack(name: string, query: string, sealed: string): Promise<CameBack> {
    const issuer = this.#issuer(name);
    const { seal, nowMs, clients } = this.options;
    const pending = openPending(seal, sealed, nowMs());
    if (pending === undefined)
      throw notTaken(issuer, "it was not started in this browser, or has expired; start it again");
    if (pending.name !== issuer.name) throw notTaken(issuer, "another sign-in was started since; start it again");
    const { stage } = pending;
    if (stage.kind === "known") {
      if (stage.vouched.issuer !== issuer.issuer) throw notTaken(issuer, "the issuer's address has changed since");
      return { issuer, pending, vouched: stage.vouched };
    }
    if (query.length > QUERY_LENGTH_MAX) throw notTaken(issuer, "its answer is too long");
    const vouched = await clients.use(issuer, async (client) => {
      try {
        return vouchedOf(issuer, await claimsOf(client, stage, { state: pending.state, query }, this.options.freshMs));
      } catch (error) {
        throw this.#refusal(issuer, error);
      }
    });
    return { issuer, pending, vouched };
  }

  /** The same sign-in once more, as one of which only the person's own part is missing. */
  sealKnown({ pending, vouched }: CameBack): string {
    const untilMs = this.options.nowMs() + PENDING_MS;
    return sealPending(this.options.seal, { ...pending, untilMs, stage: { kind: "known", vouched } });
  }

  #issuer(name: string): IssuerSettings {
    const issuer = this.issuers.find((one) => one.name === name);
    if (issuer === undefined) throw unknown("issuer", name);
    return issuer;
  }

  #random(): string {
    return Buffer.from(this.options.randomBytes(STATE_BYTES)).toString("base64url");
  }

  /** What the library throws, as the person and the operator are told of it. */
  #refusal(issuer: IssuerSettings, error: unknown): unknown {
    if (error instanceof GatewayError) return error;
    const { code, error: word } = error as { readonly code?: unknown; readonly error?: unknown };
    const isFault = code === undefined || ISSUER_FAULTS.has(code) || CLIENT_FAULTS.has(word);
    if (isFault) return this.options.clients.failed(issuer, error);
    const said = typeof word === "string" && ERROR_WORD.test(word) ? ` (${word})` : "";
    return notTaken(issuer, `its answer is not valid${said}; start it again`, plainError(error));
  }
}

/** Exchanges the code, and checks what came for it. Rejects with whatever the library throws. */
async function claimsOf(
  { library, configuration }: OidcClient,
  { nonce, verifier, redirectUri, fresh }: SignInRequest,
  { state, query }: { readonly state: string; readonly query: string },
  freshMs: number,
): Promise<Claims> {
  const back = new URL(redirectUri);
  back.search = query;
  const tokens = await library.authorizationCodeGrant(configuration, back, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
    ...(fresh ? { maxAge: freshMs / 1_000 } : {}),
  });
  const claims = tokens.claims();
  if (claims === undefined) throw new Error("there is no ID token");
  if (claims["email"] !== undefined && claims["email_verified"] !== undefined) return claims;
  // Many issuers tell the e-mail address there alone.
  const told = await library.fetchUserInfo(configuration, tokens.access_token, claims.sub);
  return { ...told, sub: claims.sub, auth_time: claims.auth_time };
}
