/** A gateway that has made some of everything that its metrics count. */
import { rmSync } from "node:fs";
import { expect } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { settingsFor } from "../../support/world.js";

export interface MetricsWorld {
  readonly upstream: FakeUpstream;
  readonly gateway: GatewayProcess;
  /** Answers, refusals, and an upstream that fails. */
  makeCalls(): Promise<void>;
  close(): Promise<void>;
}

/** With the first calls made, and a budget of the account `acme`. */
export async function startMetricsWorld(): Promise<MetricsWorld> {
  const upstream = await startFakeUpstream();
  const gateway = await startGateway({
    settings: `${settingsFor(upstream.url)}metrics: { accounts: [acme, nobody] }\n`,
  });
  const management = new Management(gateway);
  await management.account("acme", 2_000_000_000n);
  const budgets = {
    settings: { budget_day_nanos: "1000000", budget_month_nanos: "0" },
    update_mask: "budget_day_nanos",
  };
  const updated = await management.call("PATCH", "/accounts/acme", budgets);
  expect(updated.status, JSON.stringify(updated.body)).toBe(200);
  const { secret } = await management.makeKey("acme");
  const makeCalls = async (): Promise<void> => {
    await readAll(await postChat(gateway, secret, chat("Hello", { stream: true })));
    await readAll(await postChat(gateway, secret, chat("Hello")));
    await readAll(await postChat(gateway, secret, chat(script({ status: 400 }))));
    await readAll(await postChat(gateway, secret, chat("Hello", { model: "gone-1" })));
    await readAll(await postChat(gateway, secret, chat("Hello", { model: "unknown-1" })));
    await readAll(await postChat(gateway, "sk-of-nobody-0123456789abcdef0123456789", chat("Hello")));
  };
  await makeCalls();
  const close = async (): Promise<void> => {
    await gateway.stop();
    await upstream.close();
    rmSync(gateway.dataDirectory, { recursive: true });
  };
  return { upstream, gateway, makeCalls, close };
}
