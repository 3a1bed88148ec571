/** Amazon's signature of a request: of its path, its body and the time. */
import { createHash } from "node:crypto";
import type { Sign } from "../../upstream/signed.js";
import type { Signer } from "./credential.js";

const SERVICE = "bedrock";

/** Signs requests to an address. What it needs is loaded with the first of them. */
export function createSign(signer: Signer, region: string, baseUrl: string, nowMs: () => number): Sign {
  const { host, pathname, protocol, hostname } = new URL(baseUrl);
  const basePath = pathname.replace(/\/+$/, "");
  let signature: Promise<Signature> | undefined;
  return async ({ method, path, headers, body }) => {
    signature ??= load(signer, region);
    // The package would digest a body of 5 MB for 38 ms, in which nothing else runs; its digest may be told instead.
    const digest = createHash("sha256")
      .update(body ?? "")
      .digest("hex");
    const signedHeaders = { ...headers, host, "x-amz-content-sha256": digest };
    const request = { method, protocol, hostname, path: basePath + path, headers: signedHeaders, body };
    const signed = await (await signature).sign(request, { signingDate: new Date(nowMs()) });
    // The host is the connection's to say.
    const { host: _, ...proof } = signed.headers;
    return proof;
  };
}

type Signature = Awaited<ReturnType<typeof load>>;

async function load(signer: Signer, region: string) {
  const [{ SignatureV4 }, { Sha256 }] = await Promise.all([
    import("@smithy/signature-v4"),
    import("@aws-crypto/sha256-js"),
  ]);
  return new SignatureV4({ credentials: signer, region, service: SERVICE, sha256: Sha256, applyChecksum: false });
}
