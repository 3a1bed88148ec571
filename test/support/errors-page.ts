/** The table of docs/errors.md, made from the one table of refusals and the protocol's own words. */
import { readFileSync } from "node:fs";
import { status } from "@grpc/grpc-js";
import { GatewayError, isReasonName, type ReasonName, REASONS, reasonWord } from "../../src/base/errors.js";
import { GRPC_CODES } from "../../src/rpc/call/grpc-codes.js";
import { codeOf } from "../../src/wire/error/code.js";
import { markdownTable } from "./reference-page.js";

const PROTO = "proto/tollgate/v1/error_reason.proto";

/** A reason, with what the protocol says of it and the metadata of its example. */
export interface DocumentedReason {
  readonly name: ReasonName;
  readonly meaning: string;
  readonly example: Readonly<Record<string, string>>;
}

export function documentedReasons(): readonly DocumentedReason[] {
  const values = readFileSync(PROTO, "utf8").matchAll(/((?: {2}\/\/.*\n)+) {2}(ERROR_REASON_\w+) = \d+/g);
  return [...values].flatMap(([, comment = "", name = ""]) => {
    if (!isReasonName(name)) return [];
    const text = comment
      .replaceAll(/^ *\/\/ ?/gm, "")
      .replaceAll("\n", " ")
      .trim();
    const [meaning = "", example = "{}"] = text.split(/ ?Example: /);
    const metadata: Record<string, string> = JSON.parse(example);
    return [{ name, meaning, example: metadata }];
  });
}

/** Everything below the head of the page, by HTTP status. */
export function errorsPage(): string {
  const reasons = documentedReasons().toSorted((a, b) => REASONS[a.name].http - REASONS[b.name].http);
  const rows = reasons.map(({ name, meaning, example }) => {
    const { http, retry, say } = REASONS[name];
    return [
      `\`${reasonWord(name)}\``,
      String(http),
      String(status[GRPC_CODES[name]]),
      `\`${codeOf(new GatewayError(name))}\``,
      retry ? "yes" : "no",
      `${meaning} *${say(example)}*`,
    ];
  });
  return markdownTable(["reason", "HTTP", "gRPC", "`code`", "retry?", "meaning, and an example message"], rows);
}
