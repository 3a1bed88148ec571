/** PriceService: the list of published prices, and what an operator decides on it. */
import type { PriceServiceService } from "../../api/index.js";
import { GatewayError } from "../../base/errors.js";
import { unknown } from "../../api/check.js";
import type { CoreParts, PriceBoard } from "../call/core.js";
import type { Handlers } from "../call/handler.js";

export function priceService({ prices }: Pick<CoreParts, "prices">): Handlers<typeof PriceServiceService> {
  return {
    getPriceList: async () => ({ priceList: await prices?.show() }),
    listPriceChanges: async (request) => (await prices?.changes(request)) ?? { priceChanges: [], nextPageToken: "" },
    acceptPriceChanges: async ({ ids }, { act }) => {
      const some = someOf(ids);
      return { priceList: await boardOf(prices).accept(some, act) };
    },
    rejectPriceChanges: async ({ ids }, { act }) => {
      const some = someOf(ids);
      return { priceList: await boardOf(prices).reject(some, act) };
    },
    rollBackPriceList: async ({ serial }, { act }) => ({
      priceList: await boardOf(prices).rollBack(Number(serial), act),
    }),
    refreshPriceList: async () => ({ priceList: await boardOf(prices).read() }),
  };
}

function boardOf(board: PriceBoard | undefined): PriceBoard {
  if (board === undefined) throw unknown("prices", "published");
  return board;
}

function someOf(ids: readonly string[]): readonly string[] {
  if (ids.length === 0) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "ids" });
  return ids;
}
