/** Amazon's signature of a request: of its path, its body and the time. */
import { createHash } from "node:crypto";
import type { Headers, Prover } from "../../upstream/signed.js";
import type { Signer } from "./credential.js";
import type { SignerSource } from "./identity.js";

const SERVICE = "bedrock";
/** Refusals of credentials that are over or were withdrawn, by the common errors of the reference of Bedrock's API. */
const REFUSED_CREDENTIALS = /^(?:ExpiredToken|UnrecognizedClient|InvalidClientTokenId)/;
/** Refusals of a signature, such as one whose time differs too much from Amazon's. */
const REFUSED_SIGNATURES = /^(?:InvalidSignature|RequestExpired|RequestTimeTooSkewed|SignatureDoesNotMatch)/;
/** Amazon accepts times that differ by up to 5 minutes. */
const SKEW_MS_MIN = 240_000;

/** Signs requests to an address. What it needs is loaded with the first of them. */
export function createSigningProver(
  source: SignerSource,
  region: string,
  baseUrl: string,
  nowMs: () => number,
): Prover {
  const { host, pathname, protocol, hostname } = new URL(baseUrl);
  const basePath = pathname.replace(/\/+$/, "");
  const signedBy = new WeakMap<Headers, Signer>();
  let signature: Promise<Signature> | undefined;
  /** How much Amazon's clock is ahead of ours, where they differ too much. */
  let skewMs = 0;
  return {
    sign: async ({ method, path, headers, body }) => {
      signature ??= load(source, region);
      const signer = await source.value();
      // The package would digest a body of 5 MB for 38 ms, in which nothing else runs; its digest may be told instead.
      const digest = createHash("sha256")
        .update(body ?? "")
        .digest("hex");
      const signedHeaders = { ...headers, host, "x-amz-content-sha256": digest };
      const request = { method, protocol, hostname, path: basePath + path, headers: signedHeaders, body };
      const signed = await (await signature).sign(request, { signingDate: new Date(nowMs() + skewMs) });
      // The host is the connection's to say.
      const { host: _, ...proof } = signed.headers;
      signedBy.set(proof, signer);
      return proof;
    },
    renew: ({ status, headers }, proof) => {
      if (status !== 400 && status !== 401 && status !== 403) return undefined;
      const error = headers["x-amzn-errortype"] ?? "";
      if (REFUSED_SIGNATURES.test(error)) {
        const aheadMs = Date.parse(headers["date"] ?? "") - nowMs();
        if (!(Math.abs(aheadMs - skewMs) > SKEW_MS_MIN)) return undefined;
        skewMs = aheadMs;
        return Promise.resolve(true);
      }
      const signer = signedBy.get(proof);
      return REFUSED_CREDENTIALS.test(error) && signer !== undefined ? source.replace(signer) : undefined;
    },
  };
}

type Signature = Awaited<ReturnType<typeof load>>;

async function load(source: SignerSource, region: string) {
  const [{ SignatureV4 }, { Sha256 }] = await Promise.all([
    import("@smithy/signature-v4"),
    import("@aws-crypto/sha256-js"),
  ]);
  const credentials = async (): Promise<Signer> => source.value();
  return new SignatureV4({ credentials, region, service: SERVICE, sha256: Sha256, applyChecksum: false });
}
