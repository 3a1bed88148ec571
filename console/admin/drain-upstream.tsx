/** Drains an upstream after it said which models no other upstream serves. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { drainUpstream, listUpstreams, type Upstream } from "../../gen/console/upstream_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { objectWords } from "../copy/en-objects.ts";
import { Confirm } from "../parts/confirm.tsx";

export interface DrainUpstreamParts {
  readonly upstream: Upstream;
  readonly onClose: () => void;
}

export function DrainUpstream({ upstream: { id, models }, onClose }: DrainUpstreamParts): ReactNode {
  const all = useQuery(ask(listUpstreams, {})).data?.upstreams ?? [];
  const others = all.filter((one) => one.id !== id && one.health !== "drained");
  const elsewhere = new Set(others.flatMap((one) => one.models));
  const alone = models.filter((model) => !elsewhere.has(model));
  const act = async (): Promise<void> => {
    await call(drainUpstream, { id });
    void forget(listUpstreams);
  };
  return (
    <Confirm
      title={objectWords.drainTitle(id)}
      go={objectWords.drainGo}
      failed={objectWords.drainFailed}
      act={act}
      onClose={onClose}
    >
      <p>{objectWords.drainWill}</p>
      {alone.length > 0 && <p className="notice warn">{objectWords.drainAlone(alone.join(", "))}</p>}
    </Confirm>
  );
}
