/** The bounds of what an account's settings say, wherever they are written: over the API, in a file, or by a plan. */

export const MODEL_LIMITS_MAX = 100;
export const REDACTIONS_MAX = 50;
/** Of what is stored of a request, and of an answer, in bytes. */
export const BODY_BYTES_MAX = 1_048_576;
/** Of what is stored for the account, in bytes. */
export const TOTAL_BYTES_MAX = 17_179_869_184;
/** What a size of 0 stands for. */
export const BODY_BYTES_DEFAULT = 65_536;
export const TOTAL_BYTES_DEFAULT = 268_435_456;
