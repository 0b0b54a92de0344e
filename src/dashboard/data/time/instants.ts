/** The instants that a slider offers, from a timeline, and the one of a position. Pure. */
import type { Timeline } from "../../../explain/explain-api.ts";
import type { Instant } from "./past-connection.ts";

export interface TimelineInstant extends Instant {
  /** Writes since the instant before. */
  readonly writes: number;
}

/** Oldest first. */
export function instantsOf({ items }: Pick<Timeline, "items">): readonly TimelineInstant[] {
  return items.map(({ revision, time, writes }) => ({ revision, timeMs: Date.parse(time), writes }));
}

/** The last instant at or before a revision; the first if all are later. -1: no instant exists. */
export function positionOf(instants: readonly Instant[], revision: string): number {
  const wanted = Number(revision);
  const after = instants.findIndex((instant) => Number(instant.revision) > wanted);
  return after < 0 ? instants.length - 1 : Math.max(0, after - 1);
}

/** "13:00:01.250", in the time zone of the user, who compares it with a clock on the wall. */
export function shownTime(timeMs: number): string {
  const date = new Date(timeMs);
  const pad = (value: number, length = 2) => String(value).padStart(length, "0");
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)}`;
}
