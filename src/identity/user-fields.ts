/** What people are called: checked where somebody is made or changed. */
import { invalid, required } from "../api/check.js";

const EMAIL_LENGTH_MAX = 254;
const NAME_LENGTH_MAX = 128;
const PASSKEY_NAME_LENGTH_MAX = 64;
/** Only a letter proves that an address exists; this finds slips. */
const EMAIL = /^[^\s@<>"(),:;\\[\]]+@[^\s@<>"(),:;\\[\]]+$/u;
/** Characters that draw nothing, or change how others are drawn. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** An e-mail address in the one spelling in which it is stored. Throws PARAMETER_INVALID. */
export function emailOf(text: string): string {
  const email = text.trim().toLowerCase();
  if (email.length > EMAIL_LENGTH_MAX || !EMAIL.test(email) || UNPRINTABLE.test(email))
    throw invalid("email", `must be an e-mail address of at most ${EMAIL_LENGTH_MAX} characters`);
  return email;
}

/** A name; without one what stands before the @ of the address. Throws PARAMETER_INVALID. */
export function nameOf(text: string, email: string): string {
  return printable(text.trim() === "" ? email.slice(0, email.indexOf("@")) : text.trim(), NAME_LENGTH_MAX);
}

/** What a person calls a passkey. Throws PARAMETER_MISSING or PARAMETER_INVALID. */
export function passkeyNameOf(text: string): string {
  return printable(required("name", text.trim()), PASSKEY_NAME_LENGTH_MAX);
}

function printable(name: string, lengthMax: number): string {
  if (Array.from(name).length > lengthMax || UNPRINTABLE.test(name))
    throw invalid("name", `must be at most ${lengthMax} printable characters`);
  return name;
}
