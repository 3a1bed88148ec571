/**
 * Each rule of deploy/alert-rules.yaml fires by its real cause: a gateway with a PostgreSQL and a Redis of its own,
 * read by a real Prometheus whose rules have shorter times and are otherwise as they are shipped. Before that, while
 * healthy calls are served, none fires; `npm run alerts:quiet` does so for an hour, with the rules' own times.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { MachineClock } from "../../support/machine-clock.js";
import { Management } from "../../support/management.js";
import { makeOwnPostgres, type OwnPostgres } from "../../support/own-postgres.js";
import { pace } from "../../support/pauses.js";
import { administer } from "../../support/postgres.js";
import { type Prometheus, promtool, shippedRuleNames, startPrometheus } from "../../support/prometheus.js";
import { type RedisServer, startRedis } from "../../support/redis-server.js";

const QUIET_SECONDS = Number(process.env["TOLLGATE_QUIET_SECONDS"] ?? 20);
/** A rule's minute is a second, but in the hour that is meant to be quiet. */
const FASTER = QUIET_SECONDS < 600 ? 60 : 1;
const OF_THE_MACHINE: ReadonlySet<string> = new Set([
  "TollgateEventLoopBusy",
  "TollgateLedgerSlow",
  "TollgateOverheadHigh",
]);
/** Rates are of five seconds at least. A machine at work may take its time to answer. */
const SCRAPE_MS = 1_000;
const PATIENT = { timeout: 120_000, interval: 200 };
const PRICE = 'context_tokens: 100000, price: { input: "0.01", output: "0.1" }';
/** Searches cost the tokens that they bring, which nobody knows before: more than any hold. */
const DEAR = 'context_tokens: 1000, price: { input: "1000", output: "1000", tools: { web_search: 0 } }';
const POISON = `CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'poisoned'; END $$;
  CREATE TRIGGER poison BEFORE INSERT ON transfer FOR EACH ROW
    WHEN (NEW.kind = 'settle' AND NEW.account_id = 'poisoned' AND NEW.attempt_log IS NOT NULL)
    EXECUTE FUNCTION poison()`;

let upstream: FakeUpstream;
let postgres: OwnPostgres;
let redis: RedisServer;
let gateway: GatewayProcess;
let crowded: GatewayProcess;
let management: Management;
let prometheus: Prometheus;
let secret = "";
let fresh: string[] = [];
const clock = new MachineClock();

function settings(more = ""): string {
  const model = (id: string, from: string, rest: string): string =>
    `  ${id}: { targets: [{ upstream: ${from} }], output_tokens_max: 100, ${rest} }`;
  const fake = `family: openai-compatible, base_url: "${upstream.url}", api_key: "sk-upstream-secret-0123456789"`;
  return [
    "upstreams:",
    ...["fake", "slow", "strict"].map((id) => `  ${id}: { ${fake} }`),
    '  gone: { family: openai-compatible, base_url: "http://127.0.0.1:9/v1" }',
    "models:",
    model("fake-1", "fake", PRICE),
    model("slow-1", "slow", PRICE),
    model("strict-1", "strict", PRICE),
    model("gone-1", "gone", PRICE),
    model("dear-1", "fake", DEAR),
    "metrics: { accounts: [acme, poor] }",
    more,
    "",
  ].join("\n");
}

async function ask(body: Record<string, unknown>, key = secret): Promise<number> {
  const response = await postChat(gateway, key, body);
  await readAll(response);
  return response.status;
}

/** Calls again and again, so many milliseconds after each other, until what it returns is called. */
function asking(everyMs: number, call: () => Promise<unknown>): () => Promise<void> {
  const state = { isOver: false };
  const calls: Promise<unknown>[] = [];
  const loop = async (): Promise<void> => {
    for (; !state.isOver; await pace(everyMs)) calls.push(call().catch(() => undefined));
  };
  const looping = loop();
  return async () => {
    state.isOver = true;
    await looping;
    await Promise.all(calls);
  };
}

async function firing(): Promise<string[]> {
  return [...new Set((await prometheus.firing()).map(({ alertname = "" }) => alertname))].toSorted();
}

