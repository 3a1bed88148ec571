/** The refusals of people, who sign in, have roles and pay: a part of the table of all refusals. */
import type { Row } from "./refusal-row.js";

const UNKNOWN_PERSON = { http: 401, retry: false } as const;
const FORBIDDEN = { http: 403, retry: false } as const;

export const PEOPLE_REASONS = {
  ERROR_REASON_SESSION_ENDED: {
    ...UNKNOWN_PERSON,
    say: () => "Your session has ended. Sign in again.",
  },
  ERROR_REASON_SESSION_REFUSED: {
    ...FORBIDDEN,
    say: (m) => `The session is not accepted here: ${m["problem"]}.`,
  },
  ERROR_REASON_USER_MISSING: {
    ...FORBIDDEN,
    say: () => "Only a person who is signed in may do this, not an API key. Sign in to the console.",
  },
  ERROR_REASON_ROLE_MISSING: {
    ...FORBIDDEN,
    say: (m) =>
      m["scope"] === "operator"
        ? `Your role here (${m["role"]}) does not allow this. Only an operator of the gateway may do it.`
        : `Your role here (${m["role"]}) does not allow this. Ask an owner of the account for another role.`,
  },
  ERROR_REASON_SIGN_IN_REFUSED: {
    ...UNKNOWN_PERSON,
    say: () =>
      "The e-mail address, the password or the second factor is wrong. Try again, or ask your operator to reset them.",
  },
  ERROR_REASON_SECOND_FACTOR_MISSING: {
    ...UNKNOWN_PERSON,
    say: () => "Enter the six digits of your authenticator app or a recovery code as well, or use a passkey.",
  },
  ERROR_REASON_SECOND_FACTOR_REQUIRED: {
    ...FORBIDDEN,
    say: () =>
      "This account or gateway requires a second factor, and you have none yet. Set one up in your own settings.",
  },
  ERROR_REASON_PASSKEYS_OFF: {
    http: 409,
    retry: false,
    say: () => "Passkeys need an address with a host name and HTTPS. An operator can set it as TOLLGATE_PUBLIC_URL.",
  },
  ERROR_REASON_PROOF_NEEDED: {
    ...FORBIDDEN,
    say: (m) => `You signed in more than ${m["minutes"]} minutes ago. Enter your password again, or sign in again.`,
  },
  ERROR_REASON_TOP_UP_CODE_INVALID: {
    http: 404,
    retry: false,
    say: () =>
      "This code is wrong, was used before, or is too old. Check its letters, or ask the person who gave it to you.",
  },
  ERROR_REASON_CARD_PAYMENTS_OFF: {
    http: 409,
    retry: false,
    say: () => "Card payments are not set up here. An operator can set them up in the settings, under 'payments'.",
  },
  ERROR_REASON_CARD_PAYMENTS_UNAVAILABLE: {
    http: 503,
    retry: true,
    say: () => "Stripe does not answer, or refuses the gateway's request. Nothing was booked: try again in a minute.",
  },
  ERROR_REASON_STRIPE_EVENT_REFUSED: {
    http: 400,
    retry: false,
    say: () => "The event has no valid Stripe signature for this gateway, or its signature is too old.",
  },
  ERROR_REASON_OIDC_SIGN_IN_REFUSED: {
    ...FORBIDDEN,
    say: (m) => `The sign-in at ${m["issuer"]} was not accepted: ${m["problem"]}.`,
  },
  ERROR_REASON_ISSUER_FAILED: {
    http: 502,
    retry: true,
    say: (m) => `${m["issuer"]} does not respond correctly, so you cannot sign in with it now. Try again later.`,
  },
  ERROR_REASON_LINK_INVALID: {
    http: 404,
    retry: false,
    say: () =>
      "This link was used before, is too old, or was never valid. Ask the person who gave it to you for a new one.",
  },
  ERROR_REASON_LAST_OWNER: {
    http: 409,
    retry: false,
    say: (m) =>
      m["kind"] === "account"
        ? `The account '${m["id"]}' would have no owner. Make another member an owner first.`
        : "There would be no operator. Make another person an operator first.",
  },
} as const satisfies Record<string, Row>;
