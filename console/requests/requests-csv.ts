/** The requests that are shown, as a file for a spreadsheet. Money is whole nano-USD and USD, as plain numbers. */
import type { RequestRecord } from "../../gen/console/usage_service.js";
import { metersCell } from "../../src/api/meters.ts";
import { formatUsd } from "../../src/base/money.ts";
import { csvOf } from "../parts/csv.ts";
import { inputOf, outputOf } from "./tokens.ts";

const HEAD = [
  "id",
  "create_time",
  "end_time",
  "key_id",
  "model",
  "upstream",
  "state",
  "input_tokens",
  "output_tokens",
  "meters",
  "charged_nanos",
  "charged_usd",
  "http_status",
  "error_reason",
  "end_user",
  "tags",
];

export function requestsCsv(requests: readonly RequestRecord[]): string {
  return csvOf(
    HEAD,
    requests.map(({ id, createTime, endTime, keyId, model, upstream, state, usage, chargedNanos, detail }) => [
      id,
      createTime?.toISOString() ?? "",
      endTime?.toISOString() ?? "",
      keyId,
      model,
      upstream,
      state,
      inputOf(usage),
      outputOf(usage),
      metersCell(usage?.meters ?? []),
      chargedNanos,
      formatUsd(chargedNanos),
      detail?.httpStatus ?? "",
      detail?.errorReason ?? "",
      detail?.endUser ?? "",
      detail?.tags.join(" ") ?? "",
    ]),
  );
}
