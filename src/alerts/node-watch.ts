/** What a node sees by itself: its requests, its upstreams and its settings. */
import { DAY_MS, dayOf } from "../base/day.js";
import { AlertKind } from "../api/index.js";
import { SKEW_MS } from "../clock/clock.js";
import { GlobSet } from "../keys/glob.js";
import type { Reading } from "./judge.js";
import type { AlertRow } from "./rows.js";
import { Traffic, type TrafficFilter } from "./traffic.js";

export interface ActiveEjection {
  readonly upstream: string;
  /** Empty where it is the whole upstream. */
  readonly model: string;
  readonly cause: string;
}

/** What the last test or check of an upstream found. */
export interface CheckedUpstream {
  readonly upstream: string;
  /** Undefined: it answered. */
  readonly fault: "failing" | "credential" | undefined;
  readonly problem: string;
  /** The models that the settings name there, and that its list no longer has. */
  readonly missingModels: readonly string[];
}

export interface RetiringModel {
  readonly id: string;
  readonly retireTime?: Date | undefined;
}

export interface NodeSources {
  /** What of the upstreams is ejected now. */
  readonly ejections: () => readonly ActiveEjection[];
  readonly checks: () => readonly CheckedUpstream[];
  readonly models: () => readonly RetiringModel[];
  /** True where a changed settings file was refused, and none was accepted since. */
  readonly isReloadRefused: () => boolean;
  /** This machine, and how far its clock is ahead of the time that decides; negative: behind it. */
  readonly clock: () => { readonly machine: string; readonly skewMs: number };
}

export const NO_SOURCES: NodeSources = {
  ejections: () => [],
  checks: () => [],
  models: () => [],
  isReloadRefused: () => false,
  clock: () => ({ machine: "", skewMs: 0 }),
};

const WINDOW_MINUTES = 5;
const REQUESTS_MIN = 20;
/** A tenth below what fires is over. */
const OVER = 0.9;
const FAILING: ReadonlySet<string> = new Set(["failing", "model_unknown"]);
const REFUSED: ReadonlySet<string> = new Set(["credential", "no_funds", "access"]);
const CAUSES: Readonly<Record<string, string>> = {
  failing: "requests there fail",
  model_unknown: "it does not have the model",
  credential: "it does not take the gateway's credential: check its api_key in the settings",
  no_funds: "the gateway's account there has no funds: add some there",
  access: "the gateway's account there may not use the model: ask for access there",
};

export class NodeWatch {
  readonly traffic = new Traffic();

  constructor(private readonly sources: NodeSources) {}

  /** What one alert reads here. A subject of which nothing is said is well. */
  readings(alert: AlertRow, nowMs: number): readonly Reading[] {
    switch (alert.settings.kind) {
      case AlertKind.ALERT_KIND_ERROR_SHARE:
        return [this.#errorShare(alert, nowMs)];
      case AlertKind.ALERT_KIND_FIRST_TOKEN_SLOW:
        return [this.#firstToken(alert, nowMs)];
      case AlertKind.ALERT_KIND_UPSTREAM_EJECTED:
        return this.#ejections(alert, FAILING);
      case AlertKind.ALERT_KIND_CREDENTIAL_REFUSED:
        return this.#ejections(alert, REFUSED);
      case AlertKind.ALERT_KIND_RELOAD_REFUSED:
        return this.sources.isReloadRefused() ? [RELOAD_REFUSED] : [];
      case AlertKind.ALERT_KIND_CLOCK_SKEW:
        return [this.#clock()];
      default:
        return [];
    }
  }

  /**
   * The models that retire, which every node knows alike, and those that an upstream's list no longer has. The latter
   * are for operators: accounts do not know the upstreams.
   */
  retiring({ accountId, settings: { days, model } }: AlertRow, nowMs: number): readonly Reading[] {
    const watched = new GlobSet([model === "" ? "*" : model]);
    const missing = (accountId === "" ? this.sources.checks() : [])
      .flatMap(({ upstream, missingModels }) => missingModels.map((id) => ({ upstream, model: id })))
      .filter((one) => watched.matches(one.model))
      .map(missingReading);
    const retiring = this.sources.models().flatMap(({ id, retireTime }) => {
      if (retireTime === undefined || !watched.matches(id)) return [];
      const isMet = retireTime.getTime() - nowMs <= days * DAY_MS;
      const day = dayOf(retireTime.getTime());
      const message = `The model ${id} retires on ${day}: move its requests to another one.`;
      return [{ ...gateway(`model ${id}`), isMet, isOver: !isMet, message, facts: { model: id, retire_day: day } }];
    });
    return [...retiring, ...missing];
  }

  #errorShare(alert: AlertRow, nowMs: number): Reading {
    const { percent, windowMinutes, requestsMin } = alert.settings;
    const minutes = windowMinutes || WINDOW_MINUTES;
    const { requests, errors } = this.traffic.sum(minutes, nowMs, filterOf(alert));
    const isEnough = requests >= (Number(requestsMin) || REQUESTS_MIN);
    const share = requests === 0 ? 0 : (errors * 100) / requests;
    return {
      ...requestsOf(alert),
      isMet: isEnough && share >= percent,
      isOver: share < percent * OVER,
      message:
        `${errors} of ${requests} ${subjectOf(alert)} failed in ${minutes} minutes, which is ${share.toFixed(1)} %;` +
        ` the alert is at ${percent} %.`,
      facts: { requests: String(requests), errors: String(errors), percent: share.toFixed(1) },
    };
  }

  #firstToken(alert: AlertRow, nowMs: number): Reading {
    const { windowMinutes, requestsMin } = alert.settings;
    const thresholdMs = Number(alert.settings.thresholdMs);
    const minutes = windowMinutes || WINDOW_MINUTES;
    const { firstTokens, firstTokenMs } = this.traffic.sum(minutes, nowMs, filterOf(alert));
    return {
      ...requestsOf(alert),
      isMet: firstTokens >= (Number(requestsMin) || REQUESTS_MIN) && firstTokenMs >= thresholdMs,
      isOver: firstTokenMs < thresholdMs * OVER,
      message:
        `The 95th percentile of the time to first token of ${subjectOf(alert)} was ${firstTokenMs} ms in ${minutes} minutes;` +
        ` the alert is at ${thresholdMs} ms.`,
      facts: { first_tokens: String(firstTokens), first_token_ms: String(firstTokenMs) },
    };
  }

  #clock(): Reading {
    const { machine, skewMs } = this.sources.clock();
    const seconds = (Math.abs(skewMs) / 1_000).toFixed(1);
    const side = skewMs < 0 ? "behind" : "ahead of";
    return {
      ...gateway(`clock of ${machine}`),
      isMet: Math.abs(skewMs) > SKEW_MS,
      isOver: Math.abs(skewMs) < SKEW_MS * OVER,
      message:
        `The clock of ${machine} is ${seconds} s ${side} the database's clock, by which days and budgets are counted:` +
        " one of the two is wrong.",
      facts: { machine, skew_seconds: (skewMs / 1_000).toFixed(1) },
    };
  }

