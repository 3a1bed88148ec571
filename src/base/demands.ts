/** Where and how requests may be processed: what labels of targets say, and what accounts, keys and requests demand. */

export const REGION = /^[a-z0-9][a-z0-9._-]{0,63}$/;
export const REGIONS_MAX = 32;
const RETENTION_DAYS_MAX = 36_500;

/** What is known of a target. A label that is absent is not known. */
export interface Labels {
  readonly region?: string | undefined;
  /** For how many days it keeps requests; 0: not at all. */
  readonly retentionDays?: number | undefined;
  readonly trains?: boolean | undefined;
}

/** What the target of a request must satisfy. */
export interface Demands {
  /** Absent: all regions. */
  readonly regions?: readonly string[] | undefined;
  readonly retentionDaysMax?: number | undefined;
  /** True where the target must not train models with requests. */
  readonly refusesTraining?: true | undefined;
}

/** The same as settings and the protocol write it; what is empty demands nothing. */
export interface WrittenDemands {
  readonly region: readonly string[];
  readonly retention: string;
  readonly trains: string;
}

/** `none` is 0 days. Undefined where it is neither that nor a number of days. */
export function parseRetention(text: string): number | undefined {
  if (text === "none") return 0;
  const days = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : Infinity;
  return days <= RETENTION_DAYS_MAX ? days : undefined;
}

/** The first of the fields that cannot be read, and the rule that it breaks; undefined where all can be. */
export function demandsProblem({ region, retention, trains }: WrittenDemands): readonly [string, string] | undefined {
  if (region.length > REGIONS_MAX || !region.every((one) => REGION.test(one)))
    return ["region", `must be at most ${REGIONS_MAX} regions of 1 to 64 of a-z, 0-9, ., _ and -`];
  if (retention !== "" && parseRetention(retention) === undefined)
    return ["retention", `must be none, or a number of days from 1 to ${RETENTION_DAYS_MAX}`];
  return trains === "" || trains === "no" ? undefined : ["trains", "must be no, or be left out"];
}

/** Undefined where nothing is demanded. */
export function demandsOf(written: WrittenDemands | undefined): Demands | undefined {
  if (written === undefined) return undefined;
  const { region, retention, trains } = written;
  const retentionDaysMax = parseRetention(retention);
  if (region.length === 0 && retentionDaysMax === undefined && trains === "") return undefined;
  return {
    regions: region.length === 0 ? undefined : region,
    retentionDaysMax,
    refusesTraining: trains === "" ? undefined : true,
  };
}

/** Both together: what satisfies them satisfies each. */
export function tightened(one: Demands | undefined, other: Demands | undefined): Demands | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const [regions, others] = [one.regions, other.regions];
  return {
    regions: regions && others ? regions.filter((region) => others.includes(region)) : (regions ?? others),
    retentionDaysMax: least(one.retentionDaysMax, other.retentionDaysMax),
    refusesTraining: one.refusesTraining ?? other.refusesTraining,
  };
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** False also where a label that a demand is about is not known. */
export function satisfies(labels: Labels | undefined, demands: Demands): boolean {
  const { region, retentionDays, trains } = labels ?? {};
  const { regions, retentionDaysMax, refusesTraining } = demands;
  if (regions !== undefined && (region === undefined || !regions.includes(region))) return false;
  if (retentionDaysMax !== undefined && (retentionDays === undefined || retentionDays > retentionDaysMax)) return false;
  return refusesTraining !== true || trains === false;
}

/** Such as `region=eu, retention=none, trains=no`, as the header of a request writes it. */
export function demandsText({ regions, retentionDaysMax, refusesTraining }: Demands): string {
  const parts = regions?.map((region) => `region=${region}`) ?? [];
  if (regions?.length === 0) parts.push("region=(no region satisfies all demands)");
  if (retentionDaysMax !== undefined) parts.push(`retention=${retentionDaysMax === 0 ? "none" : retentionDaysMax}`);
  if (refusesTraining === true) parts.push("trains=no");
  return parts.join(", ");
}
