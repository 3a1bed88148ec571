/** PaymentService: top-up codes, and payments by card. */
import { type PaymentServiceService, type TopUpBatch, type TopUpCode, TopUpCodeState } from "../../api/index.js";
import { invalid, required } from "../../api/check.js";
import type { CardPayments } from "../../payments/card-payments.js";
import type { BatchPlace, TopUpCodes } from "../../payments/top-up-codes.js";
import type { TopUpBatchRow, TopUpCodeRow } from "../../store/payment-scripts.js";
import { cardHandlers } from "./card-handlers.js";
import type { Handlers } from "../call/handler.js";
import { checkOwner } from "../call/account-scope.js";
import { pageOf } from "./page.js";

const LETTER = "t:";
const BATCH = /^b:(\d{1,15}):(\S{1,64})$/;

export function paymentService(
  codes: TopUpCodes,
  cards: CardPayments,
  nowMs: () => number,
): Handlers<typeof PaymentServiceService> {
  return {
    ...cardHandlers(cards, nowMs),
    async createTopUpCodes(request, { act }) {
      if (request.count === 0) throw invalid("count", "must be 1 to 1000");
      const made = await codes.create(request, act);
      return { batchId: made.batchId, codes: [...made.codes] };
    },
    async listTopUpCodes(request) {
      const { size } = pageOf(request);
      const rows = await codes.list(request.batchId, idIn(request.pageToken), size + 1);
      const shown = rows.slice(0, size);
      const last = rows.length > size ? shown.at(-1) : undefined;
      const nextPageToken = last === undefined ? "" : Buffer.from(LETTER + last.id).toString("base64url");
      return { topUpCodes: shown.map((row) => shownCode(row, nowMs())), nextPageToken };
    },
    async listTopUpBatches(request) {
      const { size } = pageOf(request);
      const rows = await codes.batches(placeIn(request.pageToken), size + 1);
      const shown = rows.slice(0, size);
      const last = rows.length > size ? shown.at(-1) : undefined;
      const nextPageToken =
        last === undefined ? "" : Buffer.from(`b:${last.createTimeMs}:${last.id}`).toString("base64url");
      return { topUpBatches: shown.map(shownBatch), nextPageToken };
    },
    async voidTopUpCodes({ batchId, id }, { act }) {
      return { count: await codes.void(required("batch_id", batchId), id, act) };
    },
    async redeemTopUpCode({ accountId, code }, { caller, address, act }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      required("code", code);
      const { amountNanos, availableNanos, repeated } = await codes.redeem(code, accountId, address, act);
      return { amountNanos, availableNanos, repeatedRedeem: repeated };
    },
  };
}

function shownBatch({ createTimeMs, expireTimeMs, ...rest }: TopUpBatchRow): TopUpBatch {
  return { ...rest, createTime: new Date(createTimeMs), expireTime: new Date(expireTimeMs) };
}

function shownCode(row: TopUpCodeRow, nowMs: number): TopUpCode {
  const { id, batchId, amountNanos, note, accountId, createTimeMs, expireTimeMs, redeemTimeMs } = row;
  return {
    id,
    batchId,
    amountNanos,
    state: stateOf(row, nowMs),
    note,
    accountId: accountId ?? "",
    createTime: new Date(createTimeMs),
    expireTime: new Date(expireTimeMs),
    redeemTime: redeemTimeMs === null ? undefined : new Date(redeemTimeMs),
  };
}

function stateOf({ accountId, voidTimeMs, expireTimeMs }: TopUpCodeRow, nowMs: number): TopUpCodeState {
  if (accountId !== null) return TopUpCodeState.TOP_UP_CODE_STATE_REDEEMED;
  if (voidTimeMs !== null) return TopUpCodeState.TOP_UP_CODE_STATE_VOID;
  return expireTimeMs <= nowMs ? TopUpCodeState.TOP_UP_CODE_STATE_EXPIRED : TopUpCodeState.TOP_UP_CODE_STATE_OPEN;
}

const NO_TOKEN = "is not the next_page_token of an earlier response";

function idIn(token: string): string {
  if (token === "") return "";
  const text = Buffer.from(token, "base64url").toString();
  if (!text.startsWith(LETTER)) throw invalid("page_token", NO_TOKEN);
  return text.slice(LETTER.length);
}

function placeIn(token: string): BatchPlace | undefined {
  if (token === "") return undefined;
  const [, timeMs, id] = BATCH.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (timeMs === undefined || id === undefined) throw invalid("page_token", NO_TOKEN);
  return { createTimeMs: Number(timeMs), id };
}
