/** How the state of a payment by card looks. */
import type { PaymentState } from "../../gen/console/payment_service.js";

export const PAYMENT_LOOKS: Readonly<Record<PaymentState, string>> = {
  unspecified: "tag",
  open: "tag",
  pending: "tag warn",
  paid: "tag good",
  failed: "tag bad",
  expired: "tag",
  stuck: "tag bad",
};
