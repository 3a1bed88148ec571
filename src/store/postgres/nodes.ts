/** What each node says of itself, for the others: rows that only nodes that are alive have. */
import type { Postgres } from "./connection.js";
import { sql } from "./sql.js";

const NOTE = sql(`INSERT INTO node_note (node_id, said) VALUES ($1, $2)
  ON CONFLICT (node_id) DO UPDATE SET said = excluded.said`);
const FORGET = sql(`DELETE FROM node_note WHERE node_id <> $1
  AND NOT EXISTS (SELECT FROM node WHERE node.id = node_note.node_id)`);
const LIST = sql("SELECT node_id, said FROM node_note ORDER BY node_id");

/** A node's words as it encoded them. */
export interface NodeNote {
  readonly nodeId: string;
  readonly said: Uint8Array;
}

export interface NodeNotes {
  /** Replaces what the node said before, and forgets nodes that are gone. */
  note(nodeId: string, said: Uint8Array): Promise<void>;
  /** In the order of the ids. */
  list(): Promise<readonly NodeNote[]>;
}

export function nodeNotes(database: Postgres): NodeNotes {
  return {
    note: async (nodeId, said) => {
      await database.run(NOTE, [nodeId, said]);
      await database.run(FORGET, [nodeId]);
    },
    list: async () => {
      const rows = await database.rows<{ node_id: string; said: Uint8Array }>(LIST);
      return rows.map(({ node_id: nodeId, said }) => ({ nodeId, said }));
    },
  };
}
