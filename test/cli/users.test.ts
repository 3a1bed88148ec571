/** `tollgate users`: people are made, invited, reset, signed out and removed without a console. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser, FIRST, firstOperator } from "../support/browser.js";
import type { CommandResult } from "../support/command.js";
import { commandsOfOneProcess } from "../support/commands.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../support/gateway-process.js";

const PASSWORD = "another long enough password";
const tollgate = commandsOfOneProcess();
let gateway: GatewayProcess;
beforeAll(async () => {
  gateway = await startGateway({ settings: "accounts:\n  acme: {}\n" });
});
afterAll(() => gateway.kill());

const users = (...words: string[]): Promise<CommandResult> =>
  tollgate(["users", ...words, "--gateway", gateway.grpc], { TOLLGATE_OPERATOR_KEY: OPERATOR_KEY });

test("people are listed, made, reset, signed out and removed, and each link works once", async () => {
  expect((await users("list")).stdout).toBe("Nobody yet: the gateway printed a link for the first operator.\n");
  await firstOperator(gateway);
  const made = await users("create", "Bob@example.com", "--name", "Bob", "--account", "acme", "--role", "admin");
  expect(made).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Made user_\w+\. .* works once/) });
  expect(made.stdout).toMatch(/^http:\/\/127\.0\.0\.1:8080\/console\/password#[\w-]{43}\n$/);
  const bob = new Browser(gateway);
  const token = made.stdout.trim().split("#")[1];
  expect((await bob.call("POST", "/passwords", { token, password: PASSWORD })).status).toBe(200);
  expect((await bob.signIn("bob@example.com", PASSWORD)).status).toBe(200);
  expect((await bob.call("GET", "/session")).body).toMatchObject({ account_id: "acme", role: "admin" });

  const table = await users("list");
  expect(table.stdout.split("\n")[0]).toMatch(/^PERSON +E-MAIL +NAME +INSTALLATION +SECOND FACTOR +SIGNED IN$/);
  expect(table.stdout).toMatch(/user_\w+ +ada@example\.com +Ada +operator +no +20/);
  expect(table.stdout).toMatch(/user_\w+ +bob@example\.com +Bob +- +no +20/);
  expect(JSON.parse((await users("list", "--json")).stdout)).toMatchObject({ users: [{}, {}] });

  expect(await users("sign-out", "bob@example.com")).toMatchObject({
    code: 0,
    stdout: "Signed bob@example.com out everywhere.\n",
  });
  expect((await bob.call("GET", "/session")).reason).toBe("SESSION_ENDED");
  const reset = await users("reset", "bob@example.com", "--second-factor", "--console", "https://gate.example.com/");
  expect(reset.stdout).toMatch(/^https:\/\/gate\.example\.com\/console\/password#[\w-]{43}\n$/);
  expect(await users("remove", "bob@example.com")).toMatchObject({
    code: 0,
    stdout: "Removed bob@example.com; keys that the person made are revoked.\n",
  });
  expect((await bob.signIn("bob@example.com", PASSWORD)).reason).toBe("SIGN_IN_REFUSED");
});

test("invitations lead to an account or to the installation", async () => {
  const joined = new Browser(gateway);
  const invited = await users("invite", "--account", "acme", "--role", "viewer");
  expect(invited.stdout).toMatch(/\/console\/invitation#[\w-]{43}\n$/);
  const wish = { token: invited.stdout.trim().split("#")[1], email: "vera@example.com", password: PASSWORD };
  expect((await joined.call("POST", "/invitations:accept", wish)).status).toBe(200);
  expect((await joined.call("GET", "/session")).body).toMatchObject({ role: "viewer" });
  const auditor = await users("invite", "--installation", "auditor", "--json");
  expect(JSON.parse(auditor.stdout)).toMatchObject({
    invitation: { installation_role: "auditor" },
    token: expect.any(String),
  });
});

test.each([
  { words: ["remove", FIRST.email], says: /There would be no operator/ },
  { words: ["reset", "nobody@example.com"], says: /nobody@example\.com/ },
  { words: ["create", "no address"], says: /e-mail address/ },
  { words: ["create", FIRST.email], says: /ada@example\.com/ },
  { words: ["invite", "--account", "none-such"], says: /none-such/ },
  { words: ["invite", "--role", "king"], says: /owner, admin, member, viewer/ },
])("$words is refused in one line", async ({ words, says }) => {
  const refused = await users(...words);
  expect(refused.code).not.toBe(0);
  expect(refused.stdout).toBe("");
  expect(refused.stderr).toMatch(says);
  expect(refused.stderr.trim().split("\n")).toHaveLength(1);
});
