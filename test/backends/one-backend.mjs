/**
 * The test files that do not run again on another backend, and why: each is about one driver by its nature, or asks
 * both in any run. Every other test file that keeps state runs on both; `backends.test.ts` holds the files to this.
 */

const EMBEDDED = {
  "test/config/environment.test.ts": "reads settings, among them addresses of databases, and opens none",
  "test/flow/operation/damaged-data.test.ts": "damages the file; store/postgres-fit has tables that do not fit",
  "test/flow/operation/generated-secret.test.ts":
    "a data directory makes a secret of its own; on PostgreSQL one must be set",
  "test/flow/operation/lost-state.test.ts":
    "takes files out of a data directory; its last part asks PostgreSQL the same",
  "test/flow/operation/second-process.test.ts":
    "one process owns a data directory; two nodes on PostgreSQL are flow/second-node",
  "test/flow/operation/workers-embedded.prove.test.ts":
    "workers whose owner has the embedded database; flow/workers has PostgreSQL",
  "test/gateway/faults.test.ts": "counts the timers of its process, in which a pool of connections has its own",
  "test/gateway/replay/keyed-answers.test.ts": "the file of the answers; store/postgres-answers has the server's",
  "test/kill-loop/kill-loop.prove.test.ts": "kills the gateway for minutes; kill-loop:postgres runs it on PostgreSQL",
  "test/money/million.prove.test.ts":
    "ends the thread that writes the file at its commits; money/three-nodes has PostgreSQL",
  "test/rpc/call/session-ends.test.ts":
    "sets the timers of its process, which bound what a connection waits; flow/people-nodes",
  "test/serve/seeds.test.ts": "fails in the thread that writes the file",
  "test/store/answers.test.ts": "the file of the answers; store/postgres-answers is its pair",
  "test/store/backup-owner.test.ts": "whose the files are that a copy makes",
  "test/ledger/spans-killed.prove.test.ts": "kills the process that writes the file",
  "test/store/crash.test.ts": "kills the process that writes the file",
  "test/store/damaged-files.test.ts": "damages each file; store/postgres-fit has tables that do not fit",
  "test/store/desk.test.ts": "the turns of the thread that writes the file",
  "test/store/ledger-mark.test.ts": "the mark by which a removed data directory is missed",
  "test/store/plans.test.ts": "how SQLite finds rows; store/bounded-lists asks both for their bounds",
  "test/store/schema.test.ts": "versions of the file's schema",
  "test/store/sqlite-binding.test.ts": "the binding of SQLite",
  "test/store/sqlite.test.ts": "the file, its rights and its places",
  "test/store/witness.test.ts": "the witness beside the file",
  "test/base/threads.test.ts": "the thread that writes the file, and that of the records",
};

const POSTGRESQL = {
  "test/alerts/balance.test.ts": "two nodes on one PostgreSQL",
  "test/cluster/cluster.prove.test.ts": "nodes on a PostgreSQL and a Redis that are killed and cut off",
  "test/flow/money/archived.prove.test.ts": "both stores, in one run",
  "test/flow/alerts/alert-rules.prove.test.ts":
    "each rule is fired by its cause, on a PostgreSQL that goes away among others",
  "test/flow/operation/database-away.prove.test.ts": "a PostgreSQL that goes away",
  "test/flow/operation/ends-at-once.prove.test.ts":
    "one process, a front end apart, and two nodes on PostgreSQL, in one run",
  "test/flow/people/oidc-nodes.test.ts": "two nodes on one PostgreSQL",
  "test/flow/people/people-nodes.test.ts": "two nodes on one PostgreSQL",
  "test/flow/replay/resume-nodes.prove.test.ts": "two nodes on one PostgreSQL",
  "test/flow/operation/settings-nodes.test.ts": "two nodes on one PostgreSQL",
  "test/flow/operation/start-waits.test.ts": "a PostgreSQL that cannot be reached yet",
  "test/flow/people/passkeys.test.ts": "one process, and two nodes on one PostgreSQL",
  "test/flow/operation/second-node.prove.test.ts": "a second node on one PostgreSQL, with Redis and without",
  "test/flow/operation/two-builds.prove.test.ts": "two builds on one PostgreSQL",
  "test/flow/operation/workers.prove.test.ts": "workers on one PostgreSQL",
  "test/money/three-nodes.prove.test.ts": "three nodes on one PostgreSQL",
  "test/store/anchors.test.ts": "anchors, which PostgreSQL alone has",
  "test/store/people-at-once.test.ts": "scripts of people that run at once; the file has one writer",
  "test/store/postgres-answers.test.ts": "the answers that nodes share; store/answers is its pair",
  "test/store/postgres-batches.test.ts": "batches of several nodes",
  "test/store/postgres-connection.test.ts": "connections to PostgreSQL",
  "test/store/postgres-fit.test.ts": "tables that do not fit; store/damaged-files is its pair",
  "test/store/postgres-trips.test.ts": "the ways to PostgreSQL and back",
  "test/store/postgres-unanswered.test.ts": "commits whose answer is lost on its way",
};

const BOTH = {
  "test/records/older-chunks.test.ts": "chunks of an earlier program, in the file and on PostgreSQL",
  "test/flow/operation/wrong-clocks.test.ts":
    "nodes days apart on one PostgreSQL, and a machine that was set beside the file",
  "test/cli/store.prove.test.ts": "copies from one driver to the other",
  "test/money/copy.prove.test.ts": "copies from one driver to the other",
  "test/records/content.test.ts": "asks each driver",
  "test/store/answer-shares.test.ts": "asks each driver",
  "test/store/verify.test.ts": "asks each driver",
};

/** @type {Readonly<Record<string, string>>} */
export const ONE_BACKEND = { ...EMBEDDED, ...POSTGRESQL, ...BOTH };
