/** EventService: what happened that people should know. */
import type { EventServiceService } from "../../api/index.js";
import type { Alerts } from "../../alerts/alerts.js";
import { eventOf } from "../../alerts/envelope.js";
import { placeAfter } from "../../alerts/events.js";
import { invalid, required, unknown } from "../../api/check.js";
import type { Handlers } from "../call/handler.js";
import { accountFilter, checkOwner } from "../call/account-scope.js";
import { pageOf } from "./page.js";
import { steadily } from "./steady-sink.js";

export function eventService({ events }: Pick<Alerts, "events">): Handlers<typeof EventServiceService> {
  return {
    async getEvent({ id }, { caller }) {
      const event = await events.find(required("id", id));
      if (event === undefined) throw unknown("event", id);
      checkOwner(caller, event.accountId, "event", id);
      return { event: eventOf(event) };
    },
    async listEvents(request, { caller }) {
      const { startTime, endTime } = request;
      const period = { fromMs: startTime?.getTime(), toMs: endTime?.getTime() };
      if (period.fromMs !== undefined && period.toMs !== undefined && period.fromMs > period.toMs)
        throw invalid("end_time", "must not be before start_time");
      const owner = accountFilter(caller, request.accountId);
      const { rows, nextPageToken } = await events.list(owner, request, period, pageOf(request));
      return { events: rows.map(eventOf), nextPageToken };
    },
    async watchEvents(request, { caller, signal }, sink) {
      const owner = accountFilter(caller, request.accountId);
      const { afterId } = request;
      const after = afterId === "" ? undefined : placeAfter(await events.find(afterId), afterId, owner);
      sink.head({});
      const push = steadily(sink, signal);
      await events.watch(owner, request, after, signal, (rows) => push({ events: rows.map(eventOf) }));
    },
  };
}
