/** What tests in TypeScript take of the checks of a release. */
export interface Sbom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } };
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly licenses?: readonly unknown[];
  }[];
}
export interface Lockfile {
  readonly packages: Readonly<
    Record<
      string,
      { readonly name?: string; readonly version?: string; readonly dev?: boolean; readonly link?: boolean }
    >
  >;
}
type Read = (path: string) => string;
export function versionFaults(read: Read): string[];
export function changelogSection(
  text: string,
  version: string,
): { readonly notes: string; readonly lines: number; readonly isCut: boolean };
export function renderTemplate(template: string, context: object): string;
export function renderChart(read: Read, values?: object): unknown[];
export function productionOnly(
  manifest: Readonly<Record<string, unknown>>,
  lock: Lockfile,
): { readonly manifest: Readonly<Record<string, unknown>>; readonly lock: Lockfile };
export function sbomFaults(sbom: Sbom, lock: Lockfile, version: string): string[];
export function packageFaults(paths: readonly string[], tracked: ReadonlySet<string>): string[];
export function secretFaults(paths: readonly string[], read: Read): string[];
export function sentPaths(paths: readonly string[], dockerignore: string): string[];
export function copiedPaths(dockerfile: string): string[];
