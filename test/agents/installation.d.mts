/** What `installation.mjs` offers, for TypeScript. */

export type Installation = { readonly folder: string } | { readonly problem: string };

export function install(name: string, manifests: URL): Installation;

export function installOneAgent(manifests: URL): void;
