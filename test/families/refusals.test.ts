/** What each status, and each code in its place, means of every family; and that no sentence means anything. */
import { describe, expect, test } from "vitest";
import type { Family } from "../../src/families/family.js";
import { families } from "../../src/families/index.js";
import { type RefusalKind, UpstreamRefusal } from "../../src/wire/error/upstream-refusal.js";
import { HOSTILE_WORDS, inWords, type Refusal, withCode } from "../support/refusals.js";

const STATUSES = Array.from({ length: 130 }, (_, index) => 400 + index);

function kindOf(family: Family, { status, headers, body }: Refusal): RefusalKind {
  const { cause } = family.wire.decodeError(status, headers, body, family.refusals);
  return cause instanceof UpstreamRefusal ? cause.kind : expect.unreachable("every refusal has a kind");
}

/** What a status means where nothing else is told. */
const BARE: Readonly<Record<number, RefusalKind>> = {
  400: "request",
  401: "credential",
  402: "forbidden",
  403: "forbidden",
  408: "timeout",
  413: "size",
  422: "request",
  429: "rate",
  501: "feature",
  503: "unavailable",
  504: "timeout",
  529: "unavailable",
};
/** What families say of their own statuses. */
const OWN: Readonly<Record<string, Readonly<Record<number, RefusalKind>>>> = {
  deepseek: { 402: "no_funds" },
  openrouter: { 403: "request" },
};

type CodeRow = readonly [status: number, code: string, kind: RefusalKind];

const OPENAI: readonly CodeRow[] = [
  [401, "invalid_api_key", "credential"],
  [400, "invalid_api_key", "credential"],
  [403, "account_deactivated", "credential"],
  [400, "organization_restricted", "credential"],
  [403, "unsupported_country_region_territory", "credential"],
  [429, "insufficient_quota", "no_funds"],
  [429, "billing_not_active", "no_funds"],
  [400, "billing_hard_limit_reached", "no_funds"],
  [404, "model_not_found", "model"],
  [400, "model_decommissioned", "model"],
  [404, "not_found_error", "model"],
  [404, "NotFoundError", "model"],
  [400, "context_length_exceeded", "context"],
  [429, "rate_limit_exceeded", "rate"],
  [404, "unknown_url", "failure"],
  [500, "insufficient_quota", "failure"],
];
const GOOGLE: readonly CodeRow[] = [
  [400, "API_KEY_INVALID", "credential"],
  [401, "UNAUTHENTICATED", "credential"],
  [403, "CONSUMER_SUSPENDED", "credential"],
  [403, "SERVICE_DISABLED", "credential"],
  [403, "BILLING_DISABLED", "no_funds"],
  [403, "PERMISSION_DENIED", "forbidden"],
  [404, "NOT_FOUND", "model"],
  [429, "RESOURCE_EXHAUSTED", "rate"],
  [400, "INVALID_ARGUMENT", "request"],
];
const BY_WIRE: Readonly<Record<string, readonly CodeRow[]>> = {
  anthropic: [
    [401, "authentication_error", "credential"],
    [400, "authentication_error", "credential"],
    [402, "billing_error", "no_funds"],
    [403, "permission_error", "access"],
    [404, "not_found_error", "model"],
    [429, "enforced_spend_limit_reached", "no_funds"],
    [429, "contract_spend_limit_reached", "no_funds"],
    [402, "linked_organization_spend_limit_reached", "no_funds"],
    [429, "rate_limit_error", "rate"],
    [400, "invalid_request_error", "request"],
  ],
  gemini: GOOGLE,
  "bedrock-converse": [
    [403, "UnrecognizedClientException", "credential"],
    [403, "ExpiredTokenException", "credential"],
    [403, "InvalidSignatureException", "credential"],
    [403, "MissingAuthenticationTokenException", "credential"],
    [403, "InvalidClientTokenId", "credential"],
    [403, "AccessDeniedException", "access"],
    [404, "ResourceNotFoundException", "model"],
    [429, "ThrottlingException", "rate"],
    [400, "ServiceQuotaExceededException", "rate"],
    [400, "ValidationException", "request"],
  ],
};
const BY_FAMILY: Readonly<Record<string, readonly CodeRow[]>> = {
  azure: [[404, "DeploymentNotFound", "model"]],
  moonshot: [
    [429, "exceeded_current_quota_error", "no_funds"],
    [401, "invalid_authentication_error", "credential"],
    [404, "resource_not_found_error", "model"],
  ],
  qwen: [
    [400, "Arrearage", "no_funds"],
    [401, "InvalidApiKey", "credential"],
    [403, "Model.AccessDenied", "access"],
    [403, "AccessDenied.Unpurchased", "access"],
    [403, "AllocationQuota.FreeTierOnly", "access"],
    [404, "ModelNotFound", "model"],
  ],
};

const OUR_TROUBLE: ReadonlySet<RefusalKind> = new Set(["no_funds", "credential", "access", "model"]);

describe.each(families)("$name", (family) => {
  const bare = (status: number): RefusalKind => OWN[family.name]?.[status] ?? BARE[status] ?? "failure";

  test("every status from 400 to 529 has its meaning without a code", () => {
    const found = STATUSES.map((status) => [status, kindOf(family, inWords(family, status, "Told."))]);
    expect(found).toEqual(STATUSES.map((status) => [status, bare(status)]));
  });

  test("every code has its meaning where it stands in its place", () => {
    const rows = [...(BY_WIRE[family.wire.name] ?? OPENAI), ...(BY_FAMILY[family.name] ?? [])];
    const found = rows.map(([status, code]) => [status, code, kindOf(family, withCode(family, status, code))]);
    expect(found).toEqual(rows);
  });

  test("no words in a message, or repeated anywhere but in a code's place, are about us", () => {
    for (const status of STATUSES)
      for (const words of HOSTILE_WORDS) {
        const kind = kindOf(family, inWords(family, status, words));
        if (kind === bare(status)) continue;
        expect(OUR_TROUBLE, `${status} '${words}'`).not.toContain(kind);
        expect(["request", "size"], `${status} '${words}' became ${kind}`).toContain(bare(status));
      }
  });
});
