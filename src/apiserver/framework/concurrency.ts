/**
 * The contract of what bounds how many requests execute at once: API Priority and Fairness (flow-control.ts), or, if that is switched
 * off, two plain limits (max-in-flight.ts). Types only.
 */
import type { BodyOwner } from "../limits/body-memory.ts";
import type { Flow } from "../fairness/classifier.ts";
import type { AdmitOptions, Seat } from "../fairness/fairness.ts";
import type { FlowRequest } from "../fairness/flow-request.ts";

export interface ConcurrencyGate {
  /** The flow of a request; undefined where flows are not told apart. */
  classify(request: FlowRequest): Flow | undefined;
  /** Synchronous unless the request has to wait. Throws or rejects with an OverloadError. */
  admit(request: FlowRequest, flow: Flow | undefined, options?: AdmitOptions): Seat | Promise<Seat>;
  /** Whose memory a body counts as. */
  bodyOwner(request: FlowRequest, flow: Flow | undefined): BodyOwner;
  /** Requests that wait are rejected. */
  close(): void;
}
