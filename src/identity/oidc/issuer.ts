/** An OpenID Connect issuer as the settings name it, and the words by which its sign-ins are refused. */
import type { IssuerSettings } from "../../config/settings.js";
import { GatewayError } from "../../base/errors.js";

export type IssuerWords = Pick<IssuerSettings, "title">;

/** A sign-in that is not taken. The person reads the problem. */
export function notTaken({ title }: IssuerWords, problem: string, cause?: Error): GatewayError {
  return new GatewayError("ERROR_REASON_OIDC_SIGN_IN_REFUSED", { issuer: title, problem }, { cause });
}

/** An issuer that does not answer as it should. The cause is for the operator. */
export function failed({ title }: IssuerWords, cause: Error): GatewayError {
  return new GatewayError("ERROR_REASON_ISSUER_FAILED", { issuer: title }, { cause });
}
