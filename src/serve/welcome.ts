/** What a first start says to the person who started it. Secrets stand here once and never in the log. */
import type { ShownOnce } from "./seeds.js";

/** Prints the address and, where they were made now, the keys with a line to try them. */
export function printWelcome(address: string, shown: ShownOnce): void {
  const lines: string[] = [];
  const base = `http://${address}`;
  if (shown.operatorKey !== undefined || shown.clientKey !== undefined) {
    lines.push("", `Tollgate serves ${base}  (OpenAI clients: ${base}/v1)`, "");
    lines.push("These keys are shown this once; keep them:");
    if (shown.operatorKey !== undefined) lines.push(`  operator key  ${shown.operatorKey}`);
    if (shown.clientKey !== undefined) lines.push(`  client key    ${shown.clientKey}  (with 10.00 USD of credit)`);
    if (shown.clientKey !== undefined) lines.push("", "Try it:", "", `  ${curlLine(base, shown.clientKey)}`);
    lines.push("");
  } else {
    lines.push("", `Tollgate serves ${base}  (OpenAI clients: ${base}/v1)`);
    lines.push("The keys were shown at the first start. Lost? 'tollgate key create' makes another.", "");
  }
  process.stderr.write(`${lines.join("\n")}\n`);
}

function curlLine(base: string, key: string): string {
  const body = JSON.stringify({ model: "sim-1", messages: [{ role: "user", content: "Say hello." }] });
  const headers = `-H 'authorization: Bearer ${key}' -H 'content-type: application/json'`;
  return `curl ${base}/v1/chat/completions ${headers} -d '${body}'`;
}
