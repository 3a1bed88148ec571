/** docs/members.md names each member, tool and beta of the tables, under what is done with it. */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MARK, membersSections } from "../../support/members-page.js";

const PAGE = new URL("../../../docs/members.md", import.meta.url);

test("the page of members is what the tables say; TOLLGATE_WRITE_DOCS=1 writes it", async () => {
  const page = readFileSync(PAGE, "utf8");
  const [prose = ""] = page.split(MARK);
  const made = `${prose}${MARK}\n${await membersSections()}`;
  if (process.env["TOLLGATE_WRITE_DOCS"] !== undefined) writeFileSync(PAGE, made);
  expect(readFileSync(PAGE, "utf8")).toBe(made);
  for (const wire of ["anthropic", "gemini", "openai-chat", "openai-responses"]) expect(made).toContain(`## ${wire}\n`);
});
