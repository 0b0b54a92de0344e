/**
 * The contract of limits on concurrent requests: API Priority and Fairness (fairness/flow-control.ts), or, if that is disabled, two plain
 * limits (limits/max-in-flight.ts). Types only.
 */
import type { CancelSignal } from "../../base/abort.ts";
import type { Endpoint } from "./endpoints.ts";
import type { FlowRequest } from "./flow-request.ts";

export interface ConcurrencyGate {
  /** The flow of a request; undefined if the gate does not distinguish flows. */
  classify(request: FlowRequest): RequestFlow | undefined;
  /** Synchronous unless the request has to wait. Throws or rejects with an OverloadError. */
  admit(request: FlowRequest, flow: RequestFlow | undefined, options?: AdmitOptions): Seat | Promise<Seat>;
  /** The flow that a body's memory is charged to. */
  bodyOwner(request: FlowRequest, flow: RequestFlow | undefined): BodyOwner;
  /** Rejects waiting requests. */
  close(): void;
}

/** A flow as classified by its gate, which gets it back unchanged. */
export interface RequestFlow {
  readonly headers: FlowHeaders;
}

/** Names the FlowSchema and the priority level by UID, as upstream: names would reveal the ranking to clients. */
export interface FlowHeaders {
  readonly "x-kubernetes-pf-flowschema-uid": string;
  readonly "x-kubernetes-pf-prioritylevel-uid": string;
}

/** A seat: permission to execute. */
export interface Seat {
  /** Called once, when the request is finished. */
  release(): void;
}

export interface AdmitOptions {
  /** Aborted when the client disconnects: the request leaves its queue. */
  readonly signal?: CancelSignal | undefined;
  /** The request's own timeout; it may wait for a quarter of it. */
  readonly timeoutMs?: number | undefined;
  /** The endpoint that the request was resolved to; absent for a document or an unknown resource. */
  readonly endpoint?: Endpoint | undefined;
}

/** The flow of a body, and the priority level whose share of the budget it counts against. */
export interface BodyOwner {
  readonly level: string;
  /** The level's own share of the budget, from 0 to 1. */
  readonly share: number;
  readonly flow: string;
  /** Never rejected and never displaced, so that administrators can fix what fills the budget. */
  readonly isExempt: boolean;
}
