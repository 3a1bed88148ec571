/** WebhookService: where events are posted, and how that went. */
import type { WebhookServiceService } from "../../api/index.js";
import type { Alerts } from "../../alerts/alerts.js";
import type { DeliveryRow, WebhookRow } from "../../alerts/rows.js";
import type { Caller } from "../../keys/caller.js";
import { ownerOf } from "./alert-service.js";
import { required, unknown } from "../../api/check.js";
import { deliveryOf, webhookOf } from "./event-messages.js";
import type { Handlers } from "../call/handler.js";
import { accountFilter, checkOwner } from "../call/account-scope.js";
import { pageOf } from "./page.js";

type Parts = Pick<Alerts, "webhooks" | "deliveries" | "maker">;

export function webhookService(
  { webhooks, deliveries, maker }: Parts,
  nowMs: () => number,
): Handlers<typeof WebhookServiceService> {
  const found = async (caller: Caller, id: string): Promise<WebhookRow> => {
    const webhook = await webhooks.find(required("id", id));
    if (webhook === undefined) throw unknown("webhook", id);
    checkOwner(caller, webhook.accountId, "webhook", id);
    return webhook;
  };
  const foundDelivery = async (caller: Caller, id: string): Promise<DeliveryRow> => {
    const delivery = await deliveries.find(required("id", id));
    if (delivery === undefined) throw unknown("delivery", id);
    checkOwner(caller, delivery.accountId, "delivery", id);
    return delivery;
  };
  return {
    async createWebhook({ accountId, settings }, { caller, act }) {
      const { webhook, secret } = await webhooks.create(ownerOf(caller, accountId), settings, act);
      return { webhook: webhookOf(webhook, nowMs()), secret };
    },
    async getWebhook({ id }, { caller }) {
      return { webhook: webhookOf(await found(caller, id), nowMs()) };
    },
    async listWebhooks(request, { caller }) {
      const { rows, nextPageToken } = await webhooks.list(accountFilter(caller, request.accountId), pageOf(request));
      return { webhooks: rows.map((row) => webhookOf(row, nowMs())), nextPageToken };
    },
    async updateWebhook({ id, settings, updateMask = [], etag }, { caller, act }) {
      const webhook = await webhooks.update(await found(caller, id), settings, updateMask, { act, etag });
      return { webhook: webhookOf(webhook, nowMs()) };
    },
    async deleteWebhook({ id }, { caller, act }) {
      await webhooks.delete(await found(caller, id), act);
      return {};
    },
    async rotateWebhookSecret({ id, graceSeconds }, { caller, act }) {
      const { webhook, secret } = await webhooks.rotate(await found(caller, id), graceSeconds, act);
      return { webhook: webhookOf(webhook, nowMs()), secret };
    },
    async testWebhook({ id }, { caller, act }) {
      const delivery = await maker.test(await found(caller, id), act);
      return { delivery: deliveryOf(delivery) };
    },
    async listDeliveries(request, { caller }) {
      const owner = accountFilter(caller, request.accountId);
      const { rows, nextPageToken } = await deliveries.list(owner, request, pageOf(request));
      return { deliveries: rows.map((row) => deliveryOf(row)), nextPageToken };
    },
    async getDelivery({ id }, { caller }) {
      const delivery = await foundDelivery(caller, id);
      return { delivery: deliveryOf(delivery, await deliveries.attempts(id)) };
    },
    async resendDelivery({ id }, { caller, act }) {
      return { delivery: deliveryOf(await deliveries.resend(await foundDelivery(caller, id), act)) };
    },
  };
}
