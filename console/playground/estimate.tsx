/** What the next message may cost, and whether it would be refused, said before it is sent. */
import { keepPreviousData, useQueries } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { estimateCost } from "../../gen/console/inference_service.js";
import { callWith } from "../api/client.ts";
import { playgroundWords } from "../copy/en-playground.ts";
import { money } from "../format.ts";
import { useSettled } from "../parts/settled.ts";
import { useSignedIn } from "../shell/session.ts";
import { bodyOf } from "./chat.ts";
import { askedOf, type Exchange, type Settings, turnsOf } from "./use-talk.ts";

export interface EstimateParts {
  readonly models: readonly string[];
  readonly text: string;
  readonly settings: Settings;
  readonly exchanges: readonly Exchange[];
}

export function Estimate({ models, text, settings, exchanges }: EstimateParts): ReactNode {
  const { account } = useSignedIn();
  const typed = useSettled(text);
  const estimates = useQueries({
    queries: models.map((model, column) => {
      const body = bodyOf(askedOf(model, turnsOf(exchanges, column, settings.system, typed), settings));
      return {
        queryKey: [estimateCost.name, account, body],
        // Not aborted where the text changes: a call that its client leaves is listed as a request that failed.
        queryFn: () => callWith(estimateCost, body, { account }),
        enabled: typed.trim() !== "",
        placeholderData: keepPreviousData,
      };
    }),
  });
  return (
    <p className="soft estimate" role="status">
      {text.trim() === ""
        ? ""
        : estimates.map(({ data }, index) =>
            data === undefined ? null : (
              <span key={models[index]}>
                {data.errorMessage !== ""
                  ? `${playgroundWords.refusedBefore} ${data.errorMessage}`
                  : data.mostCostNanos === 0n
                    ? playgroundWords.estimateFree
                    : playgroundWords.estimate(money(data.leastCostNanos), money(data.mostCostNanos))}
              </span>
            ),
          )}
    </p>
  );
}
