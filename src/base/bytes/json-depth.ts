/** How deep JSON may be nested, wherever the gateway reads it. */

/** A greater one would cost the reader of bodies its small arrays. */
export const JSON_DEPTH_MAX = 64;
