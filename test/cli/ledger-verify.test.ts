/** `tollgate ledger verify` says in plain words that a ledger was changed behind the gateway's back, and where. */
import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { tollgate } from "../support/command.js";
import { OPERATOR_KEY, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import { tamperDatabase } from "../support/database-behind.js";

test("a changed transfer is named, and the command fails", async () => {
  const first = await startGateway();
  const management = new Management(first);
  await management.account("acme", 5n);
  for (const id of ["second", "third"])
    await management.call("POST", "/accounts/acme:credit", { amount_nanos: "7", credit_id: id });
  const verify = (core: string): ReturnType<typeof tollgate> =>
    tollgate(["ledger", "verify"], { TOLLGATE_GATEWAY: core, TOLLGATE_OPERATOR_KEY: OPERATOR_KEY });
  expect(await verify(first.grpc)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^The ledger holds: .*3 tr/),
  });
  await first.stop();

  await tamperDatabase(first.dataDirectory, "UPDATE transfer SET posted_nanos = 8 WHERE credit_id = 'second'");

  const second = await startGateway({ dataDirectory: first.dataDirectory });
  try {
    const { code, stdout } = await verify(second.grpc);
    expect(code).toBe(7);
    const [head, ...problems] = stdout.trim().split("\n");
    expect(head).toMatch(/^The ledger does NOT hold: /);
    expect(problems[0]).toMatch(/^- The transfer \d+ \(c:second\) was changed/);
    expect(problems.join("\n")).not.toContain("c:third");
  } finally {
    await second.stop();
    rmSync(first.dataDirectory, { recursive: true });
  }
});
