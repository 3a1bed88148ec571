/**
 * Decides what an answer is charged by. A plausible report is charged, whatever the form of the answer. Only two things
 * are free: a failed attempt, and an answer that reports no output and delivered nothing. A caller that disconnects
 * pays for the input and for what was delivered, from the first generated event on.
 */
import { type Meter, type Price, type Usage, UsageSource } from "../api/index.js";
import { NO_METERS } from "../api/meters.js";
import { generatedTokens, NO_USAGE, readTokens, totalTokens } from "../api/usage.js";
import { type BilledUnit, BY_TOKENS } from "../families/family.js";
import { isUnitPriced } from "../pricing/rates.js";
import { countPrompts, countUsage } from "../pricing/request-tokens.js";
import { tokensAtLeast } from "../pricing/text-pieces.js";
import { countOrEstimate, roughTokens } from "../pricing/tokens.js";
import type { AnswerReport, OutputProgress, WireRequest } from "../wire/wire.js";
import { withInputWithin, withMetersWithin, withOutputWithin } from "./usage-cap.js";
import {
  doubtOf,
  hasText,
  isTooLow,
  mayBeTooLow,
  type TextCount,
  type UsageDoubt,
  withCountedInput,
  withCountedOutput,
} from "./usage-doubt.js";

/** How an answer ended: completely, because its caller disconnected (`left`), or because its upstream failed. */
export type Ending = "finished" | "left" | "failed";

/** What must be known of a request to charge its answer. */
export interface ChargeTerms {
  readonly request: WireRequest;
  /** The model that answered, by the upstream's name, which determines the tokenizer. */
  readonly modelId: string;
  /** The model's context; zero if unknown. */
  readonly contextTokens: number;
  readonly inputTokensMax: number;
  /** The price at admission. */
  readonly price: Price;
  /** By which units the endpoint bills that answered, of a request that generates nothing. Absent: tokens. */
  readonly units?: readonly BilledUnit[] | undefined;
  /** The request's account: counting takes turns by account. */
  readonly accountId: string;
  /** The output limit that the hold covers, for all candidates together. Absent: no limit. */
  readonly outputTokensMax?: number | undefined;
  /** Counts the tokens of text that was dropped while the answer grew. Absent: the report holds the whole text. */
  readonly countOutput?: (() => Promise<TextCount>) | undefined;
  /** An estimate of these tokens, and the least that any tokenizer makes of them. */
  readonly estimateOutput?: (() => number) | undefined;
  readonly leastOutput?: (() => number) | undefined;
  /**
   * Whether the upstream bills the input of a request that delivered nothing. Absent: the upstream cannot have read it.
   */
  readonly cutInput?: "billed" | "unbilled" | undefined;
}

/** The usage that is charged, its source, and what is wrong with the upstream's report. */
export interface Charge {
  readonly usage: Usage;
  /** With NONE nothing is charged. */
  readonly usageSource: UsageSource;
  readonly doubt: UsageDoubt | undefined;
  /** Usage that was sent and is charged to no account. It counts in limits, and the operator pays it. */
  readonly unbilled?: Usage;
}

/** `compare`: by the report, unless the delivered content cannot fit it. */
export type Basis = "free" | "report" | "count" | "compare";

/**
 * What the upstream reported: nothing, impossible values, no output, a count that may be older than the answer, or a
 * final count.
 */
export type ReportKind = "none" | "doubtful" | "zero" | "early" | "final";

function row(nothing: Basis, begun: Basis, content: Basis): Readonly<Record<OutputProgress, Basis>> {
  return { nothing, begun, content };
}

type ByReport = Readonly<Record<ReportKind, Readonly<Record<OutputProgress, Basis>>>>;

/**
 * The complete rule. A caller that disconnects after a complete answer pays like one that stays: that answer is
 * `finished`.
 */
const BASES: Readonly<Record<Ending, ByReport>> = {
  finished: {
    none: row("free", "free", "count"),
    doubtful: row("free", "free", "count"),
    zero: row("free", "free", "report"),
    early: row("compare", "compare", "compare"),
    final: row("report", "report", "report"),
  },
  left: {
    none: row("free", "count", "count"),
    doubtful: row("free", "count", "count"),
    zero: row("free", "compare", "compare"),
    early: row("compare", "compare", "compare"),
    final: row("report", "report", "report"),
  },
  failed: {
    none: row("free", "free", "count"),
    doubtful: row("free", "free", "count"),
    zero: row("free", "free", "compare"),
    early: row("free", "free", "compare"),
    final: row("free", "free", "report"),
  },
};

/** What an answer is charged by, from its report, from how much was delivered (`made`), and from how it ended. */
export function basisOf(report: ReportKind, made: OutputProgress, ending: Ending): Basis {
  return BASES[ending][report][made];
}

