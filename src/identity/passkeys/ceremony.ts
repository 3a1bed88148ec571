/**
 * The two ceremonies of Web Authentication: how a browser is asked to make or use a passkey, and what is checked of its
 * answer. Both are texts in the JSON that browsers write (Web Authentication Level 3, sections 5.1.8 to 5.1.10).
 */
import { z } from "zod";
import type { PasskeyRow } from "../../store/passkey-scripts.js";
import type { UserRow } from "../../store/people-rows.js";
import { CHALLENGE_MS } from "./challenge.js";
import type { RelyingParty } from "./relying-party.js";

/** What is kept of a passkey that an authenticator made. */
export type MadePasskey = Pick<PasskeyRow, "credentialId" | "publicKey" | "rpId" | "transports" | "counter">;

const SERVICE = "Tollgate";
/** EdDSA, ES256 and RS256: those that every authenticator has one of, and every Node checks. */
const ALGORITHMS = [-8, -7, -257];
/** Of an answer: certificates could make it long, and none are asked for. */
const TEXT_MAX = 16_384;
/** Web Authentication allows no longer one. */
const CREDENTIAL_ID_BYTES_MAX = 1_023;

const TRANSPORTS = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"] as const;
type Transport = (typeof TRANSPORTS)[number];
/** A hint for browsers; one that is not known here is left out. */
const transports = z
  .array(z.string())
  .default([])
  .transform((all) => TRANSPORTS.filter((one) => all.includes(one)));
const base64url = z.string().regex(/^[\w-]+$/);
const credential = { id: base64url, rawId: base64url, type: z.literal("public-key") };
const creation = z.object({
  ...credential,
  response: z.object({ clientDataJSON: base64url, attestationObject: base64url, transports }),
});
const assertion = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.nullish(),
  }),
});
/** What the browser says of the page that asked. A page within another one's frame is not ours. */
const clientData = z.object({ challenge: base64url, crossOrigin: z.literal(false).optional() });

export type Creation = Readonly<z.output<typeof creation>>;
export type Assertion = Readonly<z.output<typeof assertion>>;

/** Throws an Error where it is none. */
export function readCreation(text: string): Creation {
  return creation.parse(parse(text));
}

/** Throws an Error where it is none. */
export function readAssertion(text: string): Assertion {
  return assertion.parse(parse(text));
}

function parse(text: string): unknown {
  if (text.length > TEXT_MAX) throw new Error(`an answer has at most ${TEXT_MAX} characters`);
  return JSON.parse(text);
}

/** The challenge that was answered, in base64url. Throws an Error where there is none. */
export function challengeIn({ response }: Creation | Assertion): string {
  const text = Buffer.from(response.clientDataJSON, "base64url").toString("utf8");
  return clientData.parse(JSON.parse(text)).challenge;
}

/** How a browser is asked for a new passkey, on an authenticator that has none of the person's. */
export async function creationOptions(
  { id: rpID }: RelyingParty,
  { id, email, name }: UserRow,
  present: readonly PasskeyRow[],
  challenge: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const { generateRegistrationOptions } = await loadServer();
  const options = await generateRegistrationOptions({
    rpName: SERVICE,
    rpID,
    userID: new Uint8Array(Buffer.from(id)),
    userName: email,
    userDisplayName: name,
    challenge,
    timeout: CHALLENGE_MS,
    attestationType: "none",
    excludeCredentials: present.map(descriptorOf),
    authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
    supportedAlgorithmIDs: ALGORITHMS,
  });
  return JSON.stringify(options);
}

/** How a browser is asked to use one of a person's passkeys. The password was shown: to be there is enough. */
export async function assertionOptions(
  { id: rpID }: RelyingParty,
  usable: readonly PasskeyRow[],
  challenge: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const { generateAuthenticationOptions } = await loadServer();
  const options = await generateAuthenticationOptions({
    rpID,
    challenge,
    timeout: CHALLENGE_MS,
    allowCredentials: usable.map(descriptorOf),
    userVerification: "discouraged",
  });
  return JSON.stringify(options);
}

function descriptorOf(passkey: PasskeyRow): { id: string; transports: Transport[] } {
  return { id: idOf(passkey), transports: transportsOf(passkey) };
}

/** As browsers write it. */
export function idOf({ credentialId }: Pick<PasskeyRow, "credentialId">): string {
  return Buffer.from(credentialId).toString("base64url");
}

function transportsOf({ transports: stored }: PasskeyRow): Transport[] {
  return TRANSPORTS.filter((one) => stored.split(",").includes(one));
}

/** Rejects with an Error where the answer is not that of an authenticator to this challenge, on our page. */
export async function checkCreation(answer: Creation, { id: rpId, origin }: RelyingParty): Promise<MadePasskey> {
  const { verifyRegistrationResponse } = await loadServer();
  await requireNoCertificates(answer);
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: { ...answer, clientExtensionResults: {} },
    expectedChallenge: challengeIn(answer),
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: false,
    supportedAlgorithmIDs: ALGORITHMS,
  });
  if (!verified) throw new Error("the signature is wrong");
  const { id, publicKey, counter } = registrationInfo.credential;
  const credentialId = Buffer.from(id, "base64url");
  if (credentialId.length === 0 || credentialId.length > CREDENTIAL_ID_BYTES_MAX)
    throw new Error(`an id of a credential has 1 to ${CREDENTIAL_ID_BYTES_MAX} bytes`);
  return { credentialId, publicKey, rpId, counter, transports: answer.response.transports.join(",") };
}

/**
 * We ask for none. To check one the library would fetch lists of revoked certificates from addresses that the
 * certificate names, which are the caller's choice.
 */
async function requireNoCertificates({ response }: Creation): Promise<void> {
  const { decodeAttestationObject } = await import("@simplewebauthn/server/helpers");
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(response.attestationObject, "base64url")));
  const form: string = attestation.get("fmt");
  if (form === "none" || (form === "packed" && attestation.get("attStmt").get("x5c") === undefined)) return;
  throw new Error("the answer has certificates, which were not asked for");
}

/**
 * The counter of the authenticator, which is for the store to compare. Rejects with an Error where the answer is not
 * that of this passkey to this challenge, on our page.
 */
export async function checkAssertion(
  answer: Assertion,
  passkey: PasskeyRow,
  { id: rpId, origin }: RelyingParty,
): Promise<number> {
  const { verifyAuthenticationResponse } = await loadServer();
  const { userHandle, ...response } = answer.response;
  const owner = Buffer.from(passkey.userId).toString("base64url");
  if (typeof userHandle === "string" && userHandle !== owner) throw new Error("the passkey is another person's");
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...answer, response, clientExtensionResults: {} },
    expectedChallenge: challengeIn(answer),
    expectedOrigin: origin,
    expectedRPID: rpId,
    credential: { id: idOf(passkey), publicKey: new Uint8Array(passkey.publicKey), counter: 0 },
    requireUserVerification: false,
  });
  if (!verified) throw new Error("the signature is wrong");
  return authenticationInfo.newCounter;
}

/** Loaded at the first use of a passkey: other gateways need none of it. */
function loadServer(): Promise<typeof import("@simplewebauthn/server")> {
  return import("@simplewebauthn/server");
}
