/** What bounded stores count is what they take, be it kept in the smallest pieces beside everybody else's. */
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { BytePool } from "../src/base/bytes/byte-pool.js";
import { type Event, InferenceServiceService, type StreamGenerateResponse, TunnelFrameKind } from "../src/api/index.js";
import { FrameWriter } from "../src/gateway/replay/relay-frames.js";
import { Tape } from "../src/gateway/replay/tape.js";
import { ItemCache } from "../src/http/item-cache.js";
import { ChunkBuilder, type ChunkBytes, decodePart, encodeChunk } from "../src/records/chunk.js";
import type { RecordRow } from "../src/records/columns.js";
import { PartCache } from "../src/records/part-cache.js";
import { batchOf } from "../src/records/row-batch.js";
import { Outbox } from "../src/rpc/transport/tunnel-outbox.js";
import { wire as anthropic } from "../src/wire/anthropic/index.js";
import { wire as gemini } from "../src/wire/gemini/index.js";
import { wire as openAiChat } from "../src/wire/openai-chat/index.js";
import { wire as openAiResponses } from "../src/wire/openai-responses/index.js";
import { frameBytes, frameOf } from "../src/rpc/transport/tunnel-frame.js";
import { rowWith } from "./records/row.js";
import { STREAM_FACTS } from "./support/stream-facts.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** What is kept may take so much more than is counted. */
const RESIDENT_MAX = 1.5;
/** Enough to see, and within every bound. */
const FILL_BYTES = 2 * 1024 * 1024;
const PIECES = [40, 200, 900, 3_000, 20_000];

/** Bytes as a connection reads them: from the pool that all share, between pieces that are soon forgotten. */
function read(length: number): Buffer {
  for (let other = 0; other < 8; other++) Buffer.allocUnsafe(900).fill(1);
  return Buffer.allocUnsafe(length).fill(97);
}

