/**
 * Tokens of Microsoft Entra ID, by what the environment names: an application's client secret, workload federation, or
 * a managed identity. Each is one request, so that no SDK is needed: docs/decisions/0489-keyless-upstreams.md.
 */
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { boundedBytes } from "../../base/bounded-bytes.js";
import { bearerHeaders } from "../../upstream/bearer.js";
import { type Issued, RenewedCredential, sourceFailure } from "../../upstream/renewed-credential.js";
import type { Headers } from "../../upstream/signed.js";
import type { Environment } from "../family.js";

const RESOURCE = "https://cognitiveservices.azure.com";
const AUTHORITY = "https://login.microsoftonline.com";
/** The metadata endpoint of virtual machines. */
const METADATA = "http://169.254.169.254";
const ANSWER_BYTES_MAX = 64 * 1024;
const FETCH_MS = 10_000;
/** The metadata endpoint is away for moments, and says 410 for up to 70 seconds while it is updated. */
const TRIES_MAX = 5;
const FIRST_PAUSE_MS = 800;
const PAUSE_MS_MAX = 12_800;
const UPDATE_MS = 70_000;

const seconds = z.coerce.number().positive();
const answerSchema = z.looseObject({
  access_token: z.string().min(1),
  expires_in: seconds.optional(),
  /** In seconds since 1970; App Service has no `expires_in`. */
  expires_on: seconds.optional(),
  refresh_in: seconds.optional(),
});

export interface EntraClock {
  /** The time of day, in which App Service tells a token's end. */
  nowMs(): number;
  /** The clock of a token's life. */
  monotonicMs(): number;
  pause(ms: number): Promise<void>;
}

/** The tokens of the identity that the environment names. */
export function entraToken(environment: Environment, clock: EntraClock): RenewedCredential<Headers> {
  const { monotonicMs } = clock;
  return new RenewedCredential({ issue: () => issue(environment, clock), monotonicMs, random: Math.random });
}

interface TokenRequest {
  readonly url: string;
  readonly headers: Headers;
  /** Absent: a GET. */
  readonly form?: Readonly<Record<string, string>>;
  /** True of the metadata endpoint, which is asked again where it is away. */
  readonly isMetadata?: boolean;
}

async function issue(environment: Environment, clock: EntraClock): Promise<Issued<Headers>> {
  const answer = await ask(await requestFor(environment), clock);
  const { access_token: token, expires_in: inS, expires_on: endS, refresh_in: refreshS } = answer;
  const lifeMs = inS !== undefined ? inS * 1_000 : (endS ?? 0) * 1_000 - clock.nowMs();
  const renewAfterMs = refreshS === undefined ? undefined : refreshS * 1_000;
  return { value: bearerHeaders(token), lifeMs, renewAfterMs };
}

/** As the SDKs of Microsoft choose: a secret, else federation, else the identity of the machine. */
async function requestFor(environment: Environment): Promise<TokenRequest> {
  const { AZURE_TENANT_ID: tenant = "", AZURE_CLIENT_ID: client = "", AZURE_CLIENT_SECRET: secret = "" } = environment;
  const { AZURE_FEDERATED_TOKEN_FILE: tokenFile = "", AZURE_AUTHORITY_HOST: authority = AUTHORITY } = environment;
  if (tenant === "" || client === "" || (secret === "" && tokenFile === "")) return managedRequest(environment);
  return {
    url: `${authority.replace(/\/+$/, "")}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    form: {
      grant_type: "client_credentials",
      client_id: client,
      scope: `${RESOURCE}/.default`,
      ...(secret === "" ? await assertionOf(tokenFile) : { client_secret: secret }),
    },
  };
}

/** The file is read for each token: the cluster replaces it. */
async function assertionOf(tokenFile: string): Promise<Readonly<Record<string, string>>> {
  const assertion = await readFile(tokenFile, "utf8").catch(() => {
    throw sourceFailure("Microsoft Entra ID", "the file of AZURE_FEDERATED_TOKEN_FILE cannot be read");
  });
  const type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
  return { client_assertion_type: type, client_assertion: assertion.trim() };
}

function managedRequest(environment: Environment): TokenRequest {
  const { IDENTITY_ENDPOINT: endpoint = "", IDENTITY_HEADER: header = "", AZURE_CLIENT_ID: client = "" } = environment;
  const isAppService = endpoint !== "" && header !== "";
  const query = new URLSearchParams({
    "api-version": isAppService ? "2019-08-01" : "2018-02-01",
    resource: RESOURCE,
    // Absent: the identity of the machine itself, or the only one that it was given.
    ...(client === "" ? {} : { client_id: client }),
  });
  if (isAppService) return { url: `${endpoint}?${query}`, headers: { "x-identity-header": header } };
  const host = (environment["AZURE_POD_IDENTITY_AUTHORITY_HOST"] || METADATA).replace(/\/+$/, "");
  return { url: `${host}/metadata/identity/oauth2/token?${query}`, headers: { metadata: "true" }, isMetadata: true };
}

async function ask(request: TokenRequest, clock: EntraClock): Promise<z.output<typeof answerSchema>> {
  const startMs = clock.monotonicMs();
  for (let attempt = 0; ; attempt += 1) {
    const { status, text } = await send(request);
    if (status === 200) return readAnswer(text);
    const isUpdating = status === 410 && clock.monotonicMs() - startMs < UPDATE_MS;
    const isAway = [404, 410, 429].includes(status) || status >= 500;
    const hasTries = isAway && attempt + 1 < TRIES_MAX;
    if (request.isMetadata !== true || !(isUpdating || hasTries))
      throw sourceFailure("Microsoft Entra ID", `it answered with status ${status}`);
    await clock.pause(Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS * 2 ** attempt));
  }
}

async function send({ url, headers, form }: TokenRequest): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const answer = await fetch(url, {
      method: form === undefined ? "GET" : "POST",
      headers,
      body: form === undefined ? null : new URLSearchParams(form),
      redirect: "error",
      signal: AbortSignal.timeout(FETCH_MS),
    });
    const bytes = await boundedBytes(answer, ANSWER_BYTES_MAX);
    return { status: answer.status, text: bytes.toString("utf8") };
  } catch {
    throw sourceFailure("Microsoft Entra ID", "its endpoint cannot be reached");
  }
}

function readAnswer(text: string): z.output<typeof answerSchema> {
  try {
    return answerSchema.parse(JSON.parse(text));
  } catch {
    throw sourceFailure("Microsoft Entra ID", "its answer has no token");
  }
}
