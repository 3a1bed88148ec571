/** A tenant that means harm: sends every worst case once, in order, and tells what became of each. */
import { WORST_CASES } from "./worst-cases.mjs";

const [base = "", key = "", model = ""] = process.argv.slice(2);

for (const { name, path, body } of WORST_CASES) {
  const bytes = body(model);
  const startMs = performance.now();
  const response = await fetch(base + path.replace("MODEL", model), {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: bytes,
  }).catch((/** @type {unknown} */ error) => error);
  const status = response instanceof Response ? response.status : 0;
  if (response instanceof Response) await response.arrayBuffer().catch(() => undefined);
  process.stdout.write(`${JSON.stringify({ name, status, ms: performance.now() - startMs })}\n`);
}
