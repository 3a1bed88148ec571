/** Keys and people between two builds: what one makes, changes or ends, the other knows. */
import { expect } from "vitest";
import { type Crossing, PATIENT, type Subject } from "../crossing.js";

const GRACE_SECONDS = 3_600;
const PASSWORD = "another long enough password";

export const keys: Subject = {
  name: "keys",
  cross: async (crossing) => {
    const { here, there } = crossing.parts;
    await crossing.opened(100);
    const { id, secret } = await crossing.keyAt(here);
    for (const node of [there, here]) await crossing.served(node, secret);
    // For a while the old secret lives on beside the new one, at both.
    const rotated = await crossing.manage(there, "POST", `/keys/${id}:rotate`, { grace_seconds: GRACE_SECONDS });
    const second = String(rotated["secret"]);
    for (const node of [here, there]) for (const one of [secret, second]) await crossing.served(node, one);
    const third = String((await crossing.manage(here, "POST", `/keys/${id}:rotate`, { grace_seconds: 0 }))["secret"]);
    await crossing.served(there, third);
    for (const node of [there, here]) await crossing.refused(node, second);
    const settings = { requests_per_minute: "1000" };
    await crossing.manage(there, "PATCH", `/keys/${id}`, { settings });
    await crossing.bothSay(`/keys/${id}`, { key: { settings } });
    expect((await crossing.served(here, third)).headers.get("x-ratelimit-limit-requests")).toBe("1000");
    await crossing.manage(there, "DELETE", `/keys/${id}`);
    for (const node of [here, there]) await crossing.refused(node, third);
  },
};

export const people: Subject = {
  name: "people",
  cross: async (crossing) => {
    const { here, there, account, operator } = crossing.parts;
    await crossing.opened(10);
    const invitation = await crossing.asPerson(
      crossing.browserAt(there, operator),
      "POST",
      `/accounts/${account}/invitations`,
      { role: "admin" },
    );
    const email = `${account}@example.com`;
    const joined = crossing.browserAt(here);
    const joining = { token: invitation.body["token"], email, password: PASSWORD };
    await crossing.asPerson(joined, "POST", "/invitations:accept", joining);
    const elsewhere = crossing.browserAt(there, joined);
    const who = await crossing.asPerson(elsewhere, "GET", "/session");
    expect(who.body).toMatchObject({ user: { email }, memberships: [{ account_id: account, role: "admin" }] });
    const signedIn = await signIn(crossing, email, PASSWORD);
    await crossing.asPerson(crossing.browserAt(here, signedIn), "GET", `/accounts/${account}`);
    const changed = { password: PASSWORD, new_password: `${PASSWORD} 2` };
    await crossing.asPerson(signedIn, "POST", "/session:changePassword", changed);
    // A new password ends all sessions but the one that asked.
    await crossing.asPerson(joined, "GET", "/session", undefined, 401);
    const again = await signIn(crossing, email, changed.new_password);
    const sessions = await crossing.asPerson(crossing.browserAt(here, again), "GET", "/sessions");
    expect(sessions.body["sessions"]).toHaveLength(1);
    await crossing.asPerson(crossing.browserAt(here, again), "POST", "/sessions:end", {});
    for (const browser of [again, signedIn]) await crossing.asPerson(browser, "GET", "/session", undefined, 401);
  },
};

async function signIn(crossing: Crossing, email: string, password: string) {
  const browser = crossing.browserAt(crossing.parts.there);
  await crossing.asPerson(browser, "POST", "/sessions", { email, password });
  await expect.poll(async () => (await browser.call("GET", "/session")).status, PATIENT).toBe(200);
  return browser;
}
