/** Frames of a tunnel and the sizes that both ends keep to. */
import {
  TunnelFrameKind,
  type TunnelFrame,
  TunnelRequest,
  TunnelResponse,
  TunnelServiceService,
} from "../../api/index.js";
import { KeptWriter } from "./message-bytes.js";

/** The most bytes of one piece of a message. */
const PIECE_BYTES_MAX = 256 * 1024;
/** What a piece uses of the window at least, so that small ones are bounded in number too. */
const PIECE_COST_BYTES_MIN = 1024;
/** What a front end may send of a request before the core opens the window further. */
export const REQUEST_WINDOW_BYTES = 1024 * 1024;
/** What our front ends take of an answer before they open the window further. */
export const ANSWER_WINDOW_BYTES = 256 * 1024;
/** The widest window that either end opens. */
export const WINDOW_BYTES_MAX = 16 * 1024 * 1024;
/** The longest text of headers. */
const HEADERS_LENGTH_MAX = 64 * 1024;
/** Frames are gathered up to so many bytes in one message. */
export const GATHERED_BYTES_MAX = 1024 * 1024;
/** The most calls at once over one tunnel. */
export const TUNNEL_CALLS_MAX = 10_000;

export const NO_BYTES = Buffer.alloc(0);
/** What a frame takes beside its data. */
const FRAME_BYTES = 256;

/** A frame that breaks the rules: the other end cannot be trusted to know what it does, so the tunnel ends. */
export class MalformedFrame extends Error {}

/** A frame with every field set, so that all frames are of one shape. */
export function frameOf(
  callId: number,
  kind: TunnelFrameKind,
  data: Buffer = NO_BYTES,
  more = false,
  headers = "",
): TunnelFrame {
  return { callId, kind, method: "", headers, data, more, windowBytes: 0, timeoutMs: undefined };
}

/** The frame that opens a window further. */
export function windowFrame(callId: number, windowBytes: number): TunnelFrame {
  const frame = frameOf(callId, TunnelFrameKind.TUNNEL_FRAME_KIND_WINDOW);
  frame.windowBytes = windowBytes;
  return frame;
}

/** What a piece uses of the window. */
export function pieceCost(data: Buffer): number {
  return Math.max(data.length, PIECE_COST_BYTES_MIN);
}

/** The longest piece that a window has room for; undefined where it has room for none. */
export function pieceRoom(windowBytes: number): number | undefined {
  return windowBytes < PIECE_COST_BYTES_MIN ? undefined : Math.min(windowBytes, PIECE_BYTES_MAX);
}

/** About what a frame takes in a message. */
export function frameBytes(frame: TunnelFrame): number {
  return frame.data.length + frame.headers.length + FRAME_BYTES;
}

/** Throws MalformedFrame where a frame breaks a rule that holds for all. */
export function checkFrame(frame: TunnelFrame): void {
  if (frame.callId === 0) throw new MalformedFrame("a frame names no call");
  if (frame.data.length > PIECE_BYTES_MAX) throw new MalformedFrame("a piece is too long");
  if (frame.headers.length > HEADERS_LENGTH_MAX) throw new MalformedFrame("the headers are too long");
}

const kept = new KeptWriter();

/** The method as generated, with one buffer for all messages. */
export const TUNNEL = {
  ...TunnelServiceService.tunnel,
  requestSerialize: (value: TunnelRequest): Buffer => kept.bytes((writer) => TunnelRequest.encode(value, writer)),
  responseSerialize: (value: TunnelResponse): Buffer => kept.bytes((writer) => TunnelResponse.encode(value, writer)),
};
