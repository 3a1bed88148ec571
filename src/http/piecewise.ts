/** Whole answers in pieces, so that it is seen whether a reader takes any of them. */
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { writeAtEndOfTurn } from "./end-of-turn.js";
import type { AnswerHeaders } from "./headers.js";

/** What a connection is given at once. Whether it takes a part of a piece nobody can see. */
const PIECE_BYTES = 128 * 1024;

/** A longer body is not copied behind its head. */
const JOINED_BYTES_MAX = 8 * 1024;

/**
 * Answers with JSON that is there in bytes, past the framework: its way to the socket costs more than theirs, and bytes
 * that threads share it takes for an object, whose JSON it would write. It leaves at the end of the turn.
 */
export function answerInBytes(reply: FastifyReply, headers: AnswerHeaders, body: Buffer): ServerResponse {
  headers["content-type"] = "application/json; charset=utf-8";
  headers["content-length"] = String(body.length);
  headers["x-content-type-options"] = "nosniff";
  reply.hijack();
  const response = reply.raw.writeHead(200, headers);
  writeAtEndOfTurn(response, (one) => endPiecewise(one, body));
  return response;
}

/** Ends the response with the body. A long one follows its reader, piece by piece. */
function endPiecewise(response: ServerResponse, body: Buffer): void {
  // As text that says the same bytes, a short body leaves with its head in one piece.
  if (body.length <= JOINED_BYTES_MAX) {
    response.end(body.toString("latin1"), "latin1");
    return;
  }
  let at = 0;
  const give = (): void => {
    while (body.length - at > PIECE_BYTES) {
      const piece = body.subarray(at, (at += PIECE_BYTES));
      if (!response.write(piece)) return;
    }
    response.off("drain", give);
    response.end(at === 0 ? body : body.subarray(at));
  };
  if (body.length > PIECE_BYTES) response.on("drain", give);
  give();
}

/** Lets every long answer that the framework sends go out in pieces. */
export function sendPiecewise(app: FastifyInstance): void {
  app.addHook("onSend", (_request, reply, payload, done) => {
    const isLong = (typeof payload === "string" || Buffer.isBuffer(payload)) && payload.length > PIECE_BYTES;
    if (!isLong) return done(null, payload);
    const bytes = Buffer.from(payload);
    reply.header("content-length", bytes.length);
    done(null, Readable.from(piecesOf(bytes), { objectMode: false, highWaterMark: PIECE_BYTES }));
  });
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
