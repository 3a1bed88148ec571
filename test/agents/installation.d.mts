/** What `installation.mjs` offers, for TypeScript. */
import type { PythonRange } from "./python.mjs";

export type Installation = { readonly folder: string } | { readonly problem: string };

export function install(name: string, manifests: URL): Installation;

export function installPython(name: string, manifests: URL, range: PythonRange): Installation;

export function installOneAgent(manifests: URL): void;
