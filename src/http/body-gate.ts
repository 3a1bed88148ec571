/** What stands before every body: its caller is let in by the headers alone, and its bytes must find room. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ByteBudget } from "../base/bytes/byte-budget.js";
import { settle, whenReady } from "../base/when-ready.js";
import type { Admission } from "../api/channel.js";
import { BodyLease, bodyProblem, hasBody, isLong } from "./body-check.js";
import type { Front } from "./front.js";
import type { RoutePermission } from "./routes.js";

export class BodyGate {
  readonly #front: Front;
  readonly #bytesMax: number;
  readonly #budget: ByteBudget | undefined;

  constructor(app: FastifyInstance, front: Front, bytesMax: number, budget: ByteBudget | undefined) {
    this.#front = front;
    this.#bytesMax = bytesMax;
    this.#budget = budget;
    app.decorateRequest("callMetadata", undefined);
    app.decorateRequest("admission", undefined);
    app.decorateRequest("bodyLease", undefined);
  }

  /** Calls `done` where the body may be read, and with the refusal where not. Nothing waits where the key is known. */
  pass(request: FastifyRequest, reply: FastifyReply, permission: RoutePermission, done: (error?: Error) => void): void {
    // A call without a body is judged by the service when it comes.
    if (!hasBody(request)) {
      done();
      return;
    }
    if (permission === "public") {
      done(bodyProblem(request, request.routeOptions.config.bodyBytesMax ?? this.#bytesMax));
      return;
    }
    const enter = (admission: Admission): void => {
      request.admission = admission;
      this.#enter(request, reply, admission);
    };
    const failed = (error: unknown): void =>
      done(error instanceof Error ? error : new Error("a thrown value is no error", { cause: error }));
    settle(
      () => whenReady(this.#front.admit(request, permission, isLong(request)), enter),
      failed,
      () => done(),
    );
  }

  /** First what is wrong with the body, then whether there is room for it. */
  #enter(request: FastifyRequest, reply: FastifyReply, admission: Admission): void {
    const problem = bodyProblem(request, request.routeOptions.config.bodyBytesMax ?? this.#bytesMax);
    if (problem !== undefined) throw problem;
    if (this.#budget !== undefined) BodyLease.take(request, reply, this.#budget, admission);
  }
}
