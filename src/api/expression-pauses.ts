/** Pauses of a validation that compiles or evaluates expressions: none of them holds the event loop, however many an object has. */
import { beginTick, isTickSpent } from "../cel/values/meter.ts";
import type { FieldError } from "./machinery/field-error.ts";
import { PAUSE } from "./machinery/validation-errors.ts";

/** Called before each expression. */
export function* pauseIfTickSpent(): Generator<FieldError, void> {
  if (!isTickSpent()) return;
  yield PAUSE;
  beginTick();
}
