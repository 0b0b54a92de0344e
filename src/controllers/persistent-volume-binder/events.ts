/** Events of the binder, in upstream's words. */
import type { RecordedEvent } from "../../client/events/event-recorder.ts";

export function normal(reason: string, message: string): RecordedEvent {
  return { type: "Normal", reason, message };
}

export function warning(reason: string, message: string): RecordedEvent {
  return { type: "Warning", reason, message };
}
