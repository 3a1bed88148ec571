/**
 * Somebody at a page, by mouse or by keyboard alone: a job of a test is written once for both. The mouse counts its
 * clicks. Whoever fills a form goes from field to field by Tab, so that typing costs no click; a choice costs two.
 */
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { here, press as pressKey, tabTo } from "./by-keyboard.js";

export interface PressOptions {
  /** A text of the table's row that the button is in. */
  readonly row?: string;
}

export interface Hand {
  /** How often it has clicked so far. */
  readonly clicks: number;
  /** Presses a button or a link, or opens what is folded. */
  press(name: string, options?: PressOptions): Promise<void>;
  check(name: string | RegExp): Promise<void>;
  type(label: string, text: string): Promise<void>;
  choose(label: string, option: string): Promise<void>;
  /** Goes to a page by the navigation. */
  visit(page: string): Promise<void>;
  /** Opens a menu of the navigation, and takes one of its items. */
  take(menu: string, item: string): Promise<void>;
}

export interface HandKind {
  readonly name: string;
  readonly window: BrowserContextOptions;
  at(page: Page): Hand;
}

const ITEMS_MAX = 20;
const ROW_STOPS_MAX = 200;

class Mouse implements Hand {
  clicks = 0;
  constructor(private readonly page: Page) {}

  async press(name: string, { row }: PressOptions = {}): Promise<void> {
    const place = row === undefined ? this.page : this.page.getByRole("row").filter({ hasText: row });
    const named = { name, exact: true };
    const folded = this.page.locator("summary", { hasText: name });
    await this.#click(place.getByRole("button", named).or(place.getByRole("link", named)).or(folded));
  }

  check(name: string | RegExp): Promise<void> {
    return this.#click(this.page.getByRole("checkbox", { name }));
  }

  async type(label: string, text: string): Promise<void> {
    await this.page.getByLabel(label, { exact: true }).first().fill(text);
  }

  async choose(label: string, option: string): Promise<void> {
    this.clicks += 2;
    await this.page.getByLabel(label, { exact: true }).selectOption({ label: option });
  }

  visit(page: string): Promise<void> {
    const pages = this.page.getByRole("navigation", { name: "Pages" });
    return this.#click(pages.getByRole("link", { name: page, exact: true }));
  }

  async take(menu: string, item: string): Promise<void> {
    await this.#click(this.page.getByRole("button", { name: menu }));
    await this.#click(this.page.getByRole("menuitem", { name: item }));
  }

  async #click(what: Locator): Promise<void> {
    this.clicks += 1;
    await what.first().click();
  }
}

class Keyboard implements Hand {
  readonly clicks = 0;
  constructor(private readonly page: Page) {}

  async press(name: string, { row }: PressOptions = {}): Promise<void> {
    await this.#isThere(name);
    if (row === undefined) return pressKey(this.page, name);
    for (let stop = 0; stop < ROW_STOPS_MAX; stop++) {
      await tabTo(this.page, name);
      const text = await this.page.evaluate(() => document.activeElement?.closest("tr")?.textContent ?? "");
      if (text.includes(row)) return this.page.keyboard.press("Enter");
      await this.page.keyboard.press("Tab");
    }
    throw new Error(`no row of ${row} has a button ${name}`);
  }

  async check(name: string | RegExp): Promise<void> {
    await this.page.getByRole("checkbox", { name }).first().waitFor();
    await pressKey(this.page, name, "Space");
  }

  async type(label: string, text: string): Promise<void> {
    await this.page.getByLabel(label, { exact: true }).first().waitFor();
    await tabTo(this.page, label);
    // A field that is entered by Tab has its text selected.
    await this.page.keyboard.type(text);
  }

  async choose(label: string, option: string): Promise<void> {
    await this.page.getByLabel(label, { exact: true }).first().waitFor();
    await tabTo(this.page, label);
    await this.page.keyboard.type(option);
  }

  async visit(page: string): Promise<void> {
    await pressKey(this.page, "Menu");
    await this.#isThere(page);
    await pressKey(this.page, page);
  }

  async take(menu: string, item: string): Promise<void> {
    await pressKey(this.page, "Menu");
    await pressKey(this.page, new RegExp(`${menu}$`));
    await this.page.getByRole("menuitem", { name: item }).waitFor();
    for (let stop = 0; stop < ITEMS_MAX; stop++) {
      if ((await here(this.page)).name === item) return this.page.keyboard.press("Enter");
      await this.page.keyboard.press("ArrowDown");
    }
    throw new Error(`the menu has no item ${item}`);
  }

  async #isThere(name: string): Promise<void> {
    const named = { name, exact: true };
    const { page } = this;
    const folded = page.locator("summary", { hasText: name });
    await expect
      .poll(() => page.getByRole("button", named).or(page.getByRole("link", named)).or(folded).count())
      .toBeGreaterThan(0);
  }
}

export const MOUSE: HandKind = { name: "by mouse", window: {}, at: (page) => new Mouse(page) };
export const KEYBOARD: HandKind = {
  name: "by keyboard alone, 360 pixels wide",
  window: { viewport: { width: 360, height: 800 } },
  at: (page) => new Keyboard(page),
};
export const HANDS: readonly HandKind[] = [MOUSE, KEYBOARD];
