/** People, and the money that they bring, as this process has them. */
import { randomBytes } from "node:crypto";
import { SecretSeal } from "../alerts/seal.js";
import type { Environment } from "../config/environment.js";
import type { Coordination } from "../coordination/coordination.js";
import { Identity } from "../identity/identity.js";
import { type RelyingParty, relyingPartyAt } from "../identity/passkeys/relying-party.js";
import type { Keys } from "../keys/keys.js";
import type { Ledger } from "../ledger/ledger.js";
import { CardPayments } from "../payments/card-payments.js";
import { TopUpCodes } from "../payments/top-up-codes.js";
import type { Store } from "../store/store.js";
import type { Clocked } from "./core.js";
import type { Derived } from "./root-secrets.js";
import type { SettingsKeeper } from "./settings-keeper.js";
import type { ThisNode } from "./this-node.js";

interface Parts {
  readonly store: Store;
  readonly coordination: Coordination;
  readonly keys: Keys;
  readonly ledger: Ledger;
  readonly settings: Pick<SettingsKeeper, "payments" | "identity">;
  readonly node: Pick<ThisNode, "httpAddress">;
}

/** What a node that died had taken in and not booked is booked from now on. */
export function createPeople(
  { store, coordination, keys, ledger, settings, node }: Parts,
  { seals, signInKeys }: Derived,
  { environment, log, metrics, clock }: Clocked,
): { readonly identity: Identity; readonly topUpCodes: TopUpCodes; readonly cardPayments: CardPayments } {
  const accountExists = async (id: string): Promise<boolean> => (await store.accounts.get(id)) !== undefined;
  const { secondFactorFor } = environment;
  const seal = new SecretSeal(seals.secondFactors);
  const shared = { store: store.people, coordination, nowMs: clock.nowMs, randomBytes };
  const identity = new Identity({
    ...shared,
    skewMs: () => clock.skewMs,
    keys,
    seal,
    signInSeal: new SecretSeal(signInKeys),
    relyingParty: () => relyingParty(environment, node.httpAddress),
    issuers: () => settings.identity.issuers,
    onIssuerFailed: ({ name }, err) => log.warn({ err, issuer: name }, "an issuer does not respond correctly"),
    accountExists,
    secondFactorFor,
  });
  const onError = (err: unknown): void => log.warn({ err }, "redeemed top-up codes could not be credited yet");
  const topUpCodes = new TopUpCodes({ ...shared, ledger, onError });
  topUpCodes.start();
  const cardPayments = new CardPayments({
    ...shared,
    ledger,
    accountExists,
    settings: () => settings.payments.stripe,
    onError: (err) => log.error({ err }, "a payment by card could not be booked"),
    onEvent: (outcome) => metrics.stripeEvents.inc({ outcome }),
  });
  cardPayments.start();
  return { identity, topUpCodes, cardPayments };
}

/** At the public address; a gateway without one is used on its own machine, where `localhost` stands for it. */
function relyingParty({ publicUrl, tls }: Environment, httpAddress: string | undefined): RelyingParty | undefined {
  if (publicUrl !== undefined) return relyingPartyAt(publicUrl);
  const port = httpAddress?.slice(httpAddress.lastIndexOf(":"));
  return relyingPartyAt(port && `${tls === undefined ? "http" : "https"}://localhost${port}`);
}
