/** Whoever holds an invitation learns by it nothing of who else is known. */
import { expect, test } from "vitest";
import { onEachStore, openStore } from "../support/stores.js";
import { act, HOME, NO_FACTOR, openPeople, OPERATOR, PASSWORD, reasonOf } from "./people-world.js";

onEachStore((driver) => {
  test("a malformed password or name is refused alike for an address that is known and one that is not", async () => {
    const { identity, person } = await openPeople(await openStore(driver));
    await person("known");
    const wish = { accountId: "acme", role: "member", installationRole: null, email: "", ttlSeconds: 0 } as const;
    const { token } = await identity.members.invite(wish, OPERATOR, act());
    const accepting = (name: string, called: string, password: string): Promise<string> =>
      reasonOf(() => {
        const email = `${name}@example.com`;
        return identity.acceptInvitation(token, { email, name: called, password, ...NO_FACTOR }, HOME, act());
      });
    for (const name of ["known", "unknown"]) {
      expect(await accepting(name, name, "x")).toBe("PARAMETER_INVALID");
      expect(await accepting(name, "n".repeat(1_000), PASSWORD)).toBe("PARAMETER_INVALID");
    }
  });
});
