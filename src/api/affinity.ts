/** The words for session affinity, in records, metrics and the protocol. */

/** Whether a request's target was that of its session. `new`: the process knew no target of the session. */
export const AFFINITY_STATES = ["kept", "new", "moved"] as const;
/** What names the session. `content`: how the conversation begins. */
export const SESSION_SOURCES = ["header", "session_id", "prompt_cache_key", "metadata", "content"] as const;

export type AffinityState = (typeof AFFINITY_STATES)[number];
export type SessionSource = (typeof SESSION_SOURCES)[number];

export interface Affinity {
  readonly state: AffinityState;
  readonly source: SessionSource;
}