  #ejections({ settings }: AlertRow, causes: ReadonlySet<string>): readonly Reading[] {
    const own = this.sources.ejections().filter(({ upstream, cause }) => {
      return causes.has(cause) && ["", upstream].includes(settings.upstream);
    });
    const checked = this.sources
      .checks()
      .filter(({ fault }) => fault !== undefined && causes.has(fault))
      .filter(({ upstream }) => ["", upstream].includes(settings.upstream))
      // One subject has one reading.
      .filter(({ upstream }) => !own.some((one) => one.upstream === upstream && one.model === ""));
    return [...own.map(asideReading), ...checked.map(checkReading)];
  }
}

const RELOAD_REFUSED: Reading = {
  ...gateway("settings file"),
  isMet: true,
  isOver: false,
  message: "The changed settings file is refused, and older settings stay in force: the log says what is wrong in it.",
  facts: {},
};

function asideReading({ upstream, model, cause }: ActiveEjection): Reading {
  const subject = model === "" ? `upstream ${upstream}` : `upstream ${upstream}, model ${model}`;
  const facts = { upstream, model, cause };
  return {
    subject,
    subjectAccountId: "",
    isMet: true,
    isOver: false,
    message: `Ejected: ${subject}, since ${CAUSES[cause]}.`,
    facts,
  };
}

function checkReading({ upstream, problem }: CheckedUpstream): Reading {
  const subject = `upstream ${upstream}`;
  return {
    ...gateway(subject),
    isMet: true,
    isOver: false,
    message: `A check of the ${subject} failed: ${problem}.`,
    facts: { upstream },
  };
}

function missingReading({ upstream, model }: { readonly upstream: string; readonly model: string }): Reading {
  return {
    ...gateway(`model ${model} at ${upstream}`),
    isMet: true,
    isOver: false,
    message: `The upstream ${upstream} no longer lists the model ${model}: move its requests to another one.`,
    facts: { upstream, model },
  };
}

function gateway(subject: string): Pick<Reading, "subject" | "subjectAccountId"> {
  return { subject, subjectAccountId: "" };
}

function requestsOf(alert: AlertRow): Pick<Reading, "subject" | "subjectAccountId"> {
  return { subject: subjectOf(alert), subjectAccountId: alert.accountId || alert.settings.watchedAccountId };
}

function subjectOf({ settings: { model, upstream } }: AlertRow): string {
  return `requests to ${model === "" ? "all models" : model}${upstream === "" ? "" : ` at ${upstream}`}`;
}

function filterOf({ accountId, settings }: AlertRow): TrafficFilter {
  const models = new GlobSet([settings.model === "" ? "*" : settings.model]);
  const account = accountId || settings.watchedAccountId;
  return (place) =>
    ["", place.accountId].includes(account) &&
    ["", place.upstream].includes(settings.upstream) &&
    models.matches(place.model);
}
