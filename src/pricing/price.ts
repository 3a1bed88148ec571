/** Usage times price, in whole units. */
import type { Price, Usage } from "../api/index.js";
import { picosToNanos } from "../money.js";

/** What a usage costs at a price, in nano-USD, rounded up once. */
export function costNanos(usage: Usage, price: Price): bigint {
  return picosToNanos(
    usage.inputTokens * price.inputPicos +
      usage.cacheReadTokens * price.cacheReadPicos +
      usage.cacheWriteTokens * price.cacheWritePicos +
      usage.cacheWrite1hTokens * price.cacheWrite1hPicos +
      usage.outputTokens * price.outputPicos +
      usage.reasoningTokens * price.reasoningPicos +
      usage.imageTokens * price.imagePicos +
      usage.audioInputTokens * price.audioInputPicos +
      usage.audioOutputTokens * price.audioOutputPicos +
      price.requestPicos,
  );
}
