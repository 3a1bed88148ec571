/** A certificate that a test's own server shows: for one name, signed by itself, made anew for each run. */
import { generateKeyPairSync, sign } from "node:crypto";

/** What `tls.createServer` takes. */
export function makeCertificate(host = "127.0.0.1"): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const ecdsaWithSha256 = sequence(der(0x06, "2a8648ce3d040302"));
  const name = sequence(der(0x31, sequence(der(0x06, "550403"), der(0x0c, Buffer.from(host)))));
  const validity = sequence(der(0x17, Buffer.from("200101000000Z")), der(0x17, Buffer.from("491231235959Z")));
  const key = publicKey.export({ type: "spki", format: "der" });
  const version = der(0xa0, der(0x02, "02"));
  const signed = sequence(version, der(0x02, "01"), ecdsaWithSha256, name, validity, name, key);
  const signature = sign("sha256", signed, privateKey);
  const certificate = sequence(signed, ecdsaWithSha256, der(0x03, "00", signature));
  const base64 = certificate.toString("base64").replaceAll(/.{64}(?=.)/g, "$&\n");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  };
}

const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts);

/** One element of DER; a part that is text is hexadecimal. */
function der(tag: number, ...parts: (Buffer | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "hex") : part)));
  const { length } = content;
  const sizes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...sizes]), content]);
}
