/** `tollgate codes`: a batch is made, listed, redeemed and ended without a console. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CommandResult } from "../support/command.js";
import { commandsOfOneProcess } from "../support/commands.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../support/gateway-process.js";

const tollgate = commandsOfOneProcess();
let gateway: GatewayProcess;
beforeAll(async () => {
  gateway = await startGateway({ settings: "accounts:\n  acme: {}\n" });
});
afterAll(() => gateway.kill());

const codes = (...words: string[]): Promise<CommandResult> =>
  tollgate(["codes", ...words, "--gateway", gateway.grpc], { TOLLGATE_OPERATOR_KEY: OPERATOR_KEY });

test("a batch is made once, its codes are redeemed, and the rest of them end", async () => {
  expect((await codes("batches")).stdout).toBe("No batches.\n");
  const made = await codes("create", "12.50", "--count", "3", "--days", "30", "--note", "spring");
  expect(made).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Made batch_\w+\. .*shown once/) });
  const [code = ""] = made.stdout.trim().split("\n");
  expect(made.stdout).toMatch(/^(TG-[A-Z2-7-]+\n){3}$/);
  const batch = /batch_\w+/.exec(made.stderr)?.[0] ?? "";

  const redeemed = "Credited 12.50 USD; 12.50 USD are free to spend.\n";
  expect(await codes("redeem", "acme", code)).toMatchObject({ code: 0, stdout: redeemed });
  expect((await codes("redeem", "acme", code)).stdout).toMatch(/^acme had redeemed it before: 12\.50 USD/);
  expect((await codes("redeem", "acme", "TG-NONE")).code).not.toBe(0);

  const listed = await codes("list", "--batch", batch);
  expect(listed.stdout).toMatch(/topup_\w+ +batch_\w+ +12\.50 +redeemed +acme/);
  expect(listed.stdout.match(/ open /g)).toHaveLength(2);
  expect(listed.stdout).not.toContain(code);
  expect((await codes("void", batch)).stdout).toBe("Voided 2 codes.\n");
  expect((await codes("batches")).stdout).toMatch(/batch_\w+ +spring +12\.50 +3 +1 +2 +20\S+ +20/);
  const asJson: unknown = JSON.parse((await codes("batches", "--json")).stdout);
  expect(asJson).toMatchObject({ top_up_batches: [{ redeemed_count: 1 }] });
});
