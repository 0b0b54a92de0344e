/**
 * Time zones of the machine's runtime, by their IANA names: offsets with all clock changes. The data is that of Node's ICU, which new
 * releases of Node update.
 */
import { Lru } from "../base/lru.ts";

export interface MachineTimeZone {
  /** Offset from UTC at an instant: positive east of Greenwich. */
  offsetMsAt(timeMs: number): number;
}

const SECOND_MS = 1_000;
/** "GMT", "GMT+02:00", "GMT-00:25:21". */
const OFFSET = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/;
/** More than the runtime has names, about 600; it also accepts them in any case, and offsets, so the input alone does not bound it. */
const KNOWN_MAX = 1_000;
const known = new Lru<string, MachineTimeZone>({ max: KNOWN_MAX });

/** "" is the time zone of this process. Undefined if the name is unknown. */
export function machineTimeZone(name: string): MachineTimeZone | undefined {
  const found = known.get(name) ?? open(name);
  if (found !== undefined) known.set(name, found);
  return found;
}

function open(name: string): MachineTimeZone | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", { ...(name === "" ? {} : { timeZone: name }), timeZoneName: "longOffset" });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return { offsetMsAt: (timeMs) => readOffsetMs(format.format(timeMs)) };
}

function readOffsetMs(text: string): number {
  const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(text) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return (sign === "-" ? -offset : offset) * SECOND_MS;
}