async function usedBytes(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collectGarbage();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

interface Store {
  readonly name: string;
  /** A new store. `add` keeps something with a piece of so many bytes, and tells what it counts for all by now. */
  readonly make: () => { readonly add: (length: number, place: number) => number; readonly held: unknown };
}

type Kind = NonNullable<Event["kind"]>;
type Step = (text: string) => Kind;
type Wire = typeof openAiChat;

const start = (index: number): Kind => ({
  $case: "toolCallStart",
  value: { candidate: 0, index, id: `call_${index}`, name: "look", custom: false, signature: undefined },
});

const { responseSerialize, responseDeserialize } = InferenceServiceService.streamGenerate;

function tapes(messageOf: (length: number) => StreamGenerateResponse): Store["make"] {
  return () => {
    let used = 0;
    const pool = new BytePool(Infinity, (bytes) => (used = bytes));
    const kept: Tape<StreamGenerateResponse>[] = [];
    const add = (length: number, place: number): number => {
      // Answers of fifty events each, a few of them at once.
      const at = Math.floor(place / 250) * 5 + (place % 5);
      kept[at] ??= newTape(pool);
      kept[at].data(messageOf(length));
      return used;
    };
    return { add, held: kept };
  };
}

function newTape(pool: BytePool): Tape<StreamGenerateResponse> {
  return new Tape({
    accountId: "acme",
    bytesOf: responseSerialize,
    messageOf: responseDeserialize,
    bytesMax: Infinity,
    pool,
  });
}

const STORES: readonly Store[] = [
  {
    name: "what keys were told",
    make: () => {
      const told = new ItemCache(() => 0);
      return {
        held: told,
        add: (length, place) => {
          told.keep(`key ${place % 16}`, new Map([[`item ${place}`, read(length)]]));
          return told.bytes;
        },
      };
    },
  },
  {
    name: "answers that may come again, as their upstream sent them",
    make: tapes((length) => ({ events: [], source: read(length) })),
  },
  {
    name: "answers that may come again, as events",
    make: tapes((length) => ({
      events: [{ kind: { $case: "text", value: { text: read(length).toString(), candidate: 0 } } }] as never,
      source: Buffer.alloc(0),
    })),
  },
  {
    name: "what waits for another node",
    make: () => {
      const writer = new FrameWriter();
      let bytes = 0;
      const add = (length: number): number => {
        writer.write("data", read(length));
        return (bytes += length);
      };
      return { add, held: writer };
    },
  },
  {
    name: "what waits for a tunnel",
    make: () => {
      const outbox = new Outbox(() => false);
      let bytes = 0;
      const add = (length: number): number => {
        const frame = frameOf(1, TunnelFrameKind.TUNNEL_FRAME_KIND_DATA, read(length));
        outbox.push(frame);
        // The connection is behind from the first frame on.
        if (bytes === 0) outbox.flush();
        return (bytes += frameBytes(frame));
      };
      return { add, held: outbox };
    },
  },
  ...(["facts", "texts"] as const).map((kind) => ({
    name: `${kind} of records that were read lately`,
    make: () => {
      const cache = new PartCache();
      const add = (length: number, place: number): number => {
        const encoded = chunkOf(Math.ceil(length / BYTES_A_ROW), place)[kind];
        // As a driver gives it: a slice of what it read.
        const bytes = read(encoded.length);
        bytes.set(encoded);
        cache.put(place, kind, decodePart(bytes), bytes.length);
        return cache.bytes;
      };
      return { add, held: cache };
    },
  })),
];

const BYTES_A_ROW = 40;

/** So many records, as they are stored. */
function chunkOf(count: number, place: number): ChunkBytes {
  const builder = new ChunkBuilder(count);
  const row = (at: number): RecordRow =>
    rowWith({
      id: `req_${place}_${at}`,
      endTimeMs: at,
      account: `account ${at % 7}`,
      key: `key ${at % 11}`,
      endUser: `user ${place} ${at}`,
    });
  builder.pushBatch(batchOf(Array.from({ length: count }, (_, at) => row(at))));
  return encodeChunk(builder.build());
}

const ENCODERS: readonly {
  readonly name: string;
  readonly wire: Wire;
  readonly begin?: readonly Kind[];
  step: Step;
}[] = [
  {
    name: "what the end of a stream of responses repeats",
    wire: openAiResponses,
    step: (text) => ({ $case: "text", value: { candidate: 0, text } }),
  },
  {
    name: "arguments of responses that come with their end",
    wire: openAiResponses,
    begin: [start(0)],
    step: (text) => ({ $case: "toolCallDelta", value: { candidate: 0, index: 0, arguments: text } }),
  },
  {
    name: "thoughts of a chat whose proof is to come",
    wire: openAiChat,
    step: (text) => ({ $case: "thinking", value: { candidate: 0, text, signature: undefined } }),
  },
  {
    name: "a call of messages that waits for another",
    wire: anthropic,
    begin: [start(0), start(1)],
    step: (text) => ({ $case: "toolCallDelta", value: { candidate: 0, index: 1, arguments: text } }),
  },
  {
    name: "a call of Gemini's that waits for its end",
    wire: gemini,
    begin: [start(0)],
    step: (text) => ({ $case: "toolCallDelta", value: { candidate: 0, index: 0, arguments: text } }),
  },
];

describe.each(ENCODERS)("$name", ({ wire, begin = [], step }) => {
  test.each([4, 40, 900])("in pieces of %d characters", async (length) => {
    for (const letter of ["a", "\u6f22"]) {
      const before = await usedBytes();
      const encoder = wire.encodeStream(STREAM_FACTS);
      encoder.push(begin.map((kind) => ({ kind })));
      // Texts of their own, as a decoder makes them.
      const text = (): string => Buffer.from(letter.repeat(length)).toString();
      while ((encoder.keptBytes ?? 0) < FILL_BYTES) encoder.push([{ kind: step(text()) }]);
      const took = (await usedBytes()) - before;
      expect(took / (encoder.keptBytes ?? 0), letter).toBeLessThan(RESIDENT_MAX);
    }
  });
});

describe.each(STORES)("$name", ({ make }) => {
  test.each(PIECES)("in pieces of %d bytes", async (length) => {
    const before = await usedBytes();
    const store = make();
    let counted = 0;
    for (let place = 0; counted < FILL_BYTES; place++) {
      counted = store.add(length, place);
    }
    const took = (await usedBytes()) - before;
    expect(took / counted).toBeLessThan(RESIDENT_MAX);
    expect(store.held).toBeDefined();
  });
});
