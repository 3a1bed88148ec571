/** SettingsService: the settings file of this node, and what was made over the API in the form of one. */
import { invalid, required, unknown } from "../../api/check.js";
import { OPERATOR_ACCOUNT_ID } from "../../alerts/money-readings.js";
import { enumWord } from "../../api/descriptors.js";
import { eventOf } from "../../audit/act.js";
import { changeOf } from "../../audit/snapshot.js";
import { HIDDEN_IDS } from "../../keys/key-id.js";
import type { SettingsServiceService } from "../../api/index.js";
import { type Exported, exportSettings } from "../../config/export.js";
import type { Page, PageRequest } from "../../store/store.js";
import type { CoreParts, ObjectBoard, SettingsBoard } from "../call/core.js";
import type { Handlers } from "../call/handler.js";
import { firstSteps } from "./first-steps.js";

type Parts = Pick<
  CoreParts,
  "settings" | "objects" | "upstreams" | "identity" | "ledger" | "keys" | "alerts" | "store" | "records"
>;

/** Less than what a call over HTTP may hold, with what JSON adds. */
const CONTENT_BYTES_MAX = 200_000;
const PAGE_SIZE = 1_000;

export function settingsService(parts: Parts): Handlers<typeof SettingsServiceService> {
  const { settings } = parts;
  /** The objects, with what the caller may have changed at another node. */
  const current = async (): Promise<ObjectBoard> => {
    const objects = objectsOf(parts);
    await objects.catchUp();
    return objects;
  };
  return {
    getSettings: async () => {
      await parts.objects?.catchUp();
      return (await settings?.show()) ?? { file: undefined, named: [] };
    },
    checkSettings: async ({ content, etag }) => {
      const asked = [contentOf(content), required("etag", etag)] as const;
      return boardOf(settings).check(...asked);
    },
    updateSettings: async ({ content, etag }, { act }) => {
      const asked = [contentOf(content), required("etag", etag)] as const;
      return { file: await boardOf(settings).update(...asked, act) };
    },
    exportSettings: async () => ({ content: exportSettings(await made(parts)) }),
    listObjects: async (request) => (await current()).list(request),
    getObject: async ({ kind, name }) => ({ object: (await current()).get(kind, name) }),
    createObject: async ({ object }, { act }) => ({ object: await objectsOf(parts).create(object, act) }),
    updateObject: async (request, { act }) => ({ object: await objectsOf(parts).update(request, act) }),
    deleteObject: async ({ kind, name, etag }, { act }) => {
      await objectsOf(parts).delete(kind, name, etag, act);
      return {};
    },
    moveObject: async ({ kind, name, to }, { act }) => ({ object: await objectsOf(parts).move(kind, name, to, act) }),
    checkObjects: async ({ changes }) => (await current()).check(changes),
    applyObjects: async (request, { act }) => ({ revision: BigInt(await objectsOf(parts).apply(request, act)) }),
    testObject: async (request, { act }) => {
      const answer = await (await current()).test(request);
      const result = enumWord("tollgate.v1.UpstreamTestResult", answer.result);
      const after = { result, httpStatus: answer.httpStatus, calledModel: request.callModel };
      const resource = `settings/upstream/${request.object?.name ?? ""}`;
      await parts.store.audit.append(eventOf(act, { resource, accountId: "", ...changeOf({ after }) }));
      return answer;
    },
    getFamilies: async () => ({ families: [...objectsOf(parts).families()] }),
    getFirstSteps: async () => {
      await parts.objects?.catchUp();
      return firstSteps(parts);
    },
    listRevisions: async (request) => objectsOf(parts).revisions(request),
    restoreRevision: async ({ revision }, { act }) => ({
      revision: BigInt(await objectsOf(parts).restore(Number(revision), act)),
    }),
  };
}

function objectsOf({ objects }: Pick<Parts, "objects">): ObjectBoard {
  if (objects === undefined) throw unknown("settings", "objects");
  return objects;
}

function boardOf(board: SettingsBoard | undefined): SettingsBoard {
  if (board === undefined) throw unknown("file", "settings");
  return board;
}

function contentOf(content: string): string {
  if (Buffer.byteLength(required("content", content)) > CONTENT_BYTES_MAX)
    throw invalid("content", `must be at most ${CONTENT_BYTES_MAX} bytes`);
  return content;
}

/** What the database holds that a settings file could say. */
async function made({ ledger, keys, alerts }: Parts): Promise<Exported> {
  const accounts = await all((page) => ledger.accounts(page));
  const found = await all(async (page) => {
    const { keys: rows, nextPageToken } = await keys.list({ isRevoked: false, idsWithout: HIDDEN_IDS }, page);
    return { rows, nextPageToken };
  });
  const rules = await all((page) => alerts.rules.list(undefined, page));
  return {
    accounts: accounts.filter(({ id }) => id !== OPERATOR_ACCOUNT_ID),
    keys: found.filter(({ accountId }) => accountId !== OPERATOR_ACCOUNT_ID),
    alerts: rules.filter(({ createTimeMs }) => createTimeMs !== undefined),
  };
}

async function all<Row>(read: (page: PageRequest) => Promise<Page<Row>>): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let token = ""; ;) {
    const page = await read({ size: PAGE_SIZE, token });
    rows.push(...page.rows);
    token = page.nextPageToken;
    if (token === "") return rows;
  }
}
