/**
 * A process that changes settings objects until it is killed. It says what each commit will make before it commits, and
 * that it is committed once that was acknowledged. Run: objects-child KEY SEED, with the database in the environment.
 */
import { SecretSeal } from "../../src/alerts/seal.js";
import { ownActor } from "../../src/audit/act.js";
import { edited, type ObjectEdit } from "../../src/settings/object-set.js";
import { idOf, type ObjectSet } from "../../src/settings/object.js";
import { transitions } from "../../src/settings/differences.js";
import { SettingsObjects } from "../../src/settings/settings-objects.js";
import { openPostgresStore } from "../../src/store/postgres/store.js";
import { openSqliteStore } from "../../src/store/sqlite/store.js";
import { pick, randomOf } from "../support/random.js";
import { AROUND, edit, model, upstream } from "./fixtures.js";
import { shownSet, type ToldCommit } from "./killed.js";

const [key = "", seed = ""] = process.argv.slice(2);
const { TOLLGATE_DATABASE_URL: url, TOLLGATE_DATA: directory = "" } = process.env;
const tell = (word: string, told: object): void => void process.stdout.write(`${word} ${JSON.stringify(told)}\n`);

const store =
  url === undefined ? await openSqliteStore({ directory }) : await openPostgresStore({ url, nodeId: `child-${seed}` });
const seal = new SecretSeal({ keys: [Buffer.from(key, "hex")] });
const objects = new SettingsObjects({ store: store.people, seal, env: {}, nowMs: Date.now });
await objects.refresh();
const random = randomOf(Number(seed));

/** One to four edits that belong together: an upstream comes and goes with its models. */
function edits({ entries }: ObjectSet, secret: string): readonly ObjectEdit[] {
  const name = pick(random, ["a", "b", "c"]);
  const models = [`${name}-fast`, `${name}-slow`, `${name}-other`];
  if (!entries.has(idOf({ kind: "upstream", name })))
    return [upstream(name, { api_key: secret }), ...models.map((one) => model(one, name))];
  if (random() < 0.4)
    return [upstream(name, { api_key: secret }), model(pick(random, models), name, { retires: "2031-01-01" })];
  return [edit("upstream", name, undefined), ...models.map((one) => edit("model", one, undefined))];
}

process.stdout.write("ready\n");
for (let count = 0; ; count += 1) {
  const id = `${seed}-${count}`;
  const before = objects.set;
  const wanted = edits(before, `sk-secret-of-${id}`);
  const { set } = edited(before, wanted, 0);
  const resources = transitions(before, set).map((one) => `settings/${idOf(one)}`);
  if (resources.length === 0) continue;
  const told: ToldCommit = { id, revision: set.revision, resources, set: shownSet(set) };
  tell("will", told);
  const actor = ownActor("cli", id);
  await objects.commit(
    () => wanted,
    () => AROUND,
    { act: { actor, method: "test.commit", timeMs: Date.now() } },
  );
  tell("did", { id });
}
