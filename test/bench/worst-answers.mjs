/** Answers that are as costly to read as their size allows, of each upstream's wire. */
import { filled, SPEECHES } from "./worst-answer-shapes.mjs";
import { framedAnswers } from "./worst-frames.mjs";

/** As long as a whole answer may be. Each shape has a quarter of it, and the first of each wire all of it. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024 - 65_536;
const SHAPE_BYTES = WHOLE_BYTES_MAX / 4;
/** As long as one event may be. */
const EVENT_BYTES_MAX = 1024 * 1024 - 4096;
/** So much of a stream is sent in one write. */
const FLOOD_BYTES = 8 * 1024 * 1024;
const JSON_TYPE = "application/json";
const STREAM_TYPE = "text/event-stream";

/** @typedef {import("./worst-answer-shapes.mjs").Row} Row */
/** @typedef {import("./worst-answer-shapes.mjs").Speech} Speech */

/**
 * @typedef {object} WorstAnswer
 * @property {string} name
 * @property {string} wire The upstream's.
 * @property {boolean} stream
 * @property {string} contentType
 * @property {(bytes?: number) => Buffer} body
 */

/** @type {readonly WorstAnswer[]} */
export const WORST_ANSWERS = [...SPEECHES.flatMap(answersOf), ...framedAnswers()];

/** @param {Speech} speech @returns {WorstAnswer[]} */
function answersOf(speech) {
  const { wire, rows, whole } = speech;
  const wholeOf = (/** @type {Row} */ row, bytes = row === rows[0] ? WHOLE_BYTES_MAX : SHAPE_BYTES) =>
    filled(whole[0], row, whole[1], bytes);
  const told = (/** @type {Row} */ row, /** @type {boolean} */ stream, contentType = JSON_TYPE) => {
    const how = stream ? ` in place of a stream, as ${contentType}` : "";
    const name = `${wire}, whole${how}: ${row[0]}`;
    return { name, wire, stream, contentType, body: (/** @type {number | undefined} */ bytes) => wholeOf(row, bytes) };
  };
  const wholes = rows.map((row) => told(row, false));
  if (speech.event === undefined) return wholes;
  // They are read where the others are, and told in steps.
  const inPlace = rows.filter(([name]) => /letters|calls|parts|blocks/.test(name)).map((row) => told(row, true));
  const unannounced = rows.slice(0, 1).map((row) => told(row, true, STREAM_TYPE));
  return [...wholes, ...inPlace, ...unannounced, ...streamsOf(speech, speech.event)];
}

/**
 * @param {Speech} speech
 * @param {(json: string) => string} event
 * @returns {WorstAnswer[]}
 */
function streamsOf({ wire, rows, floods = [], opening = "", ending = "" }, event) {
  const stream = (/** @type {string} */ name, /** @type {WorstAnswer["body"]} */ body) => {
    return { name: `${wire}, ${name}`, wire, stream: true, contentType: STREAM_TYPE, body };
  };
  return [
    ...rows.map((row) =>
      stream(`one event: ${row[0]}`, (bytes = EVENT_BYTES_MAX) =>
        Buffer.concat([Buffer.from(opening), eventOf(event, row, bytes), Buffer.from(ending)]),
      ),
    ),
    ...floods.map((flood) =>
      stream(`flood of ${JSON.stringify(flood.slice(0, 60))}`, (bytes = FLOOD_BYTES) =>
        Buffer.from(opening + flood.repeat(Math.floor(bytes / flood.length)) + ending),
      ),
    ),
    stream("one event of many lines", (bytes = 4 * EVENT_BYTES_MAX) =>
      Buffer.from(`${opening}${"data:\n".repeat(Math.floor(bytes / 6))}\n${ending}`),
    ),
    stream("one event of many other lines", (bytes = 4 * EVENT_BYTES_MAX) =>
      Buffer.from(`${opening}${"x\n".repeat(Math.floor(bytes / 2))}data: {}\n\n${ending}`),
    ),
  ];
}

/**
 * @param {(json: string) => string} event
 * @param {Row} row
 * @param {number} bytes
 */
function eventOf(event, row, bytes) {
  return Buffer.from(event(filled("", row, "", bytes - event("").length).toString()));
}
