/**
 * The contract of what bounds how many requests execute at once: API Priority and Fairness (fairness/flow-control.ts), or, if that is
 * switched off, two plain limits (limits/max-in-flight.ts). Types only.
 */
import type { FlowRequest } from "./flow-request.ts";

export interface ConcurrencyGate {
  /** The flow of a request; undefined if the gate does not distinguish flows. */
  classify(request: FlowRequest): RequestFlow | undefined;
  /** Synchronous unless the request has to wait. Throws or rejects with an OverloadError. */
  admit(request: FlowRequest, flow: RequestFlow | undefined, options?: AdmitOptions): Seat | Promise<Seat>;
  /** The flow that a body's memory is charged to. */
  bodyOwner(request: FlowRequest, flow: RequestFlow | undefined): BodyOwner;
  /** Rejects requests that wait. */
  close(): void;
}

/** A flow as its gate found it; the gate gets it back unchanged. */
export interface RequestFlow {
  readonly headers: FlowHeaders;
}

/** Names the FlowSchema and the priority level by UID, as upstream: names would reveal the ranking to clients. */
export interface FlowHeaders {
  readonly "x-kubernetes-pf-flowschema-uid": string;
  readonly "x-kubernetes-pf-prioritylevel-uid": string;
}

/** The right to execute. */
export interface Seat {
  /** Called once, when the request is finished. */
  release(): void;
}

export interface AdmitOptions {
  /** Aborted when the client is gone: the request leaves its queue. */
  readonly signal?: AbortSignal | undefined;
  /** The request's own timeout; it may wait for a quarter of it. */
  readonly timeoutMs?: number | undefined;
}

/** The flow that a body is of, and the level whose part of the budget it counts against. */
export interface BodyOwner {
  readonly level: string;
  /** Part of the budget that is the level's own, from 0 to 1. */
  readonly share: number;
  readonly flow: string;
  /** Never rejected and never displaced: administrators come to mend what fills the budget. */
  readonly isExempt: boolean;
}
