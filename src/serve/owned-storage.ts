/** Where a worker keeps its state: in the process of this machine that owns the embedded database. */
import type { TimeSource } from "../clock/clock.js";
import type { AnswerStore } from "../gateway/replay/answer-store.js";
import { OwnerLink } from "../owner/owner-link.js";
import type { RecordCaller } from "../records/record-calls.js";
import { openJournals } from "../store/journals.js";
import type { NodeNotes } from "../store/postgres/nodes.js";
import { sqliteStore } from "../store/sqlite/store.js";
import type { Store, VerifyReport } from "../store/store.js";
import type { WatchedOptions } from "./core.js";
import { measured } from "./node-readings.js";
import { ownerPath } from "./owner-path.js";
import { deriveSecrets } from "./root-secrets.js";
import type { Storage } from "./storage.js";

/** An owner that was started anew recovers its database first. */
const PATIENCE_MS = 30_000;

/** Rejects with an Error of one line where the owner does not answer. */
export async function openOwned(nodeId: string, options: WatchedOptions): Promise<Storage> {
  const { environment, metrics, outage, onFatal } = options;
  const owner = await OwnerLink.connect(ownerPath(environment.dataDirectory), PATIENCE_MS, onFatal);
  const derived = deriveSecrets(environment, false);
  await owner.call("nodes", "began", [nodeId]);
  const store = ownedStore(owner);
  const answers = answersOf(owner);
  const nodes = notesOf(owner);
  const journals = await openJournals(environment.dataDirectory);
  const time: TimeSource = {
    kind: "server",
    name: "owner",
    read: () => owner.call("time", "read", []) as Promise<number>,
  };
  const watched = outage.watch(measured(store, metrics));
  return { derived, store: watched, journals, nodes, answers: () => answers, time, owner };
}

/** A store whose thread another process has. */
export function ownedStore(owner: OwnerLink): Store {
  return sqliteStore({
    // The owner answers each call as the thread does that it stands for.
    caller: { call: (name, ...args) => owner.call("ledger", name, args) as never },
    verify: () => owner.call("nodes", "verify", []) as Promise<VerifyReport>,
    isShared: true,
    close: () => owner.close(),
  });
}

/** Asks the thread of records in the owner. */
export function recordsOf(owner: OwnerLink): RecordCaller {
  return {
    call: (name, ...args) => owner.call("records", name, args) as never,
    close: () => Promise.resolve(),
  };
}

function answersOf(owner: OwnerLink): AnswerStore {
  return {
    find: (id) => owner.call("answers", "find", [id]) as ReturnType<AnswerStore["find"]>,
    put: async (answer) => void (await owner.call("answers", "put", [answer])),
    remove: async (id) => void (await owner.call("answers", "remove", [id])),
    close: () => Promise.resolve(),
  };
}

function notesOf(owner: OwnerLink): NodeNotes {
  return {
    note: async (nodeId, said) => void (await owner.call("nodes", "note", [nodeId, said])),
    list: () => owner.call("nodes", "list", []) as ReturnType<NodeNotes["list"]>,
  };
}
