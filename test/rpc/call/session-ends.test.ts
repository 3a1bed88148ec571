/** What runs for a person ends with the session, also where nobody ended it. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Cancellation } from "../../../src/base/cancellation.js";
import { EventServiceService } from "../../../src/api/index.js";
import { ACCOUNT_HEADER, SESSION_HEADER } from "../../../src/api/session-headers.js";
import { SESSION_IDLE_MS } from "../../../src/store/people-rows.js";
import { TEST_ACT } from "../../support/acts.js";
import { NOW_MS, openCore, type OpenCore } from "../open-core.js";
import { signIn } from "../sign-in.js";

let core: OpenCore;
let clockMs = NOW_MS;
beforeEach(async () => {
  clockMs = NOW_MS;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  core = await openCore({}, () => clockMs);
  await core.makeKey("acme");
});
afterEach(async () => {
  vi.useRealTimers();
  await core.close();
});

function watch(token: string): { readonly ended: Promise<string>; readonly state: { over: boolean } } {
  const metadata = { [SESSION_HEADER]: token, [ACCOUNT_HEADER]: "acme" };
  const call = { metadata, signal: new Cancellation(), peer: "", local: true };
  const sink = { head: () => undefined, data: () => true, onDrain: () => undefined };
  const request = { accountId: "acme", subjectAccountId: "", alertId: "", type: "", afterId: "" };
  const state = { over: false };
  const ended = core.dispatcher.stream(EventServiceService.watchEvents, request, call, sink).then((outcome) => {
    state.over = true;
    return outcome.kind === "refused" ? outcome.error.reason : "ended";
  });
  return { ended, state };
}

test("a stream ends within a minute after its session is over by its age, and not before", async () => {
  const { ended, state } = watch(await signIn(core, "admin", "acme"));
  await vi.advanceTimersByTimeAsync(61_000);
  expect(state.over).toBe(false);
  clockMs += SESSION_IDLE_MS;
  await vi.advanceTimersByTimeAsync(61_000);
  expect(await ended).toBe("ERROR_REASON_SESSION_ENDED");
});

test("a session that ends while it is looked up begins no stream", async () => {
  const token = await signIn(core, "admin", "acme");
  const { ended } = watch(token);
  const [session] = await core.parts.identity.sessions("user_admin");
  await core.parts.identity.endSession("user_admin", session?.id ?? "", TEST_ACT);
  expect(await ended).toBe("ERROR_REASON_SESSION_ENDED");
});