/** The charge of an answer, however it ended. Never rejects, since a settlement depends on it. */
export function chargeOf(
  report: AnswerReport | undefined,
  ending: Ending,
  terms: ChargeTerms,
): Charge | Promise<Charge> {
  const charge = answerCharge(report, ending, terms);
  if (ending !== "left" || terms.cutInput === undefined) return charge;
  return Promise.resolve(charge).then((known) => (isFree(known) ? cutCharge(known, terms) : known));
}

function isFree({ usageSource }: Charge): boolean {
  return usageSource === UsageSource.USAGE_SOURCE_NONE;
}

/** The charge of a caller that disconnected before anything was delivered: its prompt was sent all the same. */
async function cutCharge(charge: Charge, terms: ChargeTerms): Promise<Charge> {
  const sent = await (isReadOnly(terms)
    ? chargeReadOnly(undefined, "left", charge.doubt, terms)
    : counted(NOTHING, charge.doubt, terms));
  return terms.cutInput === "billed" ? sent : { ...charge, unbilled: sent.usage };
}

function answerCharge(report: AnswerReport | undefined, ending: Ending, terms: ChargeTerms): Charge | Promise<Charge> {
  if (report === undefined) return free(undefined);
  const { request, contextTokens } = terms;
  const hasFinished = ending === "finished";
  const doubt = doubtOf(report, contextTokens * (request.facts.inputCount ?? 1), hasFinished, repeatsInput(terms));
  const isOver = hasFinished || report.complete;
  const kind = kindOf(report, doubt, isOver);
  // A request for no output at all only warms a cache, and a finished one has what it asked for.
  const made = hasFinished && request.facts.outputTokensMax === 0 ? "content" : report.made;
  const basis = basisOf(kind, made, ending === "left" && isOver ? "finished" : ending);
  const { usage } = report;
  if (basis !== "free" && isReadOnly(terms)) return chargeReadOnly(report, ending, doubt, terms);
  if (basis === "free") return free(doubt === "missing" ? undefined : doubt);
  if (basis === "count" || usage === undefined) {
    // Of an answer that was cut, its report may not have come yet: that is no lie.
    const output = outputOf(report, terms).then(({ tokens }) => deliveredOf(tokens, report, terms));
    return counted(output, hasFinished || doubt !== "zero" ? doubt : undefined, terms);
  }
  if (basis === "compare" && (hasText(report) || totalOf(deliveredOf(0, report, terms)) > 0))
    return compared(usage, report, hasFinished, terms);
  if (kind === "final" && (hasSeveralPrompts(terms) || looksTooLow(usage, report, terms)))
    return judged(usage, report, terms);
  return withinPlan(reported(usage), terms);
}

/** True where nothing is generated: no usage without input is true then. */
function isReadOnly({ request }: ChargeTerms): boolean {
  return request.embedding !== undefined || request.facts.surface !== undefined;
}

function hasSeveralPrompts({ request }: ChargeTerms): boolean {
  return (request.facts.inputCount ?? 1) > 1;
}

/** The counted tokens of all prompts; undefined for a single prompt, which the upstream may truncate. */
async function promptsOf(terms: ChargeTerms): Promise<TextCount | undefined> {
  return hasSeveralPrompts(terms) ? countPrompts(terms.request, terms.modelId, terms.accountId) : undefined;
}

/** Runs for every answer, so it reads only a part of the text. */
function looksTooLow(usage: Usage, report: AnswerReport, { request, estimateOutput }: ChargeTerms): boolean {
  if (!hasText(report)) return false;
  // How much of it was generated only a count tells.
  if (request.facts.repeatsInput === true) return true;
  const estimated = estimateOutput?.() ?? roughTokens(report.text);
  return mayBeTooLow(generatedTokens(usage), estimated * saidShare(report));
}

function kindOf(report: AnswerReport, doubt: UsageDoubt | undefined, isOver: boolean): ReportKind {
  const { usage } = report;
  if (usage === undefined) return "none";
  if (doubt !== undefined) return "doubtful";
  if (generatedTokens(usage) === 0n) return "zero";
  return isOver && report.usageEarly !== true ? "final" : "early";
}

function free(doubt: UsageDoubt | undefined): Charge {
  return { usage: NO_USAGE, usageSource: UsageSource.USAGE_SOURCE_NONE, doubt };
}

function reported(usage: Usage): Charge {
  return { usage, usageSource: UsageSource.USAGE_SOURCE_REPORTED, doubt: undefined };
}

/**
 * An upstream that ignores the output limit is charged as if it kept it. One that reports more input than the request
 * can have is charged as if it read all of the request. So the hold covers every answer.
 */
