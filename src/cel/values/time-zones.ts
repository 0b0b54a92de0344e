/**
 * Time zones by their IANA names. Their data belongs to the runtime, which this room does not know, so the program that assembles the
 * components provides it once. Until then only UTC and offsets are known.
 */
export interface TimeZone {
  /** Offset from UTC at an instant: positive east of Greenwich. */
  offsetMsAt(timeMs: number): number;
}

export type FindTimeZone = (name: string) => TimeZone | undefined;

let find: FindTimeZone = () => undefined;

/** Replaces where time zones are looked up, for all expressions of this process. */
export function provideTimeZones(lookup: FindTimeZone): void {
  find = lookup;
}

export function findTimeZone(name: string): TimeZone | undefined {
  return find(name);
}
