/** What a first start says to the person who started it. Secrets stand here once and never in the log. */
import { runnable } from "../base/package-root.js";
import type { Core } from "./core.js";

/**
 * Prints the address (`base`, with its scheme), and the keys that were made now with a line to try them. Without an
 * address (HTTP is off, or the start failed) only the keys are printed.
 */
export function printWelcome(base: string | undefined, shown: Core["shown"]): void {
  const { operatorKey, clientKey, welcomeToken } = shown;
  const made = operatorKey !== undefined || clientKey !== undefined;
  if (base === undefined && !made) return;
  const lines = base === undefined ? [""] : ["", `Tollgate serves ${base}  (OpenAI clients: ${base}/v1)`, ""];
  if (base !== undefined && welcomeToken !== undefined) {
    // Behind the #, so that no server and no proxy writes it down.
    lines.push("Open the console and be its first operator; the link works once, within an hour:");
    lines.push(`  ${base}/console/welcome#${welcomeToken}`, "");
  }
  if (made) lines.push("These keys are shown this once; keep them:");
  if (operatorKey !== undefined) lines.push(`  operator key  ${operatorKey}`);
  if (clientKey !== undefined) lines.push(`  client key    ${clientKey}  (with 10.00 USD of credit)`);
  if (operatorKey !== undefined && clientKey === undefined) lines.push("", ...FIRST_CLIENT);
  if (clientKey !== undefined && base !== undefined) lines.push("", "Try it:", "", `  ${curlLine(base, clientKey)}`);
  if (!made) {
    lines.push(
      "Use the operator key that the first start printed, or the current TOLLGATE_OPERATOR_KEY. 'tollgate key create'",
      "makes others with it. If it is lost, start with TOLLGATE_OPERATOR_KEY set to a new one: sk- and at least 16 more",
      "characters.",
    );
  }
  process.stderr.write(`${runnable(lines.join("\n"))}\n\n`);
}

/** What makes the first client, where none was made for a demonstration. */
const FIRST_CLIENT = [
  "A client needs an account, credit and a key: the console's first steps make them, or with the operator key in",
  "TOLLGATE_OPERATOR_KEY:",
  "  tollgate account create acme",
  "  tollgate account credit acme 10.00 --id first",
  "  tollgate key create acme --name first",
  "Without upstreams of your own, the built-in model sim-1 answers it, free. For real models add an upstream in the",
  "console, write tollgate.yaml, or set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY and start again. Only to",
  "try: tollgate serve --demo",
];

function curlLine(base: string, key: string): string {
  const body = JSON.stringify({ model: "sim-1", messages: [{ role: "user", content: "Say hello." }] });
  const headers = `-H 'authorization: Bearer ${key}' -H 'content-type: application/json'`;
  return `curl ${base}/v1/chat/completions ${headers} -d '${body}'`;
}