beforeAll(async () => {
  [upstream, postgres, redis] = await Promise.all([startFakeUpstream(), makeOwnPostgres(), startRedis()]);
  const env = {
    TOLLGATE_DATABASE_URL: postgres.url,
    TOLLGATE_REDIS_URL: redis.url,
    TOLLGATE_SECRET: "a root secret of this test, long enough",
    ...clock.env,
  };
  gateway = await startGateway({ settings: settings(), env });
  gateway.expectOddAnswers();
  crowded = await startGateway({ openFilesMax: 128 });
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  secret = (await management.makeKey("acme")).secret;
  fresh = [];
  for (let made = 0; made < 60; made += 1) fresh.push((await management.makeKey("acme")).secret);
  prometheus = await startPrometheus([gateway.admin, crowded.admin], { faster: FASTER, scrapeMs: SCRAPE_MS });
}, 300_000);

afterAll(async () => {
  await prometheus.stop();
  await gateway.kill();
  await crowded.kill();
  await postgres.remove();
  await redis.close();
  await upstream.close();
});

test(`no rule fires in ${QUIET_SECONDS} seconds of healthy calls`, { timeout: 5_400_000 }, async () => {
  const streams = asking(200, () => ask(chat(script({ words: 10, eventDelayMs: 10 }), { stream: true })));
  const answers = asking(100, () => ask(chat("Hello")));
  const untilMs = performance.now() + QUIET_SECONDS * 1_000;
  const fired = new Set<string>();
  for (; performance.now() < untilMs; await pace(500)) for (const name of await firing()) fired.add(name);
  await Promise.all([streams(), answers()]);
  // In seconds for minutes, a machine that does much besides is slow indeed.
  const meant = [...fired].filter((name) => FASTER === 1 || !OF_THE_MACHINE.has(name));
  expect(meant).toEqual([]);
  expect(await prometheus.hasData("tollgate_generations_total")).toBe(true);
});

type End = () => unknown;
interface Cause {
  readonly rules: readonly string[];
  readonly cause: string;
  /** What it returns ends the cause. */
  begin(): Promise<End> | End;
}

/** One after the other; what one of them leaves behind is over before the next looks. */
const CAUSES: readonly Cause[] = [
  {
    rules: ["TollgateSettingsRefused"],
    cause: "a settings file that is none",
    begin: () => {
      gateway.writeSettings(settings("broken: {"));
      process.kill(gateway.pid, "SIGHUP");
      return () => {
        gateway.writeSettings(settings());
        process.kill(gateway.pid, "SIGHUP");
      };
    },
  },
  {
    rules: ["TollgateClockWrong"],
    cause: "the machine's clock is set an hour ahead",
    begin: async () => {
      await clock.set(gateway, 3_600_000);
      return () => clock.set(gateway, 0);
    },
  },
  {
    rules: ["TollgateErrors", "TollgateUpstreamEjected"],
    cause: "an upstream that refuses connections",
    begin: () => asking(100, () => ask(chat("Hello", { model: "gone-1" }))),
  },
  {
    rules: ["TollgateCredentialRefused"],
    cause: "an upstream that does not take the credential",
    begin: () => asking(500, () => ask(chat(script({ status: 401 }), { model: "strict-1" }))),
  },
  {
    rules: ["TollgateFirstTokenSlow"],
    cause: "an upstream that thinks for 22 seconds",
    begin: () => asking(400, () => ask(chat(script({ headDelayMs: 22_000 }), { model: "slow-1", stream: true }))),
  },
  {
    rules: ["TollgateAccountLow", "TollgateBudgetNearlyUsed", "TollgateOverage"],
    cause: "an account of three dollars, most of its budget used, and a search that costs more",
    begin: async () => {
      await management.account("poor", 3_000_000_000n);
      const key = (await management.makeKey("poor")).secret;
      const dear = chat(script({ usageIs: { prompt_tokens: 9_000 } }), { model: "dear-1", max_tokens: 5 });
      expect(await ask({ ...dear, web_search_options: {} }, key)).toBe(200);
      const budget = { settings: { budget_day_nanos: "3000000000" }, update_mask: "budget_day_nanos" };
      expect((await management.call("PATCH", "/accounts/poor", budget)).status).toBe(200);
      return () => undefined;
    },
  },
  {
    rules: ["TollgateLedgerSlow", "TollgateOverheadHigh"],
    cause: "another session of the database locks the accounts for most of the time",
    begin: () => {
      const lock = "BEGIN; LOCK TABLE account IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(0.8); COMMIT";
      const locks = asking(900, () => administer(lock, postgres.url));
      let calls = 0;
      const asks = asking(150, () => ask(chat("Hello"), fresh[(calls += 1) % fresh.length]));
      return () => Promise.all([locks(), asks()]);
    },
  },
  {
    rules: ["TollgateRedisAway"],
    cause: "Redis is gone",
    begin: async () => {
      await redis.kill();
      const calls = asking(100, () => ask(chat("Hello")));
      return async () => {
        await calls();
        await redis.restart();
      };
    },
  },
  {
    rules: ["TollgateDatabaseAway", "TollgateNotReady", "TollgateRefusals", "TollgateRecordsLost"],
    cause: "PostgreSQL is gone",
    begin: async () => {
      const calls = asking(100, () => ask(chat("Hello")));
      await postgres.crash();
      return async () => {
        await calls();
        await postgres.start();
      };
    },
  },
  {
    rules: ["TollgateProofFailed"],
    cause: "somebody changed an amount in the database",
    begin: async () => {
      const change = (sign: string): Promise<unknown> =>
        administer(
          `SET session_replication_role = replica;
           UPDATE transfer SET posted_nanos = posted_nanos ${sign} 1 WHERE credit_id = 'first-acme'`,
          postgres.url,
        );
      const holds = async (): Promise<unknown> => (await management.call("POST", "/ledger:verify", {})).body["holds"];
      await change("+");
      expect(await holds()).toBe(false);
      return async () => {
        await change("-");
        expect(await holds()).toBe(true);
      };
    },
  },
  {
    rules: ["TollgateSettlementsLost"],
    cause: "a settlement that the database never takes, beside others that it takes",
    begin: async () => {
      await management.account("poisoned", 1_000_000_000n);
      const key = (await management.makeKey("poisoned")).secret;
      await administer(POISON, postgres.url);
      expect(await ask(chat(script({ words: 60, eventDelayMs: 50 }), { stream: true }), key)).toBe(200);
      return asking(200, () => ask(chat("Hello")));
    },
  },
  {
    rules: ["TollgateDescriptorsLow"],
    cause: "clients that hold most of the connections which the process may have",
    begin: () => {
      const { port, hostname } = new URL(crowded.url);
      const open = Array.from({ length: 80 }, () => connect(Number(port), hostname).on("error", () => undefined));
      return () => {
        for (const socket of open) socket.destroy();
      };
    },
  },
  {
    rules: ["TollgateDown"],
    cause: "a gateway that is killed",
    begin: async () => {
      await crowded.kill();
      return () => undefined;
    },
  },
];

