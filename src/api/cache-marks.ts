/** Who marked what of a prompt an upstream should cache, in records, metrics and the protocol. */

export const CACHE_MARKERS = ["none", "client", "auto"] as const;
/** `auto`: the gateway, because the settings of the model say so. */
export type CacheMarker = (typeof CACHE_MARKERS)[number];
