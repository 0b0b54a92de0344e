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

/** Pauses where the steps yield, which begin a new tick themselves. */
export function* paused<T>(steps: Generator<void, T>): Generator<FieldError, T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    yield PAUSE;
  }
}
