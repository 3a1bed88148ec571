/** What a person without a mouse does: each stop on the way must be seen. */
import type { Page } from "playwright-core";
import { expect } from "vitest";

const STOPS_MAX = 60;

interface Stop {
  readonly name: string;
  readonly isSeen: boolean;
}

/** What has the focus, by the name that a person hears, and whether its focus is drawn. */
export async function here(page: Page): Promise<Stop> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (element === null || element === document.body) return { name: "", isSeen: true };
    // The edge: only fields have labels.
    const { labels } = element as HTMLInputElement;
    const name = element.getAttribute("aria-label") ?? labels?.[0]?.textContent ?? element.textContent;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    // A dialog that opened has the focus itself: all of it is what the person looks at.
    const isDialog = element.matches("[role=dialog], [role=alertdialog]");
    const isDrawn = isDialog || (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
    return { name: name.trim(), isSeen: isDrawn && box.bottom > 0 && box.top < window.innerHeight };
  });
}

/** Goes on by Tab to what has the name; each stop on the way is seen. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const passed: string[] = [];
  for (let stop = 0; stop < STOPS_MAX; stop++) {
    const at = await here(page);
    expect(at.isSeen, `${at.name} has the focus and is not seen`).toBe(true);
    if (typeof name === "string" ? at.name === name : name.test(at.name)) return;
    passed.push(at.name);
    await page.keyboard.press("Tab");
  }
  throw new Error(`no stop is called ${name}: ${passed.join(" | ")}`);
}

export async function press(page: Page, name: string | RegExp, key = "Enter"): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press(key);
}
