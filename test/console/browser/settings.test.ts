/** The page of settings: the file without its secrets, what decides, its editor, and what was made as a file. */
import { text as textIn } from "node:stream/consumers";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { violationsOf } from "./axe.js";
import { here, tabTo } from "./by-keyboard.js";
import { joinWorld, type World } from "./world.js";

const CREDENTIAL = "fake-credential";
let world: World;
beforeAll(async () => {
  world = await joinWorld("settings", 0);
});
afterAll(() => world.close());

interface Shown {
  readonly file: { readonly content: string; readonly etag: string };
}

const isAlone = inject("shared").nodes === 1;

test.runIf(!isAlone)("the file of one of several nodes is shown and not edited", async () => {
  const page = await world.open("/admin/settings");
  await page.getByText("2 nodes serve, each by its own file").waitFor();
  expect(await page.getByRole("button", { name: "Edit the file" }).count()).toBe(0);
  await page.context().close();
});

test.runIf(isAlone)(
  "the file is edited in the page: what is wrong is shown where it is, and what is right comes into force",
  async () => {
    const page = await world.open("/admin/settings");
    await page.getByRole("heading", { name: "tollgate.yaml" }).waitFor();
    await expect
      .poll(() => page.getByRole("region", { name: "tollgate.yaml" }).textContent())
      .toContain('api_key: "(kept secret 1)"');
    expect(await page.content()).not.toContain(CREDENTIAL);
    await page.getByRole("row", { name: /Model sim-1 tollgate\.yaml/ }).waitFor();

    await page.getByRole("button", { name: "Edit the file" }).click();
    const editor = page.getByLabel("Text of the file");
    const write = async (text: string): Promise<void> => {
      await editor.click();
      await page.keyboard.press("Control+A");
      await page.keyboard.insertText(text);
    };
    const { file } = await world.api<Shown>("/api/v1/settings");
    const text = file.content.trimEnd();
    const lines = text.split("\n").length;
    await editor.waitFor();
    await page.getByText("The file is valid.").waitFor();
    await write(`${text}\n  sim-edited: { targets: [{ upstream: nowhere }], price: free }\n`);
    await page.getByText("1 error found").waitFor();
    await page.locator(".cm-lint-marker-error").waitFor();
    await page.getByRole("button", { name: "Save the file" }).click();
    await page.getByRole("button", { name: `Line ${lines + 1}, column` }).click();
    expect(await page.evaluate(() => window.getSelection()?.toString())).toMatch(/^nowhere/);
    await write(`${text}\n  sim-edited: { targets: [{ upstream: local, model: sim-1 }], price: free }\n`);
    await page.getByText("The file is valid.").waitFor();
    const sold = page.getByRole("region", { name: "Resulting model prices" });
    await sold.getByRole("row", { name: /sim-edited .* of the settings/ }).waitFor();

    // Somebody else is faster: nothing of theirs is written over.
    await world.api("/api/v1/settings:update", { content: `${file.content}# theirs\n`, etag: file.etag });
    await page.getByRole("button", { name: "Save the file" }).click();
    await page.getByText("was changed since you read it").first().waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Edit the file" }).click();
    await editor.getByText("# theirs").waitFor();
    await write(`${text}\n  sim-edited: { targets: [{ upstream: local, model: sim-1 }], price: free }\n`);
    await page.getByRole("button", { name: "Save the file" }).click();
    await page.getByRole("row", { name: /Model sim-edited tollgate\.yaml/ }).waitFor();
    await page.getByText("in force", { exact: true }).waitFor();
    await page.context().close();
  },
);

test.runIf(isAlone)(
  "the editor proposes what can stand at a place, and is left by keys, on a narrow and dark screen",
  async () => {
    const page = await world.open("/admin/settings", { viewport: { width: 360, height: 800 }, colorScheme: "dark" });
    await page.getByRole("button", { name: "Edit the file" }).focus();
    await page.keyboard.press("Enter");
    const editor = page.getByLabel("Text of the file");
    await editor.waitFor();
    await expect.poll(async () => (await here(page)).name).toBe("Text of the file");
    await page.keyboard.press("Control+End");
    await page.keyboard.type("\nupst");
    await page.getByRole("option", { name: /^upstreams/ }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    // The first Escape closes the list, and the second one makes way for Tab.
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    expect((await here(page)).name).not.toBe("Text of the file");
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(
      0,
    );
    await page.getByText(/errors? found/).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await world.keepPicture(page, "settings-editor-narrow");
    await tabTo(page, "Cancel");
    await page.keyboard.press("Enter");
    await editor.waitFor({ state: "detached" });
    await page.context().close();
  },
);

test("what was made in the console is saved as a settings file", async () => {
  const page = await world.open("/admin/settings");
  const coming = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download as YAML" }).click();
  const file = await coming;
  expect(file.suggestedFilename()).toBe("tollgate-export.yaml");
  const text = await textIn(await file.createReadStream());
  expect(text).toMatch(/^# What was made over the API[^]*\n {2}settings:\n {4}name: Acme Robotics\n/);
  await page.context().close();
});