function withinPlan(charge: Charge, terms: ChargeTerms): Charge {
  const usage = usageWithin(charge.usage, terms);
  if (usage === charge.usage) return charge;
  const isTooLong = generatedTokens(usage) < generatedTokens(charge.usage);
  const doubt = charge.doubt ?? (isTooLong ? "above_limit" : "above_input");
  return { usage, usageSource: UsageSource.USAGE_SOURCE_COUNTED, doubt };
}

/** The usage, reduced to what the request's plan allows. */
export function usageWithin(
  usage: Usage,
  { request, inputTokensMax, outputTokensMax }: Pick<ChargeTerms, "request" | "inputTokensMax" | "outputTokensMax">,
): Usage {
  const { roundsMax = 1 } = request.facts;
  // A later round reads what the ones before it wrote, too.
  const roundTokensMax = roundsMax > 1 ? inputTokensMax + (outputTokensMax ?? 0) : inputTokensMax;
  const { metersMax = NO_METERS } = request.facts;
  const metered = usage.meters.length === 0 ? usage : withMetersWithin(usage, metersMax);
  const read = withInputWithin(metered, BigInt(roundTokensMax) * BigInt(roundsMax));
  return outputTokensMax === undefined ? read : withOutputWithin(read, outputTokensMax);
}

async function outputOf(report: AnswerReport, terms: ChargeTerms): Promise<TextCount> {
  const { request, modelId, accountId, countOutput } = terms;
  const counting = countOutput?.() ?? countOrEstimate(report.text, modelId, { account: accountId, lane: "settlement" });
  if (!repeatsInput(terms)) return counting;
  // What repeats its prompt was not generated; where the two meet, tokens differ.
  const [output, input] = await Promise.all([counting, countPrompts(request, modelId, accountId)]);
  const { candidateCount, inputCount = 1 } = request.facts;
  const repeated = ((input?.tokens ?? 0) * candidateCount) / inputCount;
  return { tokens: Math.max(0, Math.floor(output.tokens - repeated)), certainTokens: 0 };
}

function repeatsInput({ request }: ChargeTerms): boolean {
  return request.facts.repeatsInput === true;
}

/** What was delivered, in tokens of each price. */
interface Delivered {
  readonly tokens: number;
  readonly audioTokens: number;
}

function totalOf({ tokens, audioTokens }: Delivered): number {
  return tokens + audioTokens;
}

/**
 * Everything that was delivered. The part that is not text is an estimate, so it never takes an answer above its limit.
 */
function deliveredOf(textTokens: number, report: AnswerReport, { outputTokensMax = Infinity }: ChargeTerms): Delivered {
  const { nonTextTokens = 0, unknownTokens = 0, audioTokens: heard = 0 } = report;
  const room = Math.max(0, outputTokensMax - textTokens);
  const audioTokens = Math.min(heard, room);
  return { tokens: textTokens + Math.min(nonTextTokens + unknownTokens, room - audioTokens), audioTokens };
}

const NOTHING: Delivered = { tokens: 0, audioTokens: 0 };

async function counted(
  output: Delivered | Promise<Delivered>,
  doubt: UsageDoubt | undefined,
  terms: ChargeTerms,
): Promise<Charge> {
  const reading = countUsage(terms.request, 0, terms.modelId, terms.inputTokensMax, terms.accountId);
  const { tokens, audioTokens } = await output;
  const usage = { ...(await reading), outputTokens: BigInt(tokens), audioOutputTokens: BigInt(audioTokens) };
  return withinPlan({ usage, usageSource: UsageSource.USAGE_SOURCE_COUNTED, doubt }, terms);
}

/** Replaces each side of the usage that is too low beside its count. A side without a count stays as reported. */
function corrected(
  usage: Usage,
  input: TextCount | undefined,
  output: TextCount | undefined,
  delivered: Delivered,
): Usage {
  const isInputTooLow = input !== undefined && isTooLow(readTokens(usage), input);
  const read = isInputTooLow ? withCountedInput(usage, input.tokens) : usage;
  const isOutputTooLow = output !== undefined && isTooLow(generatedTokens(usage), output);
  return isOutputTooLow ? withCountedOutput(read, delivered) : read;
}

/** The report, or the counted output if the report is too low to be true. */
async function compared(usage: Usage, report: AnswerReport, hasFinished: boolean, terms: ChargeTerms): Promise<Charge> {
  const [{ tokens: said, certainTokens }, input] = await Promise.all([outputOf(report, terms), promptsOf(terms)]);
  const delivered = deliveredOf(said, report, terms);
  // Counts that come with the text may be of the one prompt that it belongs to.
  const comparedUsage = corrected(usage, input, { tokens: totalOf(delivered), certainTokens }, delivered);
  if (comparedUsage === usage) return withinPlan(reported(usage), terms);
  const usageSource = UsageSource.USAGE_SOURCE_COUNTED;
  const doubt = hasFinished ? "missing" : undefined;
  return withinPlan({ usage: comparedUsage, usageSource, doubt }, terms);
}

