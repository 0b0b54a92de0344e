/**
 * Estimates how many seats a request occupies and for how long: lists and watches with initial events by the number of objects, writes by
 * the number of affected watches, everything else one seat (upstream: flowcontrol/request). Pure. Objects are counted without their sizes,
 * which are unknown until they are encoded; as upstream before 1.34.
 */
import type { Endpoint } from "../framework/endpoints.ts";
import { flowNameOf, type FlowRequest } from "../framework/flow-request.ts";

export interface WorkEstimate {
  /** Seats while the request executes. */
  readonly initialSeats: number;
  /** Seats that stay occupied for `additionalLatencyMs` after the response, while watches are notified. */
  readonly finalSeats: number;
  readonly additionalLatencyMs: number;
  /** Watches affected by the write; only for writes. */
  readonly watchCount?: number;
}

export interface EstimateInputs {
  /** Number of objects of the request's resource; undefined if they are not cached. */
  objectCount(endpoint: Endpoint | undefined): number | undefined;
  /** Number of running watches that a write affects. */
  watchCount(request: FlowRequest): number;
}

/** Shared instance: most requests occupy one seat. */
export const ONE_SEAT: WorkEstimate = { initialSeats: 1, finalSeats: 0, additionalLatencyMs: 0 };

const SEATS_MIN = 1;
/** Upstream's maximum for one request, whatever its level allows. */
const SEATS_MAX = 10;
const OBJECTS_PER_SEAT = 100;
const WATCHES_PER_SEAT = 10;
/** Upstream's estimate of the time to notify the watches of one seat. */
const EVENT_DURATION_MS = 5;

export function maxSeatsOf({ initialSeats, finalSeats }: WorkEstimate): number {
  return Math.max(initialSeats, finalSeats);
}

export interface EstimateOptions {
  /** The endpoint that the request was resolved to. */
  readonly endpoint?: Endpoint | undefined;
  /** Of the request's priority level; undefined for no limit of its own. */
  readonly seatsMax?: number | undefined;
}

export function estimateWork(request: FlowRequest, inputs: EstimateInputs, options: EstimateOptions = {}): WorkEstimate {
  if (request.path !== undefined) return ONE_SEAT;
  const { endpoint, seatsMax = SEATS_MAX } = options;
  const most = Math.min(seatsMax, SEATS_MAX);
  switch (request.verb) {
    case "list":
    case "watch":
      return estimateList(request, () => inputs.objectCount(endpoint), most);
    case "create":
    case "update":
    case "patch":
    case "delete":
      return estimateWrite(request, inputs, most);
    default:
      return ONE_SEAT;
  }
}

function estimateList(request: FlowRequest, objectCount: () => number | undefined, seatsMax: number): WorkEstimate {
  if (request.verb === "watch" && !hasInitialEvents(request)) return ONE_SEAT;
  const stored = objectCount();
  if (stored === undefined) return ONE_SEAT;
  const seats = Math.ceil(processedObjects(request, stored) / OBJECTS_PER_SEAT);
  return withSeats(Math.min(Math.max(seats, SEATS_MIN), seatsMax));
}

function hasInitialEvents({ options: { sendInitialEvents, resourceVersion = "" } }: FlowRequest): boolean {
  return sendInitialEvents === true || resourceVersion === "" || resourceVersion === "0";
}

function processedObjects(request: FlowRequest, stored: number): number {
  if (flowNameOf(request) !== "") return 1;
  const { limit = 0, labelSelector = "", fieldSelector = "" } = request.options;
  if (request.verb === "watch" || isFromCache(request)) return stored;
  const limited = limit > 0 && limit < stored ? limit : stored;
  return labelSelector !== "" || fieldSelector !== "" ? stored + limited : 2 * limited;
}

/** Pages and exact versions are read from history; all others from the cache. */
function isFromCache({ options }: FlowRequest): boolean {
  const { limit = 0, resourceVersion = "", resourceVersionMatch = "", continue: token = "" } = options;
  if (resourceVersionMatch === "Exact") return false;
  if (resourceVersionMatch === "NotOlderThan") return true;
  return token === "" && !(limit > 0 && resourceVersion !== "" && resourceVersion !== "0");
}

const ESTIMATES: readonly WorkEstimate[] = Array.from({ length: SEATS_MAX + 1 }, (_, initialSeats) => ({ ...ONE_SEAT, initialSeats }));

function withSeats(seats: number): WorkEstimate {
  return ESTIMATES[seats] ?? ONE_SEAT;
}

function estimateWrite(request: FlowRequest, { watchCount }: EstimateInputs, seatsMax: number): WorkEstimate {
  // A token request changes no object, so no watch is notified.
  if (request.plural === "serviceaccounts" && request.subresource === "token") return ONE_SEAT;
  const watches = watchCount(request);
  if (watches < WATCHES_PER_SEAT) return FEW_WATCHES[watches] ?? ONE_SEAT;
  const wanted = Math.ceil(watches / WATCHES_PER_SEAT);
  const finalSeats = Math.min(wanted, seatsMax);
  // The same work on fewer seats takes longer.
  return { initialSeats: SEATS_MIN, finalSeats, additionalLatencyMs: (wanted * EVENT_DURATION_MS) / finalSeats, watchCount: watches };
}

/** Shared instances, by the number of watches. */
const FEW_WATCHES: readonly WorkEstimate[] = Array.from({ length: WATCHES_PER_SEAT }, (_, watchCount) => ({ ...ONE_SEAT, watchCount }));
