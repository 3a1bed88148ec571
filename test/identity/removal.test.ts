/** Whoever is removed takes along what stands in the store by then, and all of it is told. */
import { expect, test } from "vitest";
import { onEachStore, openStore } from "../support/stores.js";
import { act, openPeople, OPERATOR } from "./people-world.js";

onEachStore((driver) => {
  test("a hidden key that is made as its person is removed is told as ended", async () => {
    const store = await openStore(driver);
    const told: string[] = [];
    const keys = {
      publishUser: () => Promise.resolve(),
      publishRights: (id: string) => Promise.resolve(void told.push(id)),
    };
    const people: typeof store.people = {
      ...store.people,
      removeUser: async (id, ...rest) => {
        // The last moment at which the person may still make one.
        expect(await store.people.playgroundKey(id, "acme", "key_hidden")).toBe("key_hidden");
        return store.people.removeUser(id, ...rest);
      },
    };
    const { identity, person } = await openPeople({ ...store, people }, { keys });
    const { user } = await person("leaving");
    expect(await identity.members.remove(user.id, false, OPERATOR, act())).toEqual(["acme"]);
    expect(told).toEqual([user.id]);
  });
});
