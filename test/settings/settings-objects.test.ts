/** Objects on two nodes of one database: whatever the order of commits, no set is wrong and no change is lost. */
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { SecretSeal } from "../../src/alerts/seal.js";
import { SettingsObjects } from "../../src/settings/settings-objects.js";
import { checkSet, type ObjectEdit } from "../../src/settings/object-set.js";
import type { Store } from "../../src/store/store.js";
import { TEST_ACT } from "../support/acts.js";
import { pick, randomOf } from "../support/random.js";
import { onEachStore, openStore } from "../support/stores.js";
import { AROUND, edit, entryIn, model, upstream } from "./fixtures.js";

const ROUNDS = process.env["TOLLGATE_SWEEP"] === "long" ? 400 : 40;
const KEY = randomBytes(32);

onEachStore((driver) => {
  const nodeOn = (store: Store, key = KEY): SettingsObjects =>
    new SettingsObjects({ store: store.people, seal: new SecretSeal({ keys: [key] }), env: {}, nowMs: Date.now });
  const commit = (node: SettingsObjects, edits: readonly ObjectEdit[]) =>
    node.commit(
      () => edits,
      () => AROUND,
      { act: TEST_ACT },
    );

  test("what one node commits, another one reads: block, secret, revision", async () => {
    const store = await openStore(driver);
    const [one, other] = [nodeOn(store), nodeOn(store)];
    await other.refresh();
    await commit(one, [upstream("vendor"), model("fast", "vendor")]);
    await other.refresh();
    expect(other.set.revision).toBe(1);
    expect(entryIn(other.set, "upstream", "vendor")).toMatchObject({
      block: { family: "openai" },
      secrets: { api_key: "sk-of-a-test" },
    });
    expect(other.usable(AROUND).models.map(({ id }) => id)).toEqual(["fast"]);
  });

  test("of two who are each right alone and wrong together, one is refused", async () => {
    const store = await openStore(driver);
    const [one, other] = [nodeOn(store), nodeOn(store)];
    await commit(one, [upstream("vendor")]);
    await other.refresh();
    const ended = await Promise.allSettled([
      commit(one, [edit("upstream", "vendor", undefined)]),
      commit(other, [model("fast", "vendor")]),
    ]);
    expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await one.refresh();
    expect(checkSet(one.set.entries.values(), AROUND).problems).toEqual([]);
  });

  test("a search over interleavings: every set is valid, and each accepted change is there", async () => {
    const store = await openStore(driver);
    const nodes = [nodeOn(store), nodeOn(store), nodeOn(store)];
    const random = randomOf(Number(process.env["TOLLGATE_SEED"] ?? 7));
    const names = ["a", "b", "c"];
    const edits = (): readonly ObjectEdit[] => {
      const [name, on] = [pick(random, names), pick(random, names)];
      const one = pick(random, [
        upstream(name, { base_url: `http://${name}/v1` }),
        edit("upstream", name, undefined),
        model(name, on),
        edit("model", name, undefined),
      ]);
      return random() < 0.3 ? [one, model(`${name}-more`, on)] : [one];
    };
    let accepted = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const tried = nodes.map((node) => ({ node, edits: edits() }));
      const ended = await Promise.allSettled(tried.map(({ node, edits }) => commit(node, edits)));
      accepted += ended.filter(({ status }) => status === "fulfilled").length;
      for (const node of nodes) await node.refresh();
      const [first] = nodes;
      expect(checkSet(first?.set.entries.values() ?? [], AROUND).problems).toEqual([]);
      for (const node of nodes) expect(node.set).toEqual(first?.set);
    }
    expect(accepted).toBeGreaterThan(ROUNDS);
    const revisions = await nodes[0]?.revisions(Number.MAX_SAFE_INTEGER, 1_000);
    // No number twice, none left out.
    expect(revisions?.map(({ revision }) => revision)).toEqual(
      revisions?.map((_, index) => (revisions[0]?.revision ?? 0) - index),
    );
  });

  test("a node that cannot open a secret sets its object aside, and loses nothing by other commits", async () => {
    const store = await openStore(driver);
    const [one, stranger] = [nodeOn(store), nodeOn(store, randomBytes(32))];
    await commit(one, [upstream("vendor"), model("fast", "vendor"), upstream("other")]);
    await stranger.refresh();
    const usable = stranger.usable(AROUND);
    expect(usable.aside.get("upstream/vendor")).toContain("another TOLLGATE_SECRET");
    // A model keeps the targets that it has elsewhere.
    expect(usable.models.map(({ id }) => id)).toEqual(["fast"]);
    await commit(stranger, [edit("upstream", "vendor", { family: "openai", unknown_members: "refuse" })]);
    await one.refresh();
    expect(entryIn(one.set, "upstream", "vendor")?.secrets).toEqual({ api_key: "sk-of-a-test" });
    // What it cannot read it sends to nobody else either.
    const elsewhere = edit("upstream", "vendor", { family: "openai", base_url: "http://elsewhere/v1" });
    await expect(commit(stranger, [elsewhere])).rejects.toMatchObject({ metadata: { param: "api_key" } });
  });

  test("an older revision is restored, secrets as they are now", async () => {
    const store = await openStore(driver);
    const node = nodeOn(store);
    await commit(node, [upstream("vendor"), model("fast", "vendor")]);
    await commit(node, [upstream("vendor", { api_key: "sk-newer-of-a-test" })]);
    await commit(node, [edit("model", "fast", undefined), model("slow", "vendor")]);
    const { makeEdits, newest } = await node.restoring(1, 100);
    await node.commit(makeEdits, () => AROUND, { act: TEST_ACT, revision: newest });
    expect([...node.set.entries.keys()].sort()).toEqual(["model/fast", "upstream/vendor"]);
    expect(entryIn(node.set, "upstream", "vendor")?.secrets).toEqual({ api_key: "sk-newer-of-a-test" });
    await expect(node.restoring(99, 100)).rejects.toMatchObject({ reason: "ERROR_REASON_RESOURCE_UNKNOWN" });
  });

  test("aliases, fallbacks and their models come back together, and a restore breaks no reference", async () => {
    const store = await openStore(driver);
    const node = nodeOn(store);
    const restore = async (revision: number): Promise<void> => {
      const { makeEdits, newest } = await node.restoring(revision, 100);
      await node.commit(makeEdits, () => AROUND, { act: TEST_ACT, revision: newest });
    };
    const quick = edit("alias", "quick", { model: "fast" });
    await commit(node, [upstream("vendor"), model("fast", "vendor")]);
    await commit(node, [quick, model("slow", "vendor", { fallbacks: ["quick"] })]);
    await commit(node, [edit("alias", "quick", undefined), model("slow", "vendor"), edit("model", "fast", undefined)]);
    await restore(2);
    expect(entryIn(node.set, "alias", "quick")?.block).toEqual({ model: "fast" });
    expect(entryIn(node.set, "model", "slow")?.block).toMatchObject({ fallbacks: ["quick"] });
    await restore(1);
    expect([...node.set.entries.keys()].sort()).toEqual(["model/fast", "upstream/vendor"]);
    // An alias of this node's file names the model that the older revision does not have.
    await commit(node, [model("slow", "vendor")]);
    const { makeEdits, newest } = await node.restoring(1, 100);
    const fileAliases = new Map([["speedy", "slow"]]);
    const around = () => ({ ...AROUND, fileAliases });
    await expect(node.commit(makeEdits, around, { act: TEST_ACT, revision: newest })).rejects.toThrow(
      "is named by the alias speedy of the settings file",
    );
  });

  test("an object that is gone is not restored without the secret that it had", async () => {
    const store = await openStore(driver);
    const node = nodeOn(store);
    await commit(node, [upstream("local", { family: "vllm", base_url: "http://a/v1" })]);
    await commit(node, [edit("upstream", "local", undefined)]);
    const { makeEdits, newest } = await node.restoring(1, 100);
    const restored = node.commit(makeEdits, () => AROUND, { act: TEST_ACT, revision: newest });
    await expect(restored).rejects.toMatchObject({ metadata: { param: "api_key" } });
  });

  test("what a node has read, and not put in force, is still told apart from what is in force", async () => {
    const store = await openStore(driver);
    const [one, other] = [nodeOn(store), nodeOn(store)];
    const before = other.stamp;
    await commit(one, [upstream("vendor")]);
    await expect(
      other.commit(
        () => [],
        () => AROUND,
        { act: TEST_ACT, revision: 0 },
      ),
    ).rejects.toThrow();
    await other.refresh();
    expect(other.stamp).not.toBe(before);
  });

  test("no revision and no record of the audit log has a secret", async () => {
    const store = await openStore(driver);
    const node = nodeOn(store);
    await commit(node, [upstream("vendor", { api_key: "sk-canary-of-a-test" })]);
    await commit(node, [upstream("vendor", { api_key: "sk-second-canary" }), model("fast", "vendor")]);
    const revisions = await node.revisions(Number.MAX_SAFE_INTEGER, 10);
    const { rows } = await store.audit.list({}, { size: 100, token: "" });
    const { objects } = await store.people.settingsSet();
    const text = JSON.stringify([revisions, rows, objects.map((row) => ({ ...row, secrets: undefined }))]);
    expect(text).toContain("vendor");
    expect(text).not.toContain("canary");
    expect(rows.map(({ resource }) => resource)).toContain("settings/model/fast");
    expect(Buffer.from(objects[1]?.secrets ?? []).toString("latin1")).not.toContain("canary");
  });
});
