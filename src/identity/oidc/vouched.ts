/** Whom an issuer vouches for, read off its claims; only a verified e-mail address counts. */
import type { IssuerSettings } from "../../config/settings.js";
import type { GatewayError } from "../../base/errors.js";
import { emailOf, nameOf } from "../user-fields.js";
import { notTaken } from "./issuer.js";
import type { Vouched } from "./pending.js";

/** What an issuer says of somebody, as it came. */
export interface Claims {
  readonly sub: string;
  readonly email?: unknown;
  readonly email_verified?: unknown;
  readonly name?: unknown;
  readonly auth_time?: unknown;
}

/** OpenID Connect allows no longer one. */
const SUBJECT_LENGTH_MAX = 255;

/** Throws OIDC_SIGN_IN_REFUSED. */
export function vouchedOf(issuer: IssuerSettings, claims: Claims): Vouched {
  const { sub: subject, email_verified: isVerified, auth_time: authTime } = claims;
  if (subject === "" || subject.length > SUBJECT_LENGTH_MAX) throw notTaken(issuer, "it sent no valid subject");
  const email = emailIn(issuer, claims.email);
  if (isVerified !== true)
    throw notTaken(issuer, `it does not say that the e-mail address ${email} was verified; have it verified there`);
  const domain = email.slice(email.lastIndexOf("@") + 1);
  if (issuer.emailDomains.length > 0 && !issuer.emailDomains.includes(domain))
    throw notTaken(issuer, `e-mail addresses at ${domain} are not allowed`);
  const authTimeMs = typeof authTime === "number" && Number.isFinite(authTime) ? Math.floor(authTime * 1_000) : 0;
  return { issuer: issuer.issuer, subject, email, name: nameIn(claims.name, email), authTimeMs };
}

/**
 * The address in the one spelling in which addresses are stored. One whose letters become others in small writing, as
 * the Kelvin sign becomes a k, would be somebody else's address here.
 */
function emailIn(issuer: IssuerSettings, said: unknown): string {
  if (typeof said !== "string" || said === "") throw notTaken(issuer, "it sent no e-mail address");
  const plain = said.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (readOr(() => emailOf(said), "") !== plain) throw notTaken(issuer, "it sent an invalid e-mail address");
  return plain;
}

/** The name that the issuer tells, where it will do here. */
function nameIn(said: unknown, email: string): string {
  const otherwise = nameOf("", email);
  return typeof said === "string" ? readOr(() => nameOf(said, email), otherwise) : otherwise;
}

function readOr(read: () => string, otherwise: string): string {
  try {
    return read();
  } catch (error) {
    if ((error as GatewayError).reason === "ERROR_REASON_PARAMETER_INVALID") return otherwise;
    throw error;
  }
}
