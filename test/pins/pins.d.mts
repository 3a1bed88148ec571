export interface Client {
  readonly name: string;
  readonly pinned: string;
}

export interface Manifest {
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface Row {
  readonly pinned: string;
  readonly newest: string;
}

export const MANIFESTS: readonly string[];
export const REQUIREMENTS: readonly string[];

export function clientsIn(manifest: Manifest): Client[];
export function pythonClientsIn(requirements: string): Client[];
export function behind(row: Row): boolean;
export function isMajor(row: Row & Pick<Client, "name">): boolean;
