/** What axe finds on a page. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** One line for each violation. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  // The browser's debugger runs it, which the page's policy does not concern.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(async () => {
    // The edge: the script of the package puts itself there.
    const { axe } = window as unknown as { axe: { run(): Promise<axe.AxeResults> } };
    return axe.run();
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target} ${failureSummary}`),
  );
}
