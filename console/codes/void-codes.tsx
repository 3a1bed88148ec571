/** Ends the open codes of a batch, or one of them, after it said what that does. */
import type { ReactNode } from "react";
import { listTopUpBatches, listTopUpCodes, voidTopUpCodes } from "../../gen/console/payment_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { codeWords } from "../copy/en-codes.ts";
import { Confirm } from "../parts/confirm.tsx";

export interface VoidCodesParts {
  readonly batchId: string;
  /** Absent: all that are open. */
  readonly id?: string;
  readonly onClose: () => void;
}

export function VoidCodes({ batchId, id = "", onClose }: VoidCodesParts): ReactNode {
  return (
    <Confirm
      title={id === "" ? codeWords.voidTitle : codeWords.voidOneTitle}
      go={codeWords.void}
      failed={codeWords.voidFailed}
      act={async () => {
        await call(voidTopUpCodes, { batchId, id });
        await forget(listTopUpBatches, listTopUpCodes);
      }}
      onClose={onClose}
    >
      <p>{codeWords.voidWill}</p>
    </Confirm>
  );
}
