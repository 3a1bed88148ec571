/** Who the gateway is at Amazon's, and where: from the settings, else from the environment. */

import type { Environment } from "../family.js";

/** A pair of keys, which sign each request. */
export interface Signer {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** In the settings a signer is `id:secret` or `id:secret:token`; a key of Bedrock's own has no colon. */
export function isBearer(credential: string | undefined): credential is string {
  return credential !== undefined && !credential.includes(":");
}

/**
 * The pair of the settings, or of the environment where that names no profile. Undefined: the machine's own identity is
 * used. Throws an Error that says what is wrong and quotes nothing of the credential.
 */
export function readSigner(credential: string | undefined, environment: Environment): Signer | undefined {
  if (credential !== undefined) {
    const [accessKeyId = "", secretAccessKey = "", sessionToken = "", ...more] = credential.split(":");
    if (accessKeyId === "" || secretAccessKey === "" || more.length > 0)
      throw new Error("its api_key must be a key of Bedrock's, or 'id:secret' or 'id:secret:token' of an access key");
    return signerOf(accessKeyId, secretAccessKey, sessionToken);
  }
  const { AWS_ACCESS_KEY_ID: id = "", AWS_SECRET_ACCESS_KEY: secret = "", AWS_SESSION_TOKEN: token = "" } = environment;
  const { AWS_PROFILE: profile = "" } = environment;
  return id === "" || secret === "" || profile !== "" ? undefined : signerOf(id, secret, token);
}

function signerOf(accessKeyId: string, secretAccessKey: string, sessionToken: string): Signer {
  return { accessKeyId, secretAccessKey, ...(sessionToken === "" ? {} : { sessionToken }) };
}

/** The region, which is part of what is signed: the address names it, else the environment. Throws where none does. */
export function readRegion(baseUrl: string, environment: Environment): string {
  const named = /(?:^|[/.])bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(baseUrl)?.[1];
  const region = named ?? regionIn(environment);
  if (region === undefined) throw new Error("neither its base_url nor AWS_REGION names a region");
  return region;
}

export function regionIn({ AWS_REGION: region, AWS_DEFAULT_REGION: fallback }: Environment): string | undefined {
  const name = region || fallback || "";
  return /^[a-z0-9-]{1,32}$/.test(name) ? name : undefined;
}
