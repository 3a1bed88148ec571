/** The page of settings: the file without its secrets, what decides, its editor, and what was made as a file. */
import { text as textIn } from "node:stream/consumers";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
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
    const field = page.getByLabel("Text of the file");
    const text = await field.inputValue();
    const lines = text.trimEnd().split("\n").length;
    await field.fill(`${text.trimEnd()}\n  sim-edited: { targets: [{ upstream: nowhere }], price: free }\n`);
    await page.getByRole("button", { name: "Save the file" }).click();
    await page.getByText("1 error found").waitFor();
    await page.getByRole("button", { name: `Line ${lines + 1}, column` }).click();
    const chosen = await field.evaluate((element: HTMLTextAreaElement) =>
      element.value.slice(element.selectionStart, element.selectionEnd),
    );
    expect(chosen).toMatch(/^nowhere/);
    await field.fill(
      `${text.trimEnd()}\n  sim-edited: { targets: [{ upstream: local, model: sim-1 }], price: free }\n`,
    );
    await page.getByRole("button", { name: "Check the file" }).click();
    await page.getByText("The file is valid.").waitFor();
    const sold = page.getByRole("region", { name: "Resulting model prices" });
    await sold.getByRole("row", { name: /sim-edited .* of the settings/ }).waitFor();

    // Somebody else is faster: nothing of theirs is written over.
    const { file } = await world.api<Shown>("/api/v1/settings");
    await world.api("/api/v1/settings:update", { content: `${file.content}# theirs\n`, etag: file.etag });
    await page.getByRole("button", { name: "Save the file" }).click();
    await page.getByText("was changed since you read it").waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Edit the file" }).click();
    const theirs = await field.inputValue();
    expect(theirs).toContain("# theirs");
    await field.fill(
      theirs.replace("# theirs\n", "  sim-edited: { targets: [{ upstream: local, model: sim-1 }], price: free }\n"),
    );
    await page.getByRole("button", { name: "Save the file" }).click();
    await page.getByRole("row", { name: /Model sim-edited tollgate\.yaml/ }).waitFor();
    await page.getByText("in force", { exact: true }).waitFor();
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
