/** What an account says of all its keys: their limits together, those with some models, and whether content is kept. */
import { isDeepStrictEqual } from "node:util";
import type { ContentSettings } from "../api/index.js";
import { type Demands, demandsOf } from "../base/demands.js";
import type { AccountRow } from "../store/store.js";
import { GlobSet } from "./glob.js";
import { accountQuotasOf, type OwnAccountQuotas } from "./own-quotas.js";

/** Requests and tokens in any 60 seconds, and requests at once; 0 is none. */
interface Limit {
  readonly requestsPerMinute: bigint;
  readonly tokensPerMinute: bigint;
  readonly concurrency: bigint;
}

export interface AccountLimits extends Limit {
  readonly models: readonly ModelLimit[];
  /** Undefined where the account says nothing of quotas. */
  readonly quotas: OwnAccountQuotas | undefined;
}

/** The limits of an account's requests to the models that a glob matches, all of them together. */
class ModelLimit implements Limit {
  readonly #globs: GlobSet;

  constructor(
    readonly model: string,
    readonly requestsPerMinute: bigint,
    readonly tokensPerMinute: bigint,
    readonly concurrency: bigint,
  ) {
    this.#globs = new GlobSet([model], true);
  }

  matches(model: string): boolean {
    return this.#globs.matches(model);
  }
}

/** What an account limits, undefined where nothing; it is `known` where that says the same. */
export function accountLimitsOf(
  { limits }: Pick<AccountRow, "limits">,
  known: AccountLimits | undefined,
): AccountLimits | undefined {
  const { requestsPerMinute, tokensPerMinute, concurrency, modelLimits } = limits;
  const quotas = accountQuotasOf(limits.quotas);
  const hasLimits = requestsPerMinute + tokensPerMinute + concurrency > 0n || modelLimits.length > 0;
  if (!hasLimits && quotas === undefined) return undefined;
  const models = modelLimits.map(
    (limit) => new ModelLimit(limit.model, limit.requestsPerMinute, limit.tokensPerMinute, limit.concurrency),
  );
  const found = { requestsPerMinute, tokensPerMinute, concurrency, models, quotas };
  return isDeepStrictEqual(found, known) ? known : found;
}

/** How the account has content kept, undefined where it does not; it is `known` where that says the same. */
export function contentOf(
  { limits: { content } }: Pick<AccountRow, "limits">,
  known: ContentSettings | undefined,
): ContentSettings | undefined {
  if (content?.kept !== true) return undefined;
  return isDeepStrictEqual(content, known) ? known : content;
}

/** What the account demands of targets, undefined where nothing; it is `known` where that says the same. */
export function accountDemandsOf(
  { limits: { demands } }: Pick<AccountRow, "limits">,
  known: Demands | undefined,
): Demands | undefined {
  const found = demandsOf(demands);
  return isDeepStrictEqual(found, known) ? known : found;
}