/**
 * The share of the text that is not reasoning. Displayed reasoning may be a summary, which the upstream does not bill.
 */
function saidShare({ thoughtLength = 0, grown, text }: AnswerReport): number {
  const length = grown?.length ?? text.length;
  return length === 0 ? 1 : Math.max(0, 1 - thoughtLength / length);
}

/** The tokens of the text without reasoning. With reasoning this is an estimate, so none of them is certain. */
function saidOf({ tokens, certainTokens }: TextCount, leastTokens: number, report: AnswerReport): TextCount {
  const share = saidShare(report);
  return { tokens: tokens * share, certainTokens: share === 1 ? Math.max(certainTokens, leastTokens) : 0 };
}

/** How much of a text is inspected for its words. */
const WORDS_CHARACTERS_MAX = 65_536;

function wordsOf(text: string): number {
  return tokensAtLeast(text.slice(0, WORDS_CHARACTERS_MAX));
}

/**
 * A final report, or a count of each side that is too low for all choices or all prompts. Estimates of content that is
 * not text never override a report.
 */
async function judged(usage: Usage, report: AnswerReport, terms: ChargeTerms): Promise<Charge> {
  const isOutputJudged = looksTooLow(usage, report, terms);
  const leastTokens = isOutputJudged && !repeatsInput(terms) ? (terms.leastOutput?.() ?? wordsOf(report.text)) : 0;
  const [output, input] = await Promise.all([isOutputJudged ? outputOf(report, terms) : undefined, promptsOf(terms)]);
  const said = output && saidOf(output, leastTokens, report);
  const delivered = output === undefined ? NOTHING : deliveredOf(output.tokens, report, terms);
  const judgedUsage = corrected(usage, input, said, delivered);
  if (judgedUsage === usage) return withinPlan(reported(usage), terms);
  const usageSource = UsageSource.USAGE_SOURCE_COUNTED;
  return withinPlan({ usage: judgedUsage, usageSource, doubt: "below_count" }, terms);
}

/**
 * The charge of an answer that generated no text, in the one unit that its endpoint bills: as reported, else a count.
 * Some upstreams never report; only a false report is a lie.
 */
async function chargeReadOnly(
  report: AnswerReport | undefined,
  ending: Ending,
  doubt: UsageDoubt | undefined,
  terms: ChargeTerms,
): Promise<Charge> {
  const usage = report?.usage;
  const isTrue = usage !== undefined && (doubt === undefined || (doubt === "zero" && usage.meters.length > 0));
  const plausible = isTrue ? usage : NO_USAGE;
  const known = doubt === "missing" || isTrue ? undefined : doubt;
  const unit = soldUnit(plausible, terms);
  const ofUnit = (meters: readonly Meter[]): Meter[] => meters.filter((meter) => meter.unit === unit);
  const meters = ofUnit(plausible.meters);
  if (unit === "token") {
    const { soundTokensExpected = 0 } = terms.request.facts;
    // A sound that its upstream broke off is charged its input alone: how much of it came is not known in tokens.
    const hasSound = report?.made === "content" && ending !== "failed";
    const output = hasSound ? { tokens: 0, audioTokens: soundTokensExpected } : NOTHING;
    const lacksSound = output.audioTokens > 0 && generatedTokens(plausible) === 0n;
    if (totalTokens(plausible) === 0 || lacksSound) return counted(output, known, terms);
    return withinPlan(reported({ ...plausible, meters }), terms);
  }
  if (meters.length > 0) return withinPlan(reported({ ...NO_USAGE, meters }), terms);
  const expected = { ...NO_USAGE, meters: ofUnit(terms.request.facts.metersExpected ?? NO_METERS) };
  return withinPlan({ usage: expected, usageSource: UsageSource.USAGE_SOURCE_COUNTED, doubt: known }, terms);
}

/** The charged unit, of those that the endpoint may bill and that have a price: a reported one before tokens. */
function soldUnit(usage: Usage, { price, units = BY_TOKENS }: ChargeTerms): BilledUnit {
  const priced = units.filter((unit) => isUnitPriced(price, unit));
  const reportedUnit = priced.find((unit) => usage.meters.some((meter) => meter.unit === unit));
  if (reportedUnit !== undefined) return reportedUnit;
  return totalTokens(usage) > 0 && priced.includes("token") ? "token" : (priced[0] ?? "token");
}
