/** An OpenID Connect issuer as the settings name it, and the words by which its sign-ins are refused. */
import { GatewayError } from "../../errors.js";

export interface Issuer {
  /** A part of addresses. */
  readonly name: string;
  /** What people call it. */
  readonly title: string;
  /** Its address. */
  readonly issuer: URL;
  readonly clientId: string;
  /** Undefined: the client is a public one. */
  readonly clientSecret: string | undefined;
  /** In small letters. Empty: e-mail addresses of every domain. */
  readonly emailDomains: readonly string[];
  /** Where people belong whom nobody invited. Undefined: they do not come in. */
  readonly newPeople: { readonly accountId: string; readonly role: "admin" | "member" | "viewer" } | undefined;
}

export type IssuerWords = Pick<Issuer, "title">;

/** A sign-in that is not taken. The person reads the problem. */
export function notTaken({ title }: IssuerWords, problem: string, cause?: Error): GatewayError {
  return new GatewayError("ERROR_REASON_OIDC_SIGN_IN_REFUSED", { issuer: title, problem }, { cause });
}

/** An issuer that does not answer as it should. The cause is for the operator. */
export function failed({ title }: IssuerWords, cause: Error): GatewayError {
  return new GatewayError("ERROR_REASON_ISSUER_FAILED", { issuer: title }, { cause });
}
