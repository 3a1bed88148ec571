/** What objects may be called: the patterns of fields. */
export const UPSTREAM_NAME = "[a-z0-9][a-z0-9._\\-]{0,63}";
export const MODEL_NAME = "[A-Za-z0-9][A-Za-z0-9._:\\/@\\-]{0,127}";
/** A wildcard has a star at its end. */
export const MODEL_OR_WILDCARD_NAME = "([A-Za-z0-9][A-Za-z0-9._:\\/@\\-]{0,126})?[A-Za-z0-9._:\\/@\\-*]";
