/** The metadata by which a front end tells the core of a session. From anybody else it says nothing. */

/** The token of the cookie. */
export const SESSION_HEADER = "tollgate-session-token";
/** The account in which the person acts. */
export const ACCOUNT_HEADER = "tollgate-session-account";
/** What the browser says of itself. */
export const USER_AGENT_HEADER = "tollgate-user-agent";
/** In the head of an answer: the token of the session that began, or nothing where it ended. No client is told it. */
export const SET_SESSION_HEADER = "tollgate-session";
/** A sign-in at an issuer that this browser began, sealed; also in the head of an answer, where nothing ends it. */
export const PENDING_HEADER = "tollgate-pending-sign-in";
/** The origin of the page that asks. */
export const ORIGIN_HEADER = "tollgate-page-origin";
