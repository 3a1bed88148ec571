/** A LiteLLM proxy's keys and teams are imported from its database, and its clients keep their keys. */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chat, postChat, readAll } from "../support/chat-call.js";
import type { CommandResult } from "../support/command.js";
import { commandsOfOneProcess } from "../support/commands.js";
import { OPERATOR_KEY } from "../support/gateway-process.js";
import { administer, createDatabase, postgresMissing } from "../support/postgres.js";
import { startWorld, type World } from "../support/world.js";

/** As many keys as a small estate has; `TOLLGATE_IMPORT_KEYS=10000` is a large one. */
const KEYS = Number(process.env["TOLLGATE_IMPORT_KEYS"] ?? 40);
const TEAMS = Math.max(2, Math.floor(KEYS / 50));
const SALT = "sk-salt-of-the-test";
const BOX = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX5_W6mAl02pTP5EhlHZh5-3sm4tNHU2WVKITas92p1IVKeAI=";

const secretOf = (place: number): string => `sk-litellm-${place.toString().padStart(16, "0")}`;
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The columns that are read, with the types and defaults that LiteLLM's schema gives them. */
const SCHEMA = `
CREATE TABLE "LiteLLM_VerificationToken" (token text PRIMARY KEY, key_name text, key_alias text,
  spend double precision NOT NULL DEFAULT 0, expires timestamp(3), models text[], aliases jsonb NOT NULL DEFAULT '{}',
  user_id text, team_id text, blocked boolean, tpm_limit bigint, rpm_limit bigint, max_parallel_requests integer,
  max_budget double precision, budget_duration text, budget_id text, metadata jsonb NOT NULL DEFAULT '{}');
CREATE TABLE "LiteLLM_TeamTable" (team_id text PRIMARY KEY, team_alias text, models text[], blocked boolean NOT NULL
  DEFAULT false, spend double precision NOT NULL DEFAULT 0, max_budget double precision, budget_duration text,
  tpm_limit bigint, rpm_limit bigint, max_parallel_requests integer);
CREATE TABLE "LiteLLM_ProxyModelTable" (model_id text PRIMARY KEY, model_name text NOT NULL, litellm_params jsonb
  NOT NULL, model_info jsonb);
INSERT INTO "LiteLLM_TeamTable" (team_id, team_alias, models, max_budget, budget_duration)
  SELECT 'team-' || n, 'Team ' || n, '{}', 100, '30d' FROM generate_series(0, ${TEAMS - 1}) n;
UPDATE "LiteLLM_TeamTable" SET blocked = true WHERE team_id = 'team-1';
INSERT INTO "LiteLLM_ProxyModelTable" VALUES ('m', 'gpt-5.4-mini', '{"model": "${BOX}"}', '{}')`;

const tollgate = commandsOfOneProcess();

describe.skipIf(postgresMissing !== undefined)("a database of LiteLLM", () => {
  let world: World;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  beforeAll(async () => {
    world = await startWorld();
    database = await createDatabase();
    await administer(SCHEMA, database.url);
    const rows = Array.from({ length: KEYS }, (_, place) => {
      const secret = secretOf(place);
      const masked = `sk-...${secret.slice(-4)}`;
      return `('${sha256(secret)}', '${masked}', 'key ${place}', 'team-${place % TEAMS}', '{}', 5, '1d')`;
    });
    await administer(
      `INSERT INTO "LiteLLM_VerificationToken" (token, key_name, key_alias, team_id, models, max_budget,
        budget_duration) VALUES ${rows.join(", ")}`,
      database.url,
    );
    await administer(
      `UPDATE "LiteLLM_VerificationToken" SET expires = '2026-01-01 00:00:00' WHERE key_alias = 'key 3';
       UPDATE "LiteLLM_VerificationToken" SET expires = now() + interval '1 hour' WHERE key_alias = 'key 2'`,
      database.url,
    );
  });
  afterAll(async () => {
    await world.close();
    rmSync(world.core.dataDirectory, { recursive: true });
    await database.drop();
  });

  const run = (...args: string[]): Promise<CommandResult> =>
    tollgate(["import", "litellm-database", database.url, ...args], {
      TOLLGATE_GATEWAY: world.core.grpc,
      TOLLGATE_OPERATOR_KEY: OPERATOR_KEY,
      LITELLM_SALT_KEY: SALT,
    });
  const statusOf = async (secret: string): Promise<number> => {
    const response = await postChat(world.front, secret, chat("Hello"));
    await readAll(response);
    return response.status;
  };

  test("is only described without --apply", async () => {
    const { code, stdout, stderr } = await run();
    expect(code).toBe(0);
    expect(stdout).toContain(`Carried as it was: ${TEAMS} accounts and ${KEYS - 1} keys`);
    expect(stdout).toContain("key 3: it has expired");
    expect(stdout).toContain("1 models: write them to a settings file with --models");
    expect(stderr).toContain("Nothing was created.");
    expect(await statusOf(secretOf(0))).toBe(401);
  });

  test("gives each client an account with money for its unchanged key, and a second run changes nothing", async () => {
    const began = performance.now();
    const { code, stderr } = await run("--apply");
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`${KEYS - 1} keys; 0 accounts`),
    });
    if (KEYS > 1_000) process.stdout.write(`${KEYS} keys in ${Math.round((performance.now() - began) / 1000)} s\n`);
    expect(await statusOf(secretOf(0))).toBe(200);
    expect(await statusOf(secretOf(2))).toBe(200);
    expect(await statusOf(secretOf(3))).toBe(401);
    // Its team is blocked.
    expect(await statusOf(secretOf(1))).toBe(403);
    const again = await run("--apply");
    expect(again.stderr).toContain(`Created 0 accounts and 0 keys; ${TEAMS} accounts and ${KEYS - 1} keys were there.`);
  });

  test("leaves its models as settings, opened by the salt key", async () => {
    const directory = mkdtempSync(join(tmpdir(), "tollgate-import-"));
    try {
      const path = join(directory, "tollgate.yaml");
      expect((await run("--models", path)).code).toBe(0);
      expect(readFileSync(path, "utf8")).toContain("gpt-5.4-mini:");
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("is refused where it is another database, or none", async () => {
    const empty = await createDatabase();
    try {
      const other = await tollgate(["import", "litellm-database", empty.url]);
      expect(other).toMatchObject({ code: 6, stderr: expect.stringContaining("it is no database of LiteLLM") });
    } finally {
      await empty.drop();
    }
    const none = await tollgate(["import", "litellm-database", "postgresql://127.0.0.1:1/none"]);
    expect(none).toMatchObject({ code: 6, stderr: expect.stringContaining("the database cannot be read") });
  });
});