/** What only a machine under more load than a test may make does: their expressions are tried on made-up series. */
const MADE_UP = {
  TollgateEventLoopBusy: {
    series: 'tollgate_event_loop_active_seconds_total{instance="n:1"}',
    values: "0+14.5x120",
  },
  TollgateLedgerBehind: { series: 'tollgate_worker_queue_jobs{instance="n:1",worker="ledger"}', values: "20000x120" },
};

test.each(CAUSES.map((cause) => [cause.rules.join(", "), cause.cause, cause] as const))(
  "%s: %s",
  { timeout: 600_000 },
  async (_, __, { rules, begin }) => {
    expect(await firing()).not.toEqual(expect.arrayContaining([...rules]));
    const end = await begin();
    const seen = new Set<string>();
    const missing = async (): Promise<string[]> => {
      for (const name of await firing()) seen.add(name);
      return rules.filter((name) => !seen.has(name));
    };
    // A settlement is given up after several pauses of up to five seconds.
    await expect.poll(missing, { ...PATIENT, timeout: 400_000 }).toEqual([]);
    await end();
  },
);

test("each shipped rule has a cause above, or is tried on made-up series", () => {
  const caused = CAUSES.flatMap(({ rules }) => rules);
  expect([...caused, ...Object.keys(MADE_UP)].toSorted()).toEqual([...shippedRuleNames()].toSorted());
});

test.each(Object.entries(MADE_UP))("%s fires on made-up series", (rule, { series, values }) => {
  const firing = { expr: `count(ALERTS{alertname="${rule}",alertstate="firing"})`, eval_time: "20m" };
  const rules = {
    rule_files: [`${process.cwd()}/deploy/alert-rules.yaml`],
    evaluation_interval: "15s",
    tests: [
      {
        interval: "15s",
        input_series: [{ series, values }],
        promql_expr_test: [{ ...firing, exp_samples: [{ labels: "{}", value: 1 }] }],
      },
    ],
  };
  const path = join(mkdtempSync(join(tmpdir(), "tollgate-rules-")), "test.yaml");
  writeFileSync(path, JSON.stringify(rules));
  const { stdout, stderr } = promtool(["test", "rules", path]);
  expect(`${stdout}${stderr}`).toContain("SUCCESS");
});
