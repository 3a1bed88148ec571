/** A message that only prepares for the next one: it is checked as that one will be, and answered without a model. */
import type { CallOptions, Channel } from "../api/channel.js";
import { type Event, InferenceServiceService, UsageSource } from "../api/index.js";
import { NO_USAGE } from "../api/usage.js";
import { type Format, SseFramer, type SourceBody } from "../formats/format.js";
import { askedIn } from "./streamed-answer.js";

/** The events of an answer that says nothing. Rejects where the request itself is wrong. It is free. */
export async function warmUp(
  channel: Channel,
  format: Format,
  source: SourceBody,
  options: CallOptions,
  requestId: string,
): Promise<Buffer[]> {
  const input = { $case: "source" as const, value: source };
  const generation = { model: "", input, outputTokensMax: undefined, clamp: undefined };
  await channel.unary(InferenceServiceService.estimateCost, { generation, embedding: undefined }, options);
  const asked = askedIn(format, source);
  const messages: Buffer[] = [];
  const framer = new SseFramer(
    (data) => {
      if (data !== undefined) messages.push(data);
    },
    Infinity,
    Infinity,
  );
  const id = `resp_${requestId.slice(requestId.indexOf("_") + 1)}`;
  const start = { id, model: asked.facts.model, createTime: new Date(), inputTokens: undefined };
  const finish = { usage: NO_USAGE, usageSource: UsageSource.USAGE_SOURCE_REPORTED, costNanos: 0n };
  const events: Event[] = [{ kind: { $case: "start", value: start } }, { kind: { $case: "finish", value: finish } }];
  framer.push(format.wire.encodeStream(asked.facts, asked).push(events));
  framer.end();
  return messages;
}
