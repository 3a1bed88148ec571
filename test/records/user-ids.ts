/** Ids of users as clients send them: those that name a session, with it, and those that name a person. */

const [HASH, ACCOUNT, SESSION] = [
  "5f0c".repeat(16),
  "0d9f7a52-3c1b-4e6f-8a20-1b2c3d4e5f60",
  "7b8c9d0e-1f2a-4b3c-8d4e-5f6071829304",
];

/** As Claude Code writes them, with and without an account, and with what an operator adds. */
export const CLAUDE_CODE_IDS = [
  { id: `user_${HASH}_account_${ACCOUNT}_session_${SESSION}`, session: SESSION },
  { id: `user_${HASH}_account__session_${SESSION}`, session: SESSION },
  { id: JSON.stringify({ device_id: HASH, account_uuid: ACCOUNT, session_id: SESSION }), session: SESSION },
  { id: JSON.stringify({ device_id: HASH, account_uuid: "", session_id: SESSION }, null, 1), session: SESSION },
  { id: JSON.stringify({ team: "search", session_id: SESSION, device_id: HASH }), session: SESSION },
  { id: JSON.stringify({ device_id: HASH }), session: "" },
  { id: JSON.stringify({ device_id: HASH, session_id: "s".repeat(300) }), session: "" },
] as const;

export const PEOPLE = [
  "ann",
  "user_17",
  "user_ann_account_x",
  "user_ann_session_7",
  "{ann}",
  '{"name":"ann"}',
] as const;
